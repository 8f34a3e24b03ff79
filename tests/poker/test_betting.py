"""Betting trees and counts of betting sequences, with the published counts; abstractions of bets."""

from __future__ import annotations

import dataclasses
import functools
import gc
import math
import random
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.betting import CALL, FOLD, BettingTree, build_betting_tree, count_betting
from counterplay.poker.poker_game import poker_game
from counterplay.poker.raise_sizes import CPRG_2011, FCPA, PRESETS, BetAbstraction, RaiseSize, bet_abstraction
from counterplay.poker.rules import Betting
from tests.poker_hands import definitions

LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]
LIMIT_3 = STANDARD["holdem.limit.3p"]
NO_LIMIT = STANDARD["holdem.nolimit.2p.reverse_blinds"]
NO_LIMIT_3 = STANDARD["holdem.nolimit.3p"]
TWO_ROUNDS = dataclasses.replace(
    NO_LIMIT, rounds=2, blinds=(2, 1), stacks=(30, 30), first_players=(1, 0), max_raises=(255, 255), board_cards=(0, 3)
)


# ---------------------------------------------------------------------------------------------- published counts


def test_counts_of_heads_up_limit_holdem() -> None:
    """Johanson 2016, table 5.2 and appendix (8/7, then 10 decisions and 9 continuing); computed independently."""
    counts = count_betting(LIMIT)
    assert counts.decisions == (8, 70, 630, 5670)
    assert counts.continuing == (7, 63, 567, 0)
    assert counts.pairs == (21, 182, 1638, 14742)
    assert (sum(counts.folds), sum(counts.showdowns)) == (5103, 5103)


def test_counts_of_holdem_with_fewer_raises() -> None:
    """Johanson 2016, section 11.2: rounds of two bets have 6 decisions and 5 ways to continue, with 14 actions."""
    assert count_betting(STANDARD["4-2"]).decisions == (4, 3 * 6, 15 * 6, 75 * 6)
    assert count_betting(STANDARD["4-2"]).pairs == (9, 3 * 14, 15 * 14, 75 * 14)
    assert count_betting(STANDARD["4-1"]).decisions == (4, 3 * 4, 9 * 4, 27 * 4)


def test_counts_of_three_player_limit_holdem() -> None:
    """Computed independently; they give the abstract sizes that Gibson 2014 prints (next tests)."""
    counts = count_betting(LIMIT_3)
    assert counts.decisions == (90, 4412, 205_962, 9_501_342)
    assert counts.pairs == (219, 10_864, 507_570, 23_418_654)
    assert (sum(counts.folds), sum(counts.showdowns)) == (4_971_359, 9_254_143)
    assert counts.continuing[0] == 22 + 25 + 22 + 18


@pytest.mark.parametrize(
    ("game", "after", "decisions"),
    [
        (LIMIT_3, "f", (8, 70, 630, 5670)),
        (LIMIT_3, "rf", (3, 30, 270, 2430)),
        (LIMIT_3, "crf", (3, 30, 270, 2430)),
        (LIMIT_3, "rrf", (2, 20, 180, 1620)),
        (LIMIT_3, "rcf", (0, 10, 90, 810)),
        (LIMIT_3, "cf", (4, 40, 360, 3240)),
        (LIMIT, "r", (3, 30, 270, 2430)),
        (LIMIT, "cr", (3, 30, 270, 2430)),
        (LIMIT, "cc/r", (0, 4, 40, 360)),
        (LIMIT, "cc/cr", (0, 4, 40, 360)),
    ],
)
def test_counts_of_subtrees(game: GameDefinition, after: str, decisions: tuple[int, ...]) -> None:
    """The subtrees of the experts of Gibson 2014, section 7.3; computed independently."""
    assert count_betting(game, after=after).decisions == decisions


