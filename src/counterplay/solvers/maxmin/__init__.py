"""Maxmin strategies of players who forget, with guarantees (Čermák 2018, chapter 4)."""

from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.solvers.maxmin.maxmin_solver import MaxminConfig, MaxminSolver

__all__ = ["MaxminConfig", "MaxminProblem", "MaxminSolver"]
