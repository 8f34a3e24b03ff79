"""Theory: domination, equilibrium selection, refinements, regret diagnostics, bounds and estimators.

docs/analysis.md has an example of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.analysis.action_domination import constructed_dominator, dominated_actions, dominated_gambit
    from counterplay.analysis.diagnostics import DominationProbe, RegretDiagnostics
    from counterplay.analysis.domination import dominated_strategies, dominating_strategy, scaled_program
    from counterplay.analysis.equilibrium_quality import (
        coarse_correlated_gap,
        correlated_gap,
        purity,
        support_sizes,
        undominated_equilibrium,
    )  # fmt: skip
    from counterplay.analysis.equilibrium_set import Equilibria
    from counterplay.analysis.estimators import (
        SampledEstimator,
        counterfactual_values,
        sample_estimator,
        variance_along_cfr,
    )  # fmt: skip
    from counterplay.analysis.existence import LiftedEquilibrium, equilibrium_exists, equilibrium_from_refinement
    from counterplay.analysis.minimax import iterated_regret, minimax_regret, minimax_regret_gap, worst_regret
    from counterplay.analysis.moments import exact_moments
    from counterplay.analysis.refinement_bounds import (
        allowed_regret,
        refinement_bound,
        sampling_times,
        support_probability,
    )  # fmt: skip
    from counterplay.analysis.regret_bounds import (
        average_regret_to_nash,
        cfr_bound,
        cfr_bound_by_count,
        chance_sampling_bound,
        essentially_solved_threshold,
        full_regret_bound,
        general_sampling_bound,
        immediate_regret_bound,
        near_zero_sum_nash,
        player_quantities,
        positive_regret_sum,
        pure_cfr_bound,
        regret_matching_bound,
        sampling_bound,
        sampling_bound_2012,
        scaled_estimator_bound,
        skew_well_formed_bound,
        tilted_nash,
        unbiased_estimator_bound,
        value_interval,
        well_formed_bound,
    )  # fmt: skip
    from counterplay.analysis.regret_tracker import RegretTracker
    from counterplay.analysis.trembles import tremble, unexploitable_errors

__all__ = [
    "DominationProbe", "Equilibria", "LiftedEquilibrium", "RegretDiagnostics", "RegretTracker", "SampledEstimator",
    "allowed_regret", "average_regret_to_nash", "cfr_bound", "cfr_bound_by_count", "chance_sampling_bound",
    "coarse_correlated_gap",
    "constructed_dominator", "correlated_gap", "counterfactual_values", "dominated_actions", "dominated_gambit",
    "dominated_strategies", "dominating_strategy", "equilibrium_exists", "equilibrium_from_refinement",
    "essentially_solved_threshold", "exact_moments", "full_regret_bound", "general_sampling_bound",
    "immediate_regret_bound", "iterated_regret", "minimax_regret", "minimax_regret_gap",
    "near_zero_sum_nash", "player_quantities", "positive_regret_sum", "pure_cfr_bound", "purity", "refinement_bound",
    "regret_matching_bound", "sample_estimator", "sampling_bound", "sampling_bound_2012", "sampling_times",
    "scaled_estimator_bound", "scaled_program", "skew_well_formed_bound", "support_probability", "support_sizes",
    "tilted_nash", "tremble", "unbiased_estimator_bound", "undominated_equilibrium", "unexploitable_errors",
    "value_interval", "variance_along_cfr", "well_formed_bound", "worst_regret",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "diagnostics": ("DominationProbe", "RegretDiagnostics"),
    "action_domination": ("constructed_dominator", "dominated_actions", "dominated_gambit"),
    "domination": ("dominated_strategies", "dominating_strategy", "scaled_program"),
    "equilibrium_quality": (
        "coarse_correlated_gap", "correlated_gap", "purity", "support_sizes", "undominated_equilibrium",
    ),
    "equilibrium_set": ("Equilibria",),
    "estimators": ("SampledEstimator", "counterfactual_values", "sample_estimator", "variance_along_cfr"),
    "existence": ("LiftedEquilibrium", "equilibrium_exists", "equilibrium_from_refinement"),
    "minimax": ("iterated_regret", "minimax_regret", "minimax_regret_gap", "worst_regret"),
    "moments": ("exact_moments",),
    "refinement_bounds": ("allowed_regret", "refinement_bound", "sampling_times", "support_probability"),
    "regret_bounds": (
        "average_regret_to_nash", "cfr_bound", "cfr_bound_by_count", "chance_sampling_bound",
        "essentially_solved_threshold",
        "full_regret_bound", "general_sampling_bound", "immediate_regret_bound", "near_zero_sum_nash",
        "player_quantities", "positive_regret_sum", "pure_cfr_bound", "regret_matching_bound", "sampling_bound",
        "sampling_bound_2012", "scaled_estimator_bound", "skew_well_formed_bound", "tilted_nash",
        "unbiased_estimator_bound", "value_interval", "well_formed_bound",
    ),
    "regret_tracker": ("RegretTracker",),
    "trembles": ("tremble", "unexploitable_errors"),
})  # fmt: skip