@pytest.mark.parametrize(
    ("game", "after", "buckets", "infosets"),
    [
        pytest.param(LIMIT, "", (5, 25, 125, 625), 3_624_290, id="5s: 3.6e6, Gibson 2014, table 7.3"),
        pytest.param(LIMIT, "", (5, 5, 5, 5), 31_890, id="IR5: 3.2e4, Gibson 2014, table 7.3"),
        pytest.param(LIMIT, "", (2, 4, 8, 16), 96_056, id="2-2-2-2, Johanson 2016, table 5.2"),
        pytest.param(LIMIT, "", (3, 9, 27, 81), 476_934, id="3-3-3-3, Johanson 2016, table 5.2"),
        pytest.param(LIMIT, "", (169, 569, 569, 569), 3_625_882, id="IR569, computed independently"),
        pytest.param(LIMIT, "", (169, 9000, 9000, 9000), 57_331_352, id="IR9000, Johanson 2016, table 5.2"),
        pytest.param(LIMIT, "", (10, 100, 1000, 10000), 57_337_080, id="10s: 57 M, Gibson 2014"),
        pytest.param(LIMIT, "", (8, 64, 512, 4096), 23_551_424, id="8s, Gibson 2014"),
        pytest.param(
            LIMIT, "", (1326, 25_989_600, 1_221_511_200, 56_189_515_200), 319_365_922_522_608, id="3.19e14, Johanson"
        ),
        pytest.param(
            LIMIT, "", (169, 1_286_792, 55_190_538, 2_428_287_420), 13_803_249_787_132, id="1.38e13, Johanson"
        ),
        pytest.param(LIMIT_3, "", (16, 16, 16, 16), 155_388_896, id="155.4 M, Gibson 2014, section 8"),
        pytest.param(LIMIT_3, "", (169, 900, 100, 25), 262_115_760, id="262 M, Gibson 2014, section 8.1"),
        pytest.param(LIMIT_3, "", (169, 1800, 200, 50), 524_216_310, id="2X, Gibson 2014, section 4.4"),
        pytest.param(LIMIT_3, "", (169, 10_000, 5450, 500), 5_917_299_110, id="5.9 G, Gibson 2014, section 8.2"),
        pytest.param(LIMIT_3, "f", (169, 60_000, 180_000, 26_160), 265_928_552, id="266 M, Gibson 2014, section 8.1"),
        pytest.param(LIMIT_3, "rf", (169, 60_000, 180_000, 26_160), 113_969_307, id="2010 rf, computed independently"),
        pytest.param(LIMIT_3, "rrf", (169, 60_000, 180_000, 26_160), 75_979_538, id="2010 rrf"),
        pytest.param(LIMIT_3, "rcf", (169, 60_000, 180_000, 26_160), 37_989_600, id="2010 rcf"),
        pytest.param(LIMIT_3, "f", (169, 180_000, 540_000, 78_480), 797_782_952, id="797.8 M, Gibson 2014, 8.2"),
        pytest.param(STANDARD["2-1"], "", (169, 1_286_792), 15_442_180, id="2-1: 16 M, Gibson 2014, section 3.4.3"),
        pytest.param(STANDARD["2-4"], "", (169, 1_286_792), 90_076_792, id="2-4, computed independently"),
        pytest.param(STANDARD["2-4"], "", (5, 25), 1790, id="2-4 5s, Johanson 2016, section 4.4"),
        pytest.param(STANDARD["leduc.limit.2p"], "", (3, 9), 288, id="Leduc by ranks, Johanson 2016, section 1.1"),
        pytest.param(STANDARD["leduc.limit.2p"], "", (3, 15), 468, id="Leduc, Gibson 2014, table 7.1"),
        pytest.param(STANDARD["rhode"], "", (13, 325, 9997), 3_937_128, id="Rhode Island: 3.94e6, Johanson 2016, 9.2"),
        pytest.param(STANDARD["kuhn.limit.2p"], "", (3,), 12, id="Kuhn"),
        pytest.param(STANDARD["kuhn.limit.3p"], "", (4,), 48, id="Kuhn, three players, Gibson 2014, section 3.2"),
    ],
)  # fmt: skip
def test_information_sets(game: GameDefinition, after: str, buckets: tuple[int, ...], infosets: int) -> None:
    assert count_betting(game, after=after).infosets(buckets) == infosets


