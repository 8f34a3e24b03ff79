"""Parts by betting, grafting partitions and the conditions that they must meet, dynamic experts."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction import abstract_by_key, null_abstraction
from counterplay.abstraction.experts import (
    BettingSequences,
    Part,
    dynamic_abstraction,
    infoset_labels,
    label_parts,
    read_parts,
    validate_partition,
)
from counterplay.errors import AbstractionError
from counterplay.forms import poker_definition
from counterplay.game.registry import make
from counterplay.poker.betting import build_betting_tree
from tests.reference.experts import decisions, part_at, violated

GAMES = {
    "kuhn(players=3)": (["kb", "b@1+3"], [(["kb"], range(3)), (["b"], (0, 2))]),
    "leduc(ranks=2)": (["b,kb@1", "kk/b", "b@2"], [(["b", "kb"], (0,)), (["kk/b"], range(2)), (["b"], (1,))]),
}


@pytest.mark.parametrize("name", GAMES)
def test_parts_are_those_of_the_definition(name: str) -> None:
    texts, plain = GAMES[name]
    tree = cp.compile_game(name)
    found = infoset_labels(tree, label_parts(tree, texts))
    for letters, _, state in decisions(make(name)):
        infoset = tree.find_infoset(state.player, str(state.infoset()))
        assert found[infoset] == part_at(letters, state.player, plain)
    assert set(found.tolist()) == set(range(len(texts) + 1))


def test_the_same_parts_of_a_betting_tree() -> None:
    """The nodes of a betting tree have the parts of the histories with their betting."""
    tree = cp.compile_game("leduc_limit_2p")
    betting = build_betting_tree(poker_definition("leduc_limit_2p"))
    texts = ["r", "cr@2", "cc/r"]
    nodes = label_parts(betting, texts)
    by_text = {betting.text(node): int(nodes[node]) for node in np.flatnonzero(betting.player >= 0).tolist()}
    found = infoset_labels(tree, label_parts(tree, texts))
    assert [by_text[key.partition(":")[2]] for key in tree.infoset_names] == found.tolist()


@pytest.mark.parametrize("game", ["kuhn(players=3)", "kuhn_limit_3p"])
def test_what_follows_any_fold(game: str) -> None:
    tree = cp.compile_game(game)
    found = infoset_labels(tree, label_parts(tree, ["folded"]))
    assert found.any()
    for name, label in zip(tree.infoset_names, found.tolist(), strict=True):
        assert label == int("f" in name)
    betting = build_betting_tree(poker_definition("kuhn_limit_3p"))
    labels = label_parts(betting, ["folded"])
    for node in np.flatnonzero(betting.player >= 0).tolist():
        assert labels[node] == int("f" in betting.text(node))


def test_letters_of_other_games_and_rounds() -> None:
    leduc, poker = BettingSequences(cp.compile_game("leduc")), BettingSequences(cp.compile_game("leduc_limit_2p"))
    assert poker.find("kk/b") == poker.find("cc/r") == poker.find("ccr")
    assert poker.text(poker.find("kkb")) == "cc/r"
    assert leduc.text(leduc.find("ccr")) == "kk/b"
    assert leduc.text(leduc.find("rrf")) == "brf"
    kept = dict(decisions_of("leduc"))
    for text, names in kept.items():
        node = leduc.find(text)
        assert leduc.text(node).replace("/", "") == text.replace("/", "")
        assert names


def decisions_of(name: str) -> list[tuple[str, list[str]]]:
    """The betting of each infoset's key, with the keys."""
    tree = cp.compile_game(name)
    found: dict[str, list[str]] = {}
    for key in tree.infoset_names:
        found.setdefault(key.partition(":")[2], []).append(key)
    return list(found.items())


