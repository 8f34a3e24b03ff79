"""No content of a file crashes: every array of every kind of file is forged in turn, and the file is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterplay.abstraction.infosets.builders import initial_abstraction
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.forms import open_game
from counterplay.solvers import ALGORITHMS, make_solver
from torture import file_samples
from torture.file_samples import GAMES, checkpoints, lossless_cards, opened_game
from torture.forged_files import UNCHANGED, cases, survey

QUICK = (
    "cfr+",
    "fictitious-play",
    "lp",
    "double-oracle",
    "maxmin",
    "cfr+ira",
    "fpira",
    "probing",
    "pure-cfr",
    "pcs",
    "pcs-boards",
)
"""One algorithm for each solver, and those with tables or walks of their own."""


def check(plan: list[dict[str, Any]]) -> dict[str, str]:
    """Every case works or is refused in one line."""
    results = survey(plan)
    assert len(results) == sum(1 for work in plan for _ in cases(Path(work["path"]), work.get("headers", False)))
    assert {found for case, found in results.items() if case.endswith(UNCHANGED)} == {"ok"}
    wrong = {case: found for case, found in results.items() if found != "ok" and not found.startswith("refused: ")}
    assert wrong == {}
    return results


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lossless_cards(tmp_path_factory.mktemp("cards"))


@pytest.mark.parametrize("form", GAMES)
def test_checkpoints(form: str, tmp_path: Path, cards: Path) -> None:
    check(checkpoints(form, [one for one in QUICK if form in ALGORITHMS[one].forms], tmp_path, cards))


@pytest.mark.slow
@pytest.mark.parametrize("form", GAMES)
def test_checkpoints_of_the_other_algorithms(form: str, tmp_path: Path, cards: Path) -> None:
    others = [one for one, known in ALGORITHMS.items() if one not in QUICK and form in known.forms]
    check(checkpoints(form, others, tmp_path, cards))


@pytest.mark.slow
def test_checkpoints_against_opponents_with_other_cards(tmp_path: Path, cards: Path) -> None:
    check(file_samples.opponents(tmp_path, cards))


def test_strategies(tmp_path: Path, cards: Path) -> None:
    check(file_samples.strategies(tmp_path, cards))


def test_abstractions(tmp_path: Path) -> None:
    check(file_samples.abstractions(tmp_path))


def test_pairs_and_jobs(tmp_path: Path, cards: Path) -> None:
    check(file_samples.pairs_and_jobs(tmp_path, cards))


def test_features(tmp_path: Path) -> None:
    """A cache that lies is used as it is if it can be, or computed again, and never refused."""
    assert set(check(file_samples.features(tmp_path)).values()) == {"ok"}


def test_headers(tmp_path: Path, cards: Path) -> None:
    """A header may say anything."""
    plan = []
    for form, algorithms in {"history": ["cfr+", "maxmin"], "states": ["probing"]}.items():
        plan += checkpoints(form, algorithms, tmp_path, cards)
    for name, game, form in (("tabular", "kuhn", "history"), ("public", "kuhn", "public"), ("seen", "kuhn", "states"),
                             ("buckets", "leduc_limit_2p", "buckets")):  # fmt: skip
        solver = make_solver(opened_game(game, form, cards), form=form)
        solver.step(1)
        solver.profile().save(tmp_path / name)
        plan.append({"path": str(tmp_path / name), "name": name})
    game = opened_game("leduc_limit_2p", "buckets", cards)
    count_bucket_pairs(game).save(tmp_path / "pairs", game)
    initial_abstraction(open_game("leduc", "history")).save(tmp_path / "infosets")
    more = {"game": "leduc_limit_2p", "cards": [str(cards)]}
    plan += [
        {"path": str(tmp_path / "pairs"), "name": "pairs", **more},
        {"path": str(tmp_path / "infosets"), "name": "infosets", "game": "leduc"},
        {"path": str(cards), "name": "cards", **more},
    ]
    check([{**work, "headers": True} for work in plan])
