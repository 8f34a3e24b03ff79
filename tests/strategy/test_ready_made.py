"""Ready-made opponents: their rules written out again, hand strength by counting, and their exact values."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable

import pytest

import counterplay as cp
from counterplay.agents.agent import Policy, policy_profile
from counterplay.agents.entries import make_entry
from counterplay.agents.human_match import HumanMatch, Table
from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import match
from counterplay.agents.rule_agent import RuleAgent
from counterplay.agents.tournaments import TournamentConfig
from counterplay.build.presets import OPPONENTS
from counterplay.cli import options
from counterplay.cli.main import main
from counterplay.errors import GameError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.forms import open_game
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.cards import parse_cards
from counterplay.poker.hand_strength import hand_strength, hand_strengths
from counterplay.poker.rules import Betting
from counterplay.strategy.ready_made import MEANT, READY_MADE, Solved, ready_made
from counterplay.strategy.strength_rules import StrengthRule, seen_strengths
from tests.reference.best_response import best_response
from tests.reference.hands import deck, hand_value
from tests.reference.walks import Profile, expected_values, infosets

RULES = {
    "tight": [(0.6, (1, 0, 0)), (0.85, (0, 1, 0)), (9, (0, 0, 1))],
    "loose": [(0.2, (1, 0, 0)), (0.85, (0, 1, 0)), (9, (0, 0, 1))],
    "aggressive": [(0.3, (0.75, 0, 0.25)), (0.55, (0, 0.5, 0.5)), (9, (0, 0, 1))],
    "tilted": [(0.5, (0, 0.5, 0.5)), (9, (0, 0, 1))],
}
"""The rules of docs/tournaments.md: below which strength how much to fold, call and raise."""


def counted(hole: tuple[int, ...], board: tuple[int, ...], cards: list[int]) -> float:
    """Hand strength by the definition: all hands of one opponent, ties count half."""
    left = [card for card in cards if card not in (*hole, *board)]
    points = total = 0
    for other in itertools.combinations(left, len(hole)):
        mine, theirs = hand_value((*hole, *board)), hand_value((*other, *board))
        points += 2 * (mine > theirs) + (mine == theirs)
        total += 2
    return points / total


def row(rule: str, strength: float, actions: list[str]) -> dict[str, float]:
    """What a rule plays: no fold without a bet to call, and a call where no raise is possible."""
    fold, call, up = next(part for end, part in RULES[rule] if strength < end)
    if "fold" not in actions:
        fold, call = 0, call + fold
    raising = next((action for action in actions if action in ("bet", "raise")), None)
    if raising is None:
        up, call = 0, call + up
    calling = "call" if "call" in actions else "check"
    shares = {"fold": fold, calling: call, raising: up}
    return {action: float(shares[action]) for action in actions}


def card_strength(seen: str, copies: int) -> float:
    """The strength of ``K`` or, with a card on the table, ``KQ``, by the cards that an opponent can hold.

    A pair with the table beats everything, then the higher rank; Kuhn has one card of a rank, Leduc two.
    """
    left = list("JQK" * copies)
    for card in seen:
        left.remove(card)

    def worth(card: str) -> tuple[bool, int]:
        return seen[1:] == card, "JQK".index(card)

    points = [2 * (worth(seen[0]) > worth(other)) + (worth(seen[0]) == worth(other)) for other in left]
    return sum(points) / (2 * len(points))


def profile_of(rule: str, game: str) -> Profile:
    copies = 2 if game == "leduc" else 1
    return {
        (player, key): row(rule, card_strength(str(key).partition(":")[0], copies), [str(action) for action in actions])
        for (player, key), actions in infosets(cp.make(game)).items()
    }  # type: ignore[return-value]


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize("rule", RULES)
def test_values_are_those_of_the_rule_written_out(rule: str, game: str) -> None:
    profile = profile_of(rule, game)
    found = evaluate(rule, game)
    assert found.value == pytest.approx(expected_values(cp.make(game), profile), abs=1e-12)
    best = [best_response(cp.make(game), profile, player)[0] for player in (0, 1)]
    assert found.best_response == pytest.approx(best, abs=1e-12)
    assert found.provenance.algorithm == rule


@pytest.mark.parametrize("rule", RULES)
def test_all_methods_agree(rule: str) -> None:
    """Leduc by rank, on the history tree, is Leduc from its definition on the public tree and below first deals."""
    expected = evaluate(rule, "leduc")
    for method in ("history", "public", "split", "auto"):
        found = evaluate(rule, "leduc_limit_2p", method)
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.best_response == pytest.approx(expected.best_response, abs=1e-12)
    with pytest.raises(StrategyError, match="may look at its cards"):
        evaluate(rule, "leduc_limit_2p", "card-free")


class TestHandStrength:
    def test_small_decks(self) -> None:
        """All hands of Leduc and of a small hold'em, on all boards."""
        for name, sizes in (("leduc.limit.2p", (0, 1)), ("2-1", (0, 3))):
            game = STANDARD[name]
            if name == "2-1":
                game = dataclasses.replace(game, ranks=3, suits=3)
            cards = deck(game.ranks, game.suits)
            assert set(cards) == set(game.deck)
            for size in sizes:
                for board in itertools.combinations(cards, size):
                    holes = [h for h in itertools.combinations(cards, game.hole_cards) if not set(h) & set(board)]
                    expected = [counted(hole, board, cards) for hole in holes]
                    assert hand_strengths(game, board, holes).tolist() == pytest.approx(expected, abs=1e-15)

    def test_holdem(self) -> None:
        game, draw = STANDARD["holdem.limit.2p.reverse_blinds"], random.Random(1)
        for size in (0, 3, 4, 5):
            for _ in range(2):
                cards = draw.sample(deck(), size + 2)
                hole, board = tuple(cards[:2]), tuple(cards[2:])
                assert hand_strength(game, hole, board) == pytest.approx(counted(hole, board, deck()), abs=1e-15)

    def test_aces_and_the_worst_hand(self) -> None:
        game = STANDARD["holdem.limit.2p.reverse_blinds"]
        assert hand_strength(game, parse_cards("AsAh"), ()) == (1224 + 0.5) / 1225
        worse = hand_strength(game, parse_cards("3s2h"), ())
        assert worse == 4.5 / 1225  # ties with nine other hands of these ranks

    def test_names_of_information_sets(self) -> None:
        """The strengths of all rounds so far, under the names that a game gives."""
        assert seen_strengths(cp.make("kuhn")) == {"J": (0.0,), "Q": (0.5,), "K": (1.0,)}
        leduc = seen_strengths(cp.make("leduc"))
        assert leduc["QK"] == (0.5, 0.625)  # beats both jacks, ties with the other queen, loses to the king
        assert leduc["KK"] == (0.9, 1.0)

    def test_three_cards(self) -> None:
        """Straights and flushes of three cards count when three are there."""
        game = cp.make("rhode_island(three_card_hands=true)").definition  # type: ignore[attr-defined]
        straight, pair = hand_strengths(game, parse_cards("4s5h"), [parse_cards("6d"), parse_cards("5d")])
        assert straight > pair
        assert hand_strength(game, parse_cards("As"), ()) == (48 + 1.5) / 51


