"""Algorithms whose abstraction refines itself (Čermák 2018, chapter 5)."""

from counterplay.solvers.ira.cfr_ira import CfrIra, CfrIraConfig

__all__ = ["CfrIra", "CfrIraConfig"]
