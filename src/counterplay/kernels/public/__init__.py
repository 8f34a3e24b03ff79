"""Kernels over public trees: vectors over private hands."""
