"""Games that are odd and legal: unusual types, shapes and players, and players who forget everything."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from counterplay.analysis.regret_bounds import m_value, own_action_partition
from counterplay.errors import GameError
from counterplay.evaluation import best_response, evaluate
from counterplay.game import CHANCE, TERMINAL, Game
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.runs import solve
from counterplay.solvers import CFR_PRESETS, CfrSolver
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game
from tests.reference.best_response import brute_force_best_response
from tests.reference.cfr import ReferenceCfr
from tests.reference.walks import expected_values


@dataclasses.dataclass
class Place:
    """A state with whatever the test puts into it."""

    player: Any
    branches: dict[Any, Any] = dataclasses.field(default_factory=dict)
    key: Any = None
    won: Any = None
    listing: Callable[[], Iterable[Any]] | None = None

    def actions(self) -> Any:
        return self.listing() if self.listing else list(self.branches)

    def chance(self) -> Any:
        return [(outcome, probability) for outcome, (probability, _) in self.branches.items()]

    def child(self, action: Any) -> Any:
        following = self.branches[action]
        return following[1] if isinstance(following, tuple) else following

    def infoset(self) -> Any:
        return self.key

    def utilities(self) -> Any:
        return self.won


class Odd(Game):
    """A game from places."""

    def __init__(self, root: Place, players: int = 2) -> None:
        self.first = root
        self.players = players

    def root(self) -> Any:
        return self.first


def end(*won: Any) -> Place:
    return Place(TERMINAL, won=won)


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(lambda: (action for action in (0, 1)), id="generator"),
        pytest.param(lambda: np.arange(2), id="array"),
        pytest.param(lambda: {0: "a", 1: "b"}.keys(), id="keys"),
        pytest.param(lambda: range(2), id="range"),
        pytest.param(lambda: [0, 1], id="list"),
    ],
)
def test_actions_come_in_any_iterable(listing: Callable[[], Iterable[Any]]) -> None:
    def choice() -> Place:
        return Place(0, {0: end(1, -1), 1: end(0, 0)}, "i", listing=listing)

    tree = compile_game(Odd(Place(CHANCE, {"l": (0.5, choice()), "r": (0.5, choice())})))
    assert (tree.num_histories, tree.num_infosets, tree.actions_of(0)) == (7, 1, ("0", "1"))


@pytest.mark.parametrize(
    "won",
    [
        (Fraction(1, 2), Fraction(-1, 2)),
        (Decimal("0.5"), Decimal("-0.5")),
        np.array([0.5, -0.5], np.float32),
        [np.float16(0.5), -0.5],
    ],
    ids=["fractions", "decimals", "array", "list"],
)
def test_utilities_come_in_any_numbers(won: Any) -> None:
    game = Odd(Place(np.int64(0), {"a": Place(np.int8(TERMINAL), won=won), "b": end(False, 0)}, ("tuple", 1)))
    tree = compile_game(game)
    assert tree.utility.tolist() == [[0.5, -0.5], [0.0, 0.0]]
    assert tree.infoset_names == ("('tuple', 1)",)


def test_probabilities_come_in_any_numbers_and_may_be_zero() -> None:
    moves = {"a": (Fraction(1, 3), end(3, -3)), "b": (np.float32(0), end(9, -9)), "c": (Decimal(2) / 3, end(0, 0))}
    result = solve(Odd(Place(CHANCE, moves)), iterations=2)
    assert result.value == pytest.approx((1.0, -1.0))


def test_what_chance_never_does_is_not_counted() -> None:
    never = decision(0, "never", {"a": terminal(5, -5), "b": terminal(7, -7)})
    always = decision(0, "always", {"a": terminal(1, -1), "b": terminal(0, 0)})
    result = solve(ExplicitGame(chance({"n": (0.0, never), "y": (1.0, always)})), exploitability=1e-9)
    assert result.value == pytest.approx((1.0, -1.0))
    assert result.profile.probabilities(0, "never") == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize("algorithm", CFR_PRESETS)
@pytest.mark.parametrize("players", [1, 2, 4])
def test_any_number_of_players(algorithm: str, players: int) -> None:
    """Everybody wants to differ from the player before; alone, to say the better of two words."""

    def say(words: str) -> Node:
        if len(words) == players:
            return terminal(*(float(word == "b") + float(word != words[i - 1]) for i, word in enumerate(words)))
        return decision(len(words), "word", {word: say(words + word) for word in "ab"})

    tree = compile_game(ExplicitGame(say("")))
    solver = CfrSolver(tree, algorithm)
    solver.step(30)
    twin = ReferenceCfr(ExplicitGame(say("")), **_settings(algorithm))
    twin.iterate(30)
    for (player, key), row in twin.average().items():
        assert solver.profile().probabilities(player, str(key)) == pytest.approx(row, abs=1e-9)  # type: ignore[comparison-overlap]
    if players == 1:
        assert solver.profile().probabilities(0, "word")["b"] > 0.9


def test_parameters_that_are_arrays_do_not_stand_in_the_way() -> None:
    @dataclasses.dataclass
    class Table(Game):
        rows: Any = dataclasses.field(default_factory=lambda: np.eye(2))
        players: int = 1

        def root(self) -> Any:
            return end(*self.rows.sum(axis=0)[:1])

    tree = compile_game(Table())
    assert tree.name.startswith("Table(rows=array(")
    assert solve(tree, iterations=1).value == (1.0,)


def test_a_deep_game_is_solved_and_measured() -> None:
    """A centipede of 5,000 steps: longer than Python's stack."""
    node: Node = terminal(0.0, 0.0)
    for depth in range(5000):
        node = decision(depth % 2, depth, {"stop": terminal(depth, -depth), "go": node})
    result = solve(ExplicitGame(node), iterations=3)
    assert result.histories == 10_001
    assert evaluate(result.profile, ExplicitGame(node)) == result.measurement