class TestAgents:
    @pytest.mark.parametrize("rule", RULES)
    def test_at_the_table_and_in_the_table(self, rule: str) -> None:
        """At every state of a match an agent plays the row of the strategy on the compiled game."""
        game = cp.make("leduc_limit_2p")
        tree, definition = open_game(game, "history"), STANDARD["leduc.limit.2p"]
        made = ready_made(rule)
        assert isinstance(made, StrengthRule)
        table, agent, checked = made.tabular(tree), RuleAgent(rule), 0
        for player, name, expected in table.infosets():
            cards, _, betting = name.partition(":")
            hole, _, board = cards.partition("/")
            other = next(card for card in definition.deck if card not in parse_cards(hole + board))
            holes = [(other,), (other,)]
            holes[player] = parse_cards(hole)
            after = Betting.after(definition, betting)
            state = MatchState(0, after, Deal(tuple(holes), parse_cards(board))).seen_by(player)
            assert dict(agent.distribution(state)) == {a: p for a, p in expected.items() if p > 0}
            checked += 1
        assert checked == tree.num_infosets

    def test_no_limit_raises_are_the_smallest(self) -> None:
        game = STANDARD["holdem.nolimit.2p.reverse_blinds"]
        deal = Deal((parse_cards("AsAh"), parse_cards("3s2h")), ())
        assert RuleAgent("tight").act(MatchState(0, Betting.after(game, "r300"), deal).seen_by(0)) == "r500"
        assert RuleAgent("tight").act(MatchState(0, Betting.after(game, ""), deal).seen_by(1)) == "f"

    @pytest.mark.parametrize("rule", RULES)
    def test_states_of_a_game_are_played_as_its_tree(self, rule: str) -> None:
        played = open_match_game("kuhn")
        tree = played.tree
        assert tree is not None
        expected = make_entry(rule).on_tree(played)
        agent = make_entry(rule).agent(played, 0)
        assert expected is not None
        assert isinstance(agent, Policy)
        assert policy_profile(agent, tree).table.tolist() == expected.table.tolist()


