"""Maxmin strategies of players who forget, with guarantees (Čermák 2018, chapter 4)."""

from counterplay.solvers.maxmin.problem import MaxminProblem
from counterplay.solvers.maxmin.solver import MaxminConfig, MaxminSolver

__all__ = ["MaxminConfig", "MaxminProblem", "MaxminSolver"]
