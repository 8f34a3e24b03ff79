"""Kernels over betting trees with buckets of hands."""