class TestSolved:
    def test_equilibrium(self) -> None:
        assert evaluate("equilibrium", "leduc").exploitability < 2e-3

    def test_small_equilibrium_knows_classes_only(self) -> None:
        """Hands with the same classes of strength in all rounds play alike; nobody gains by a change that is so too."""
        made = READY_MADE["small-equilibrium"]
        assert isinstance(made, Solved)
        game = cp.make("leduc")
        strategy = made.strategy(game)
        rows: dict[object, list[dict[str, float]]] = {}
        for player, name, probabilities in strategy.infosets():
            cards, _, betting = name.partition(":")
            seen = tuple(min(2, int(3 * card_strength(cards[:size], 2))) for size in range(1, len(cards) + 1))
            rows.setdefault((player, seen, betting), []).append(probabilities)
        assert len(rows) == 228
        assert all(row == same[0] for same in rows.values() for row in same)
        assert max(len(same) for same in rows.values()) == 2

    def test_it_is_said(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["evaluate", "small-equilibrium", "--game", "leduc"]) == 0
        line = "solved leduc with 3 classes of hand strength for small-equilibrium: 500 iterations of cfr+"
        assert line in capsys.readouterr().err
        assert main(["match", "equilibrium", "tight", "--game", "kuhn", "--deals", "10"]) == 0
        assert "solved kuhn for equilibrium: 500 iterations of cfr+" in capsys.readouterr().err

    def test_large_games_say_what_to_do(self) -> None:
        with pytest.raises(GameError, match=r"too large to be solved in passing.*build holdem_limit_2p --preset tiny "):
            evaluate("small-equilibrium", "holdem_limit_2p")
        with pytest.raises(GameError, match=r"counterplay solve --out"):
            evaluate("equilibrium", "phantom_ttt")


class TestNames:
    def test_help_shows_the_table(self) -> None:
        assert options.OPPONENTS.split(", ") == list(READY_MADE)
        assert set(OPPONENTS) <= set(READY_MADE)
        assert {name for targets in MEANT.values() for name in targets.split()} <= set(READY_MADE)

    @pytest.mark.parametrize("name", READY_MADE)
    def test_every_name_is_known_everywhere(self, name: str) -> None:
        assert evaluate(name, "kuhn").game == "kuhn"
        assert match("kuhn", [name, "uniform"], 3).names == (name, "uniform" if name != "uniform" else "uniform-2")
        assert HumanMatch(Table(open_match_game("kuhn"), [make_entry(name)])).opponents[0].name == name
        (entry,) = TournamentConfig("kuhn", (name,), 1).made_entries()
        assert entry.ready_made is READY_MADE[name]

    @pytest.mark.parametrize(
        "call", [lambda: evaluate("tight", "goofspiel"), lambda: match("goofspiel", ["tight", "uniform"], 1)]
    )
    def test_games_without_hands(self, call: Callable[[], object]) -> None:
        with pytest.raises(GameError, match="goofspiel is not a poker game with a definition"):
            call()
