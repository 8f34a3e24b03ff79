"""No content of a file crashes: every array of every kind of file is forged in turn, and the file is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import BucketTable, CardAbstraction, build_cards, parse_recipe
from counterplay.abstraction.infosets.builders import initial_abstraction
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.forms import open_game
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.postflop.subgame import Subgame
from counterplay.runtime.jobs import JobList
from counterplay.solvers import ALGORITHMS, make_solver
from counterplay.strategy import PublicStrategy
from tests.forged_files import UNCHANGED, cases, survey

GAMES = {"history": "kuhn", "public": "kuhn_limit_2p", "states": "kuhn", "buckets": "leduc_limit_2p"}
SPOT = Subgame("KsTd7h4c2s", pot=60, stack=150, oop="AA,KQs,98s", ip="KK,QJs,77", bets="75%", raises="a")
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
    path = tmp_path_factory.mktemp("cards") / "lossless.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(path)
    return path


def checkpoints(form: str, algorithms: list[str], folder: Path, cards: Path) -> list[dict[str, Any]]:
    """A checkpoint of each algorithm that runs on a form."""
    plan = []
    for algorithm in algorithms:
        opened = opened_game(GAMES[form], form, cards)
        solver = make_solver(opened, algorithm, form=form)
        solver.step(4)
        solver.save(folder / algorithm)
        found = {"path": str(folder / algorithm), "name": f"{algorithm} on {form}", "game": GAMES[form], "form": form}
        plan.append(found | ({"cards": [str(cards)]} if form == "buckets" else {}))
    return plan


def opened_game(game: str, form: str, cards: Path) -> Any:
    return cp.make(game) if form == "states" else open_game(game, form, cards=[cards] if form == "buckets" else None)


@pytest.mark.parametrize("form", GAMES)
def test_checkpoints(form: str, tmp_path: Path, cards: Path) -> None:
    check(checkpoints(form, [one for one in QUICK if form in ALGORITHMS[one].forms], tmp_path, cards))


@pytest.mark.slow
@pytest.mark.parametrize("form", GAMES)
def test_checkpoints_of_the_other_algorithms(form: str, tmp_path: Path, cards: Path) -> None:
    others = [one for one, known in ALGORITHMS.items() if one not in QUICK and form in known.forms]
    check(checkpoints(form, others, tmp_path, cards))


def test_strategies(tmp_path: Path, cards: Path) -> None:
    plan = []
    for name, game, form in (
        ("tabular", "kuhn", "history"), ("public", "kuhn", "public"), ("buckets", "leduc_limit_2p", "buckets"),
        ("seen", "kuhn", "states"), ("spot", SPOT.name, "public"),
    ):  # fmt: skip
        opened = opened_game(game, form, cards)
        solver = make_solver(opened, form=form)
        solver.step(4)
        solver.profile().save(tmp_path / name)
        plan.append({"path": str(tmp_path / name), "name": name})
    PublicStrategy.of_tree(opened, solver.strategy(), None, np.arange(len(opened.kind)) < 2).save(tmp_path / "locked")
    plan.append({"path": str(tmp_path / "locked"), "name": "locked"})
    check(plan)


def test_abstractions(tmp_path: Path) -> None:
    initial_abstraction(open_game("leduc", "history")).save(tmp_path / "infosets")
    CardAbstraction.single((3, 2), (1, 1)).save(tmp_path / "single")
    first = BucketTable((1,), 2, np.array([0, 1, 1], np.uint8))
    classes = HandIndexer((1, 1), 3, 2).size()
    cuts = np.stack([np.arange(classes) % 2, 2 + np.arange(classes) % 2]).astype(np.int32)
    table = (np.arange(classes) % 2).astype(np.uint8)
    for name, second in {
        "cut": BucketTable((1, 1), 4, None, cuts), "forgetful": BucketTable((1, 1), 2, table),
        "classes": BucketTable((1, 1), 4, table, np.array([[0, 1], [2, 3]], np.int32)),
    }.items():  # fmt: skip
        recall = "imperfect" if name == "forgetful" else "perfect"
        CardAbstraction((3, 2), (1, 1), (first, second), recall).save(tmp_path / name)
    plan = [{"path": str(tmp_path / "infosets"), "name": "infosets", "game": "leduc"}]
    for name in ("single", "cut", "forgetful", "classes"):
        plan.append({"path": str(tmp_path / name), "name": name, "game": "leduc_limit_2p"})
    check(plan)


def test_pairs_and_jobs(tmp_path: Path, cards: Path) -> None:
    game = open_game("leduc_limit_2p", "buckets", cards=[cards])
    count_bucket_pairs(game).save(tmp_path / "pairs", game)
    header = {"what": "test"}
    jobs = JobList(header, 3, (2,), path=tmp_path / "jobs")
    jobs.found[0], jobs.done[0] = 1.0, True
    jobs.save()
    check(
        [
            {"path": str(tmp_path / "pairs"), "name": "pairs", "game": "leduc_limit_2p", "cards": [str(cards)]},
            {"path": str(tmp_path / "jobs"), "name": "jobs", "header": header},
        ]
    )


def test_features(tmp_path: Path) -> None:
    """A cache that lies is used as it is if it can be, or computed again, and never refused."""
    build_cards((3, 2), (1, 1), parse_recipe("KE2,KO3", (3, 2), (1, 1)), cache=tmp_path)
    found = check([{"path": str(path), "name": path.name, "recipe": "KE2,KO3"} for path in sorted(tmp_path.iterdir())])
    assert set(found.values()) == {"ok"}


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
