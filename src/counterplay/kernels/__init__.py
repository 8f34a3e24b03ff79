"""Compiled loops: arrays in, arrays out.  The only package that imports numba; import its modules when needed."""