def test_entries_of_heads_up_limit_holdem() -> None:
    """Pairs of a canonical information set and an action; computed independently (Johanson 2016, section 9)."""
    hands = (169, 1_286_792, 55_190_538, 2_428_287_420)
    assert count_betting(LIMIT).entries(hands) == 35_888_449_446_577


@pytest.mark.parametrize(
    ("raises", "decisions", "continuing", "pairs"),
    [((3, 4), (8, 70), 7, (21, 182)), ((1, 1), (4, 12), 3, (9, 24)), ((1, 2), (4, 18), 3, (9, 42))],
)
def test_rounds_with_other_caps(raises: tuple[int, int], decisions: object, continuing: int, pairs: object) -> None:
    """Rounds with 1, 2 and 4 bets (Johanson 2016: 4, 6 and 10 decisions, 8, 14 and 26 actions)."""
    counts = count_betting(dataclasses.replace(STANDARD["2-4"], max_raises=raises))
    assert (counts.decisions, counts.continuing[0], counts.pairs) == (decisions, continuing, pairs)


@pytest.mark.parametrize(
    ("stack", "decisions", "infosets", "entries", "histories"),
    [
        (20, (1188, 19_996), 505_840, 1_458_205, 3.68e7),
        (22, (1960, 40_120), 1_012_800, 2_940_485, 7.41e7),
        (24, (3168, 78_112), 1_968_640, 5_747_605, 1.45e8),
        (26, (5020, 148_100), 3_727_600, 10_931_885, 2.75e8),
        (28, (7832, 274_384), 6_898_760, 20_304_765, 5.10e8),
        (30, (12_040, 497_984), 12_509_800, 36_927_485, 9.27e8),
        (32, (18_260, 887_140), 22_269_800, 65_896_485, 1.65e9),
        (34, (27_368, 1_554_120), 38_989_840, 115_601_205, 2.90e9),
        (36, (40_572, 2_681_228), 67_233_560, 199_672_165, 5.00e9),
        (38, (59_532, 4_561_212), 114_327_960, 340_007_365, 8.52e9),
        (40, (86_548, 7_659_700), 191_925_240, 571_448_405, 1.43e10),
    ],
)
def test_two_round_no_limit_holdem(
    stack: int, decisions: tuple[int, int], infosets: int, entries: int, histories: float
) -> None:
    """2-NL hold'em (Gibson et al. 2012, section 5.2: 68 M information sets, 5 G histories at 36); computed
    independently.  Five hands before the flop, 25 after it.
    """
    counts = count_betting(dataclasses.replace(TWO_ROUNDS, stacks=(stack, stack)))
    assert counts.decisions == decisions
    assert counts.infosets((5, 25)) == infosets
    assert counts.entries((5, 25)) == entries
    before = counts.decisions[0] + counts.folds[0]
    after = counts.decisions[1] + counts.folds[1] + counts.showdowns[1] + counts.showdowns[0]
    found = 25 * before + 625 * after
    assert found == pytest.approx(histories, rel=0.01)


# ---------------------------------------------------------------------------------------------- trees


def check_tree(tree: BettingTree, node: int, betting: Betting, bets: BetAbstraction | None = None) -> None:
    """One node says what the rules say."""
    assert tree.text(node) == betting.text()
    assert tree.player[node] == betting.player
    assert tree.round[node] == betting.round
    assert tuple(tree.spent[node]) == betting.spent
    assert tree.folded[node] == betting.folded
    assert tree.showdowns()[node] == betting.showdown
    assert bets is not None or tree.actions(node) == betting.legal_actions()
    assert all(betting.legal(action) for action in tree.actions(node))


