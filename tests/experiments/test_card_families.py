"""Families of card abstractions: equal sizes, exact values head to head, CFR beside CFR-BR."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterplay.abstraction.cards import parse_recipe
from counterplay.errors import AbstractionError
from counterplay.evaluation import HeadToHead
from counterplay.experiments import family_crosstable, family_exploitability, run_experiment
from counterplay.experiments.family_exploitability import Published
from counterplay.experiments.shared.card_families import FAMILIES, family_game, family_recipe
from counterplay.experiments.shared.real_game_checks import cfr_br_trunk
from counterplay.forms import open_game
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_counts import count_bucket_game
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import MccfrConfig

SMALL = "holdem_2_4(ranks=4,suits=2)"
PAIR = ["PR-PHS-PHS", "EQ-KE-KO"]


def test_families_of_texas_holdem_are_the_published_ones() -> None:
    """Johanson 2016, table 5.2 and section 11.3: 10s, 169-9000-9000-9000 and 169-66105-66105-1950, nested percentiles
    150 x 60 and 406 x 163."""
    texts = {name: family_recipe(name, "holdem_limit_2p", 10) for name in FAMILIES}
    assert texts["PR-PHS-PHS"] == "PHS5x2/PHS5x2/PHS5x2/PS10"
    assert texts["EQ-PHS-KO"] == "IRlossless/IRPHS150x60/IRPHS150x60/KO9001"
    assert texts["FT-PHS-PHS"].startswith("IRlossless/IRPHS406x163/IRPHS406x163/PS19")
    deck, shape = (13, 4), (2, 3, 1, 1)
    limit = STANDARD["holdem.limit.2p.reverse_blinds"]
    for text in texts.values():
        size = count_bucket_game(limit, parse_recipe(text, deck, shape).counts(deck, shape)).infosets
        assert size == pytest.approx(57_337_080, rel=2e-3)
    with pytest.raises(AbstractionError, match="families are PR-PHS-PHS, PR-PHS-KO"):
        family_recipe("IR-KE-KO", SMALL, 2)


def test_the_published_crosstable_has_its_findings() -> None:
    published = family_crosstable.PUBLISHED
    assert np.array_equal(published, -published.T)
    recall, first, winners = family_crosstable.verdicts(list(FAMILIES), published)
    assert ": True (72 of 72" in recall
    assert ": True (first FT-KE-KO, FT-KO-KO, EQ-KE-KO;" in first
    assert "in 147 of 147 pairs" in winners


def test_what_is_said_about_other_findings() -> None:
    won = np.array([[0.0, 2.0], [-2.0, 0.0]])
    recall, first, winners = family_crosstable.verdicts(PAIR, won)
    assert ": False (0 of 1" in recall
    assert ": False (first PR-PHS-PHS" in first
    assert "in 0 of 1 pairs" in winners
    *least, cfr, robust, ratio = family_exploitability.verdicts(family_exploitability.PUBLISHED)
    assert [text.partition(" is ")[2] for text in least] == [
        f"{recall}-KE-KO; published: {recall}-KE-KO." for recall in ("PR", "EQ", "FT")
    ]
    assert "of 153 pairs, 153" in cfr
    assert "of 153 pairs, 153" in robust
    assert "3.10 to 4.36 times" in ratio
    turned = {PAIR[0]: Published(2.0, 3.0), PAIR[1]: Published(1.0, 4.0)}
    cfr, robust, _ = family_exploitability.verdicts(turned)
    assert "of 1 pairs, 1" in cfr
    assert "of 1 pairs, 0" in robust


def test_values_head_to_head_are_those_of_the_strategies() -> None:
    found = run_experiment("family-crosstable", "quick", families=",".join(PAIR), game=SMALL, boards=50)
    match = HeadToHead(open_game(SMALL, "public"))
    players = []
    for family in PAIR:
        solver = BucketSolver(family_game(family, SMALL, 2)[1], MccfrConfig("public", seed=0), "pcs-boards")
        solver.step(50)
        players.append(match.player(solver.profile(storage="float64")))
    won = 100.0 * match.mean(*players)
    assert [row[1] for row in found.rows] == PAIR
    assert [row[3:5] for row in found.rows] == [(None, round(won, 1)), (-round(won, 1), None)]
    assert [row[5] for row in found.rows] == pytest.approx([won, -won], abs=0.005)
    assert [row[6] for row in found.rows] == [-25.0, 25.0]


def test_families_by_both_algorithms() -> None:
    options = {"families": ",".join(PAIR), "game": SMALL, "iterations": 1000}
    found = run_experiment("family-exploitability", "quick", boards=1000, **options)
    alone = cfr_br_trunk(family_game(PAIR[0], SMALL, 2)[1])
    alone.step(1000)
    assert [row[0] for row in found.rows] == PAIR
    assert found.rows[0][4] == 100.0 * alone.measure("average").exploitability
    for row in found.rows:
        cfr, low, robust = (float(row[place] or 0) for place in (2, 3, 4))
        assert low <= cfr
        assert robust < 0.7 * cfr
        assert row[8:] == family_exploitability.PUBLISHED[str(row[0])]


def test_pairs_that_were_finished_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the third family: the table of the first two is what they have alone."""
    alone = run_experiment("family-crosstable", "quick", families=",".join(PAIR), game=SMALL, boards=5)
    solvers = iter((BucketSolver, BucketSolver))

    def stopped(*words: Any) -> BucketSolver:
        for solver in solvers:
            return solver(*words)
        raise KeyboardInterrupt

    monkeypatch.setattr(family_crosstable, "BucketSolver", stopped)
    found = run_experiment("family-crosstable", "quick", families=f"{','.join(PAIR)},PR-KE-KO", game=SMALL, boards=5)
    assert found.interrupted
    assert (found.rows, found.columns) == (alone.rows, alone.columns)
