"""Kills, fuzzed inputs, hostile clients and races: ``python -m torture``."""