@settings(max_examples=80, deadline=None)
@given(definitions(), st.sampled_from([None, "fcpa", "cprg2011", "0.5!,1,min;2,allin|fc".replace("fc", "7c")]))
def test_trees_hold_what_the_rules_say(game: GameDefinition, name: str | None) -> None:
    """Walked from the top; games are cut down so that their trees stay small."""
    bets = bet_abstraction(name) if name and not game.limit else None
    players = min(game.players, 3)
    game = dataclasses.replace(
        game, players=players, rounds=min(game.rounds, 2), stacks=tuple(min(s, 9) for s in game.stacks[:players]),
        blinds=tuple(min(b, 2, s) for b, s in zip(game.blinds[:players], game.stacks, strict=False)),
        raise_sizes=tuple(max(size, 1) for size in game.raise_sizes[:2]), max_raises=game.max_raises[:2],
        first_players=tuple(first % players for first in game.first_players[:2]), board_cards=game.board_cards[:2],
    )  # fmt: skip
    counts = count_betting(game, bets)
    if counts.nodes > 3000:
        return
    if Betting.start(game).finished:
        return
    tree = build_betting_tree(game, bets)
    assert len(tree) == counts.nodes
    stack = [(0, Betting.start(game))]
    seen = 0
    while stack:
        node, betting = stack.pop()
        seen += 1
        check_tree(tree, node, betting, bets)
        for child, action in zip(tree.children(node), tree.actions(node), strict=True):
            assert tree.parent[child] == node
            stack.append((child, betting.act(action)))
    assert seen == len(tree)
    ends = tree.player == TERMINAL
    assert (np.count_nonzero(ends), np.count_nonzero(ends & tree.showdowns())) == (
        counts.terminals,
        sum(counts.showdowns),
    )
    per_round = np.bincount(tree.round[~ends], minlength=game.rounds)
    assert tuple(per_round) == counts.decisions


def test_the_tree_of_heads_up_limit_holdem() -> None:
    tree = build_betting_tree(LIMIT)
    assert len(tree) == 6378 + 5103 + 5103
    assert tree.nbytes == len(tree) * (4 * 4 + 1 + 1 + 2 + 8)
    node = tree.find(Betting.after(LIMIT, "crrc/rc/cr"))
    assert (tree.text(node), tree.player[node], tree.spent[node].tolist()) == ("crrc/rc/cr", 0, [40, 60])
    assert tree.actions(node) == ["f", "c", "r"]
    assert [int(tree.action[child]) for child in tree.children(node)] == [FOLD, CALL, 80]
    assert tree.parent[0] == -1
    assert (tree.parent[1:] < np.arange(1, len(tree))).all()


def test_find_refuses_what_is_not_in_the_tree() -> None:
    tree = build_betting_tree(NO_LIMIT, FCPA)
    assert tree.text(tree.find(Betting.after(NO_LIMIT, "r300c"))) == "r300c/"
    with pytest.raises(GameError, match="the betting tree has no 'r301' after ''; it has f, c, r300, r20000"):
        tree.find(Betting.after(NO_LIMIT, "r301c"))


@pytest.mark.slow
def test_the_tree_of_three_player_limit_holdem() -> None:
    """24 million nodes, random ones compared with the rules."""
    tree = build_betting_tree(LIMIT_3)
    assert len(tree) == 9_711_806 + 4_971_359 + 9_254_143
    chance = random.Random(1)
    showdowns = tree.showdowns()
    for node in chance.sample(range(len(tree)), 300):
        betting = Betting.after(LIMIT_3, tree.text(node))
        assert (tree.player[node], tree.round[node]) == (betting.player, betting.round)
        assert tuple(tree.spent[node]) == betting.spent
        assert showdowns[node] == betting.showdown
    three = (tree.round == 3) & (tree.player != TERMINAL) & (tree.folded == 0)
    assert np.count_nonzero(three) == 4_329_336  # river decisions with all three in; computed independently


def test_trees_that_are_too_large_are_refused() -> None:
    with pytest.raises(MemoryLimitError, match="the betting tree has 23,937,308 nodes and 1,000,000 are allowed"):
        build_betting_tree(LIMIT_3, max_nodes=1_000_000)
    with pytest.raises(MemoryLimitError, match="nodes with different futures at one depth"):
        count_betting(NO_LIMIT, max_rows=100_000)
    with pytest.raises(GameError, match="raises of a limit game have one size"):
        count_betting(LIMIT, FCPA)


