"""Files of every kind, to be forged: checkpoints of every algorithm on every form, strategies, abstractions, counts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from counterplay.abstraction.cards import BucketTable, CardAbstraction, build_cards, parse_recipe
from counterplay.abstraction.infosets.builders import initial_abstraction
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.forms import open_game
from counterplay.modelling import observe_play
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.postflop.board_lists import read_boards
from counterplay.poker.postflop.spots import Spot
from counterplay.poker.postflop.subgame import Subgame
from counterplay.runs import FlopPlan, solve_flops
from counterplay.runtime.jobs import JobList
from counterplay.solvers import ALGORITHMS, make_solver
from counterplay.solvers.streamed.block_store import REGRET, BlockFile
from counterplay.storage import read_container
from counterplay.strategy import PublicStrategy, Strategy, stitch
from counterplay.strategy.trivial import TRIVIAL

GAMES = {"history": "kuhn", "public": "kuhn_limit_2p", "states": "kuhn", "buckets": "leduc_limit_2p"}
SPOT = Subgame("KsTd7h4c2s", pot=60, stack=150, oop="AA,KQs,98s", ip="KK,QJs,77", bets="75%", raises="a")
RECIPE = "KE2,KO3"

Sample = dict[str, Any]
"""A file (``path``), what it is (``name``), and what is needed to use it, see ``forged_files.use``; ``siblings``
says that the other files of its folder are."""


def lossless_cards(folder: Path) -> Path:
    """A card abstraction."""
    path = folder / "lossless.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(path)
    return path


def opened_game(game: str, form: str, cards: Path) -> Any:
    """A game in a form."""
    return cp.make(game) if form == "states" else open_game(game, form, cards=[cards] if form == "buckets" else None)


def checkpoints(form: str, algorithms: Iterable[str], folder: Path, cards: Path) -> list[Sample]:
    """A checkpoint of each algorithm that runs on a form."""
    found = []
    for algorithm in algorithms:
        solver = make_solver(opened_game(GAMES[form], form, cards), algorithm, form=form)
        solver.step(4)
        solver.save(folder / f"{algorithm}-{form}")
        one = {"path": str(folder / f"{algorithm}-{form}"), "name": f"{algorithm} on {form}", "form": form}
        found.append(one | {"game": GAMES[form]} | ({"cards": [str(cards)]} if form == "buckets" else {}))
    return found


def opponents(folder: Path, cards: Path) -> list[Sample]:
    """Checkpoints of runs against an opponent with other cards, and without."""
    found = []
    for algorithm, other in (("pure-cfr", cards), ("cfr+", "none")):
        path = folder / f"{algorithm} against {Path(other).stem}"
        cp.solve(GAMES["buckets"], algorithm, cards=[cards], opponent_cards=other, iterations=4, checkpoint=path)
        found.append({"path": str(path), "name": path.name, "form": "buckets", "cards": [str(cards)]})
    return found


def strategies(folder: Path, cards: Path) -> list[Sample]:
    """A strategy of each kind, and one with a lock."""
    found = []
    for name, game, form in (
        ("tabular", "kuhn", "history"), ("public", "kuhn", "public"), ("buckets", "leduc_limit_2p", "buckets"),
        ("seen", "kuhn", "states"), ("spot", SPOT.name, "public"),
    ):  # fmt: skip
        opened = opened_game(game, form, cards)
        solver = make_solver(opened, form=form)
        solver.step(4)
        solver.profile().save(folder / name)
        found.append({"path": str(folder / name), "name": name})
    found.append({"path": str(folder / "stitched"), "name": "stitched"})
    _stitched(folder, cards).save(folder / "stitched")
    PublicStrategy.of_tree(opened, solver.strategy(), None, np.arange(len(opened.kind)) < 2).save(folder / "locked")
    return [*found, {"path": str(folder / "locked"), "name": "locked"}]


def _stitched(folder: Path, cards: Path) -> Strategy:
    """A strategy by buckets that depend on the betting."""
    CardAbstraction.single((3, 2), (1, 1)).save(folder / "expert.cpa")
    base = TRIVIAL["uniform"].buckets(opened_game("leduc_limit_2p", "buckets", cards))
    expert = TRIVIAL["always-call"].buckets(opened_game("leduc_limit_2p", "buckets", folder / "expert.cpa"))
    return stitch(base, {"r@1": expert, "cc/r": expert})


def abstractions(folder: Path) -> list[Sample]:
    """Of information sets, and of cards in every storage."""
    initial_abstraction(open_game("leduc", "history")).save(folder / "infosets")
    CardAbstraction.single((3, 2), (1, 1)).save(folder / "single")
    first = BucketTable((1,), 2, np.array([0, 1, 1], np.uint8))
    classes = HandIndexer((1, 1), 3, 2).size()
    cuts = np.stack([np.arange(classes) % 2, 2 + np.arange(classes) % 2]).astype(np.int32)
    table = (np.arange(classes) % 2).astype(np.uint8)
    for name, second in {
        "cut": BucketTable((1, 1), 4, None, cuts), "forgetful": BucketTable((1, 1), 2, table),
        "classes": BucketTable((1, 1), 4, table, np.array([[0, 1], [2, 3]], np.int32)),
    }.items():  # fmt: skip
        recall = "imperfect" if name == "forgetful" else "perfect"
        CardAbstraction((3, 2), (1, 1), (first, second), recall).save(folder / name)
    found: list[Sample] = [{"path": str(folder / "infosets"), "name": "infosets", "game": "leduc"}]
    for name in ("single", "cut", "forgetful", "classes"):
        found.append({"path": str(folder / name), "name": name, "game": "leduc_limit_2p"})
    return found


def pairs_and_jobs(folder: Path, cards: Path) -> list[Sample]:
    """Counts of pairs of buckets, and an interrupted evaluation."""
    game = open_game("leduc_limit_2p", "buckets", cards=[cards])
    count_bucket_pairs(game).save(folder / "pairs", game)
    header = {"what": "test"}
    jobs = JobList(header, 3, (2,), path=folder / "jobs")
    jobs.found[0], jobs.done[0] = 1.0, True
    jobs.save()
    return [
        {"path": str(folder / "pairs"), "name": "pairs", "game": "leduc_limit_2p", "cards": [str(cards)]},
        {"path": str(folder / "jobs"), "name": "jobs", "header": header},
    ]


def observations(folder: Path, cards: Path) -> list[Sample]:
    """Counts of what opponents did, on histories and in buckets."""
    found = []
    for form in ("history", "buckets"):
        path = folder / f"counts on {form}"
        observe_play(opened_game(GAMES[form], form, cards), "uniform", 30).save(path)
        found.append({"path": str(path), "name": path.name})
    return found


def features(folder: Path) -> list[Sample]:
    """The cache of card features."""
    build_cards((3, 2), (1, 1), parse_recipe(RECIPE, (3, 2), (1, 1)), cache=folder)
    files = sorted(folder.iterdir())
    return [{"path": str(path), "name": path.name, "recipe": RECIPE, "siblings": True} for path in files]


def tables_on_disk(folder: Path) -> list[Sample]:
    """The checkpoint of a run with tables on disk, and a block of them."""
    run = folder / "disk"
    cp.solve("leduc_limit_2p", tables=f"disk:{run}", storage="int16", iterations=4)
    block = BlockFile(0, 0, REGRET, 4)
    header, _ = read_container(run / "blocks" / block.name, "block")
    one = {"path": str(run / "blocks" / block.name), "name": "a block of tables", "file": list(block)}
    return [
        {"path": str(run / "run.checkpoint"), "name": "tables on disk", "form": "public", "game": "leduc_limit_2p",
         "siblings": True},
        {**one, "tables": {name: [size, header["types"][name]] for name, size in header["sizes"].items()}},
    ]  # fmt: skip


def flop_report(folder: Path) -> list[Sample]:
    """The files of a finished report over boards."""
    spot = Spot(pot=60, stack=100, oop="AA,KQs", ip="KK,QJs", bets="75%", raises="none")
    solve_flops(folder, FlopPlan(spot, "5%"), read_boards("KsTd7h4c2s"))
    names = ("flops.run", "KsTd7h4c2s.solved")
    return [{"path": str(folder / name), "name": name, "siblings": True} for name in names]


def all_samples(folder: Path) -> list[Sample]:
    """Everything; linear programs are solved for it, so that this process cannot fork afterwards."""
    cards = lossless_cards(folder)
    for name in ("features", "report"):
        (folder / name).mkdir()
    found = [{"path": str(cards), "name": "cards", "game": "leduc_limit_2p"}]
    for form in GAMES:
        found += checkpoints(form, [one for one, known in ALGORITHMS.items() if form in known.forms], folder, cards)
    found += [
        *opponents(folder, cards),
        *strategies(folder, cards),
        *abstractions(folder),
        *pairs_and_jobs(folder, cards),
        *observations(folder, cards),
        *tables_on_disk(folder),
    ]
    return [*found, *features(folder / "features"), *flop_report(folder / "report")]


def some_samples(folder: Path) -> list[Sample]:
    """A few kinds, quickly."""
    cards = lossless_cards(folder)
    found = [{"path": str(cards), "name": "cards", "game": "leduc_limit_2p"}]
    for form, algorithm in (("history", "cfr+"), ("states", "external-sampling"), ("buckets", "pure-cfr")):
        found += checkpoints(form, [algorithm], folder, cards)
    return [*found, *pairs_and_jobs(folder, cards), *observations(folder, cards)]
