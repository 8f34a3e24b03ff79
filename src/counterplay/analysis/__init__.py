"""Theory beside measurement: domination, refinements, equilibrium selection, regret diagnostics and bounds."""

from counterplay.analysis.diagnostics import RegretDiagnostics
from counterplay.analysis.existence import LiftedEquilibrium, equilibrium_from_refinement
from counterplay.analysis.regret_tracker import RegretTracker

__all__ = ["LiftedEquilibrium", "RegretDiagnostics", "RegretTracker", "equilibrium_from_refinement"]