# ---------------------------------------------------------------------------------------------- abstractions of bets


tree_of = functools.lru_cache(build_betting_tree)


def choices(game: GameDefinition, bets: BetAbstraction, after: str) -> list[str]:
    tree = tree_of(game, bets)
    return tree.actions(tree.find(Betting.after(game, after)))


def test_a_tree_that_is_in_use_is_shared() -> None:
    """It is built once, for equal rules and bets, and let go with its last user."""
    rules, bets = TWO_ROUNDS, bet_abstraction("fcpa")
    tree, other = build_betting_tree(rules, bets), build_betting_tree(rules, bet_abstraction("fchpa"))
    assert build_betting_tree(dataclasses.replace(rules), bet_abstraction("fcpa")) is tree
    assert other is not tree
    with pytest.raises(MemoryLimitError, match="2 are allowed"):
        build_betting_tree(rules, bets, max_nodes=2)
    known = weakref.ref(tree)
    del tree
    gc.collect()
    assert known() is None


def test_pot_raises() -> None:
    """A raise of one pot calls, then adds the pot: over blinds of 50 and 100 it reaches 300."""
    assert choices(NO_LIMIT, FCPA, "") == ["f", "c", "r300", "r20000"]
    assert choices(NO_LIMIT, FCPA, "r300") == ["f", "c", "r900", "r20000"]
    assert choices(NO_LIMIT, FCPA, "c") == ["c", "r300", "r20000"]
    assert choices(NO_LIMIT, FCPA, "r300c") == ["c", "r900", "r20000"]
    assert choices(NO_LIMIT, FCPA, "r300r900r2700r8100") == ["f", "c", "r20000"]  # a pot would be 24300
    assert choices(NO_LIMIT, FCPA, "r20000") == ["f", "c"]
    assert choices(NO_LIMIT, PRESETS["fc"], "") == ["f", "c"]


def test_sizes_by_round_and_raise_number() -> None:
    bets = bet_abstraction("0.5,pot;min,allin|250c;|3")
    assert choices(NO_LIMIT, bets, "") == ["f", "c", "r200", "r300"]
    assert choices(NO_LIMIT, bets, "r300") == ["f", "c", "r500", "r20000"]
    assert choices(NO_LIMIT, bets, "cc") == ["c", "r250"]
    assert choices(NO_LIMIT, bets, "cc/r250") == ["f", "c"]
    assert choices(NO_LIMIT, bets, "r300c") == ["c", "r400"]  # 250 chips would be too few
    assert choices(NO_LIMIT, bets, "cc/cc") == ["c", "r700"]
    assert choices(NO_LIMIT, bets, "cc/cc/cc/r700") == ["f", "c", "r4900"]


def test_the_abstraction_of_2011() -> None:
    """Gibson 2014, section 5.6: at most eight actions, half and three-quarter pots once a player and round."""
    tree = tree_of(NO_LIMIT, CPRG_2011)
    assert tree.num_children.max() == 8
    assert choices(NO_LIMIT, CPRG_2011, "") == ["f", "c", "r300", "r700", "r2300", "r20000"]
    assert choices(NO_LIMIT, CPRG_2011, "cc") == ["c", "r200", "r250", "r300", "r700", "r2300", "r20000"]
    at = tree.find(Betting.after(NO_LIMIT, "cc/r200"))
    assert tree.actions(at) == ["f", "c", "r400", "r500", "r600", "r1400", "r4600", "r20000"]
    at = tree.find(Betting.after(NO_LIMIT, "cc/r200r400"))  # both have used their half pot
    assert tree.actions(at) == ["f", "c", "r1000", "r1200", "r2800", "r9200", "r20000"]
    at = tree.find(Betting.after(NO_LIMIT, "cc/r200r400r1000"))
    assert tree.actions(at) == ["f", "c", "r2500", "r3000", "r7000", "r20000"]
    at = tree.find(Betting.after(NO_LIMIT, "cc/r200r400c"))  # a new round, a new half pot
    assert tree.actions(at) == ["c", "r800", "r1000", "r1200", "r2800", "r9200", "r20000"]
    three = count_betting(dataclasses.replace(NO_LIMIT_3, stacks=(2000,) * 3), CPRG_2011)
    assert three.decisions[0] > 0


