"""Kernels over cards: ranking hands, suit isomorphism, features, clustering."""
