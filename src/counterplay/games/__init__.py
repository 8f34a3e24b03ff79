"""The games that come with counterplay, one file each; the registry imports every module of this package."""