def test_counts_of_abstractions() -> None:
    """Computed here, and again by walking the tree; kept so that a change is seen."""
    assert count_betting(NO_LIMIT, FCPA).decisions == (20, 100, 340, 900)
    assert count_betting(NO_LIMIT, CPRG_2011).decisions == (96, 3660, 36_964, 211_164)


def test_the_abstraction_counts_agree_with_openspiel() -> None:
    """Fold, call, pot, all-in in OpenSpiel's universal_poker, with one card each so that it can be walked."""
    pyspiel = pytest.importorskip("pyspiel")
    game = GameDefinition(
        limit=False, players=2, rounds=2, blinds=(100, 50), stacks=(2000, 2000), first_players=(1, 0),
        suits=1, ranks=3, hole_cards=1, board_cards=(0, 0),
    )  # fmt: skip
    other = pyspiel.load_game(
        "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,stack=2000 2000,blind=100 50,firstPlayer=2 1,"
        "numSuits=1,numRanks=3,numHoleCards=1,numBoardCards=0 0,bettingAbstraction=fcpa)"
    )
    sets = set()
    stack = [other.new_initial_state()]
    while stack:
        state = stack.pop()
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            sets.add(state.information_state_string())
        stack += [state.child(action) for action in state.legal_actions()]
    assert count_betting(game, FCPA).infosets((3, 3)) == len(sets)


@pytest.mark.parametrize("text", ["0.5,1,allin;1,allin|1,allin", "min!,250c|2.5", *PRESETS])
def test_texts_of_abstractions(text: str) -> None:
    bets = bet_abstraction(text)
    assert bet_abstraction(bets.text()) == bets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("half", "cannot read the raise size 'half' in 'half'; sizes are pots"),
        ("1,-2", "cannot read the raise size '-2'"),
        ("0", "the amount of a raise size must be positive; got 0.0"),
        ("1!!", "cannot read the raise size '1!!'"),
    ],
)
def test_texts_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        bet_abstraction(text)


def test_sizes_that_are_refused() -> None:
    with pytest.raises(GameError, match="of the kind pot, chips, min or allin; got 'big'"):
        RaiseSize("big")
    with pytest.raises(GameError, match="the amount of a raise size must be positive; got nan"):
        RaiseSize("pot", math.nan)
    with pytest.raises(GameError, match="needs sizes for a round"):
        BetAbstraction(())


def test_betting_and_histories_agree() -> None:
    """Counting the betting gives the terminals of the compiled game: Leduc has 5,520."""
    counts = count_betting(STANDARD["leduc.limit.2p"])
    deals, boards = 30, 4
    ends = counts.folds[0] * deals + (counts.folds[1] + counts.showdowns[1]) * deals * boards
    assert ends == 5520
    assert poker_game(STANDARD["leduc.limit.2p"]).players == 2


def test_decisions_after_a_fold() -> None:
    for name in ("kuhn.limit.3p", "leduc.limit.2p"):
        rules = STANDARD[name]
        tree, counts = build_betting_tree(rules), count_betting(rules, folded=True)
        fewer = (tree.player >= 0) & (tree.folded != 0)
        assert counts.decisions == tuple(np.bincount(tree.round[fewer], minlength=rules.rounds).tolist())
        for player in range(rules.players):
            own = fewer & (tree.player == player)
            assert counts.player_decisions[player] == tuple(np.bincount(tree.round[own], minlength=rules.rounds))
            pairs = np.bincount(tree.round[own], tree.num_children[own], minlength=rules.rounds)
            assert counts.player_pairs[player] == tuple(pairs)
