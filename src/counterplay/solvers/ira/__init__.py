"""Algorithms whose abstraction refines itself (Čermák 2018, chapter 5)."""

from counterplay.solvers.ira.cfr_ira import CfrIra, CfrIraConfig
from counterplay.solvers.ira.fpira import Fpira, FpiraConfig

__all__ = ["CfrIra", "CfrIraConfig", "Fpira", "FpiraConfig"]
