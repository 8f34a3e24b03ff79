"""From the rules of a poker game to an agent: presets, the pipeline and its report.

The package itself can be called: ``counterplay.build(...)`` is ``counterplay.build.build(...)``.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from counterplay.build.build_report import markdown_build
from counterplay.build.expert_pipeline import ExpertPipeline
from counterplay.build.pipeline import Pipeline
from counterplay.build.planning import make_plan
from counterplay.build.polaris_pipeline import PolarisPipeline
from counterplay.build.presets import Plan
from counterplay.build.response_pipeline import ResponsePipeline
from counterplay.build.unexploitable import UnexploitablePipeline
from counterplay.runtime.array_cache import default_cache
from counterplay.runtime.lazy import callable_package
from counterplay.runtime.memory import read_memory
from counterplay.runtime.notebook_progress import notebook_progress
from counterplay.runtime.progress import ProgressCallback
from counterplay.storage import write_text

__all__ = ["build"]


def build(
    game: str,
    preset: str = "laptop",
    out: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    memory_limit: int | str | None = None,
    progress: ProgressCallback | bool | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """Build an agent: card abstraction, solution of the bucket game, evaluation.

    Stages that are finished are not repeated: after Ctrl-C the same call resumes in the same folder.

    Parameters
    ----------
    game : str
        A poker game with a definition, by name or file.
    preset : str
        tiny (seconds), laptop (ten minutes on two cores) or evening (two hours); polaris or portfolio (half an hour)
        build several strategies, among which an adaptive agent chooses.
    out : path, optional
        The folder; by default GAME-PRESET, with the recipe or the objective if one is given.
    cache : path, optional
        Folder for features of cards; by default $COUNTERPLAY_CACHE or the user's cache.
    memory_limit, progress
        As in ``Pipeline``.
    **changes
        In place of the preset's: ``rounds``, ``bets``, ``seed``, ``objective`` (equilibrium or unexploitable),
        ``experts`` (betting sequences such as ``f,rf``, or none), ``recipe`` (of a published agent, such as 2010), and
        those of ``make_plan``.

    Returns
    -------
    dict
        The report, which is also in the folder, as ``report.json`` and ``report.md``.
    """
    plan = make_plan(game, preset, **changes)
    name = re.sub(r"[^A-Za-z0-9_]+", "_", Path(game).stem).strip("_")
    ending = f"-{plan.agent}" if plan.agent else "" if plan.objective == "equilibrium" else f"-{plan.objective}"
    folder = Path(f"{name}-{plan.preset}{ending}") if out is None else Path(out)
    limit = read_memory(memory_limit)
    with notebook_progress(progress) as shown:
        report = pipeline_of(plan)(plan, folder, default_cache() if cache is None else cache, limit, shown).run()
    write_text(folder / "report.json", json.dumps(report, indent=1) + "\n")
    write_text(folder / "report.md", markdown_build(report))
    return {**report, "folder": str(folder)}


def pipeline_of(plan: Plan) -> type[Pipeline]:
    """The pipeline that carries out a plan."""
    if plan.members:
        return PolarisPipeline
    if plan.clusters:
        return ResponsePipeline
    if plan.objective == "unexploitable":
        return UnexploitablePipeline
    return ExpertPipeline if plan.zones or plan.experts or plan.agent else Pipeline


callable_package(__name__, build)
