"""The built-in games, one file each; the registry imports every module of this package."""