def test_text_forms() -> None:
    part = Part.parse(" kk/b,kb@1+3 ")
    assert part == Part(("kk/b", "kb"), (0, 2))
    assert Part.parse(part.text) == part
    assert part.members(3) == (0, 2)
    alone = Part.parse("only:,k")
    assert alone == Part(("", "k"), None, False)
    assert Part.parse(alone.text) == alone
    assert alone.members(2) == (0, 1)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "at least one part is needed"),
        ([""], "a part is what follows a betting"),
        (["b,"], "a part is what follows a betting"),
        (["b@0"], "count from 1"),
        (["b@x"], "count from 1"),
        (["b@1+1"], "names a player twice"),
        (["b,b"], "names 'b' twice"),
        (["b", "b"], "named twice"),
        (["b", "br"], "overlap: both hold 'br'"),
        (["r", "b"], "overlap"),
        (["b@3"], "names player 3; the game has 2"),
        (["bx"], "after 'b' there is f, c, r"),
        (["k/b"], "rounds end as in 'kb'"),
        (["kk/bf"], "nobody with an expert acts"),
        (["only:@1", "only:kb@1"], "(condition 3)"),
    ],
)
def test_refusals_in_one_line(texts: list[str], message: str) -> None:
    with pytest.raises(AbstractionError) as caught:
        label_parts(cp.compile_game("leduc"), texts)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_each_violated_condition_is_named() -> None:
    """Random labels of the histories of small games: the condition that the definition violates is the one named."""
    rng = np.random.default_rng(1)
    seen = set()
    for name in ("kuhn", "kuhn(players=3)", "leduc(ranks=2)"):
        tree, game = cp.compile_game(name), make(name)
        bettings = [letters for letters, _, _ in decisions(game)]
        for _ in range(12):
            part = {text: int(rng.integers(3)) * int(rng.random() < 0.3) for text in sorted(set(bettings))}
            betting = BettingSequences(tree)
            labels = np.zeros(tree.num_histories, np.int64)
            for letters, number in part.items():
                labels[(betting.node == betting.find(letters)) & (tree.player >= 0)] = number
            wanted = violated(game, lambda letters, player: part[letters])  # noqa: B023
            seen.add(wanted)
            if wanted is None:
                validate_partition(tree, labels)
                continue
            with pytest.raises(AbstractionError, match=f"condition {wanted}"):
                validate_partition(tree, labels)
    assert seen == {None, 3}


def test_split_information_sets_and_missing_parts_are_refused() -> None:
    tree = cp.compile_game("kuhn")
    labels = np.zeros(tree.num_histories, np.int64)
    labels[np.flatnonzero(tree.infoset == 1)[0]] = 1
    with pytest.raises(AbstractionError, match=r"condition 2.*lies in parts (0 and 1|1 and 0)"):
        validate_partition(tree, labels)
    labels[:] = 0
    labels[np.flatnonzero(tree.infoset == 0)] = -1
    with pytest.raises(AbstractionError, match="condition 1"):
        validate_partition(tree, labels)
    with pytest.raises(AbstractionError, match="condition 1"):
        validate_partition(tree, labels[:-1])
    with pytest.raises(AbstractionError, match="condition 1"):
        validate_partition(tree, labels.astype(float))


def test_a_betting_that_is_not_public_splits_information_sets() -> None:
    """Where a player does not see what the other did, a part by the betting is no part."""
    tree = cp.compile_game("matching_pennies")
    first = BettingSequences(tree).text(1)
    with pytest.raises(AbstractionError, match="condition 2"):
        label_parts(tree, [first])


def test_dynamic_experts_merge_nothing_in_their_part() -> None:
    tree = cp.compile_game("leduc")
    blind = abstract_by_key(tree, lambda player, key: key.partition(":")[2], "cards")
    found = dynamic_abstraction(tree, blind, {"b": null_abstraction(tree)})
    inside = infoset_labels(tree, label_parts(tree, ["b"])) == 1
    assert (found.sizes[found.infoset_map[inside]] == 1).all()
    assert len(np.unique(found.infoset_map[~inside])) == len(np.unique(blind.infoset_map[~inside]))
    assert found.num_sets < tree.num_infosets


def test_an_abstraction_that_merges_across_the_border_is_refused() -> None:
    tree = cp.compile_game("kuhn")
    one = null_abstraction(tree)
    lost = abstract_by_key(tree, lambda player, key: player, "all", match="position")
    assert dynamic_abstraction(tree, lost, {"kb": one}).num_sets == 5
    with pytest.raises(AbstractionError, match="outside it"):
        dynamic_abstraction(tree, one, {"kb": lost})
    with pytest.raises(AbstractionError, match="was made for"):
        dynamic_abstraction(tree, one, {"kb": null_abstraction(cp.compile_game("leduc"))})


def test_read_parts() -> None:
    assert read_parts(["b", Part(("kb",))]) == (Part(("b",)), Part(("kb",)))