def test_a_wide_game_is_solved_and_measured() -> None:
    width = 20_000
    game = ExplicitGame(decision(0, "i", {number: terminal(number) for number in range(width)}))
    result = solve(game, iterations=3)
    assert (result.information_sets, result.best_response) == (1, (width - 1.0,))


# ---------------------------------------------------------------------------------------------- players who forget


def forgetful_game(seed: int) -> ExplicitGame:
    """A random tree of 1 to 3 players with two information sets each, met in any order and more than once."""
    generator = random.Random(seed)
    players = 1 + seed % 3
    sets = [(player, key, "abc"[: generator.randint(1, 3)]) for player in range(players) for key in "xy"]

    def node(depth: int) -> Node:
        if depth == 0 or generator.random() < 0.1:
            return terminal(*(generator.randint(-3, 3) for _ in range(players)))
        if generator.random() < 0.2:
            return chance({"l": (0.25, node(depth - 1)), "r": (0.75, node(depth - 1))})
        player, key, actions = generator.choice(sets)
        return decision(player, key, {action: node(depth - 1) for action in actions})

    return ExplicitGame(node(4), players=players)


FORGETFUL = range(24)


def test_the_random_games_forget_in_every_way() -> None:
    recalls = {recall for seed in FORGETFUL for recall in compile_game(forgetful_game(seed)).recall}
    assert {"perfect", "imperfect", "absent-minded"} <= recalls


def _settings(algorithm: str) -> dict[str, Any]:
    settings = dataclasses.asdict(CFR_PRESETS[algorithm])
    return {name: value for name, value in settings.items() if name not in ("profile", "storage", "threads")}


@pytest.mark.parametrize("algorithm", CFR_PRESETS)
def test_cfr_equals_the_twin_whatever_is_forgotten(algorithm: str) -> None:
    for seed in FORGETFUL:
        game = forgetful_game(seed)
        solver, twin = CfrSolver(game, algorithm), ReferenceCfr(game, **_settings(algorithm))
        solver.step(3)
        twin.iterate(3)
        profile = solver.profile()
        for (player, key), row in twin.average().items():
            assert profile.probabilities(player, str(key)) == pytest.approx(row, abs=1e-9), seed  # type: ignore[comparison-overlap]


def test_measures_equal_the_twins_whatever_is_forgotten() -> None:
    """Values are exact; a best response is exact where it says so, and an upper bound elsewhere."""
    bounds = 0
    for seed in FORGETFUL:
        game = forgetful_game(seed)
        tree = compile_game(game)
        profile = TabularStrategy.random(tree, seed)
        table: Any = {(player, name): row for player, name, row in profile.infosets()}
        measured = evaluate(profile, tree)
        assert measured.value == pytest.approx(tuple(expected_values(game, table)), abs=1e-9)
        for player in range(tree.players):
            response = best_response(profile, player, tree)
            best = brute_force_best_response(game, table, player)[0]
            assert response.value == pytest.approx(measured.best_response[player])
            assert response.value >= best - 1e-9
            if response.exact:
                replaced: Any = {(owner, name): row for owner, name, row in response.profile.infosets()}
                assert response.value == pytest.approx(best)
                assert expected_values(game, replaced)[player] == pytest.approx(best)
            bounds += not response.exact
    assert bounds > 0  # pure strategies that do not reach the bound were among them


# ---------------------------------------------------------------------------------------------- messages


def test_messages_about_wide_games_are_short() -> None:
    doubled = [*range(1000), 0]
    with pytest.raises(GameError, match=r"equal actions: \[0, 1, .*, 9, \.\.\. 1,001 in all\]") as caught:
        compile_game(Odd(Place(0, {}, "i", listing=lambda: doubled)))
    assert len(str(caught.value)) < 200
    half = {number: (-0.5, end(0, 0)) for number in range(1000)}
    with pytest.raises(GameError, match=r"must lie in \[0, 1\]; got \[-0\.5, .*\.\.\. 1,000 in all\]"):
        compile_game(Odd(Place(CHANCE, half)))


def test_the_partition_by_own_actions_needs_recall() -> None:
    last = decision(0, "i", {"a": terminal(4), "b": terminal(1)})
    tree = compile_game(ExplicitGame(decision(0, "i", {"a": terminal(0), "b": last})))
    with pytest.raises(GameError, match="player 1 of hand-written has imperfect recall; a partition by own actions"):
        own_action_partition(tree, 0)
    with pytest.raises(GameError, match="has imperfect recall"):
        m_value(tree, 0)
