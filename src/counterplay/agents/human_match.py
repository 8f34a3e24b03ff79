"""A person at a table: hand after hand against agents, with a score and a log, until the person leaves.

Every hand has new cards, and seats rotate from hand to hand, as at the table of the competition's dealer.  Poker with a
definition is played with the cards of that dealer; the hand-written poker games are too.  Other games are played on
their states, postflop spots on those of their public tree.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.agents.agent import Agent, Policy
from counterplay.agents.entries import GAME_FILES, Entry, is_strategy, make_entries, make_entry, solved_notes
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.agents.matches import Seeds, dealt_hand, state_hand
from counterplay.agents.records import MatchFiles
from counterplay.agents.spot_words import SpotWords
from counterplay.agents.table_text import card_namer, rules_lines
from counterplay.agents.terminal_player import HumanAgent, LeftTableError, count_text, signed_chips
from counterplay.errors import GameError
from counterplay.game.registry import game_names
from counterplay.poker.acpc.dealing import deals
from counterplay.poker.acpc.match_log import HandRecord, format_header, format_score
from counterplay.poker.poker_game import PokerFile, definition_for
from counterplay.poker.postflop import SUBGAME, game_title
from counterplay.poker.postflop.bet_sizes import PLAYERS
from counterplay.poker.postflop.spot_game import SpotGame
from counterplay.poker.rules import Chips
from counterplay.runtime.number_text import figure
from counterplay.strategy.files import strategy_path
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.ready_made import READY_MADE

PERSON = "you"
"""The name of the person at the table and in logs."""

SEEDS = 1_000_000
"""Random seeds lie below this, so that they can be typed again."""

MAX_SEED = 2**32


class Table(NamedTuple):
    """What is played and who sits at the table: one opponent for every other seat.

    ``adviser`` is whose probabilities are shown as hints, by default the first opponent.
    """

    played: MatchGame
    opponents: Sequence[Entry]
    adviser: Entry | None = None


@dataclasses.dataclass(frozen=True)
class HumanResult:
    """How a person has done: the chips won in so many hands, or games without cards.

    ``finished`` if all that were wanted were played; ``pot`` is that of a postflop spot, of which each player has put
    in half.
    """

    game: str
    opponents: tuple[str, ...]
    hands: int
    chips: Chips | float
    big_blind: float | None
    seed: int
    log: Path | None
    finished: bool
    cards: bool = True
    pot: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        mean = float(self.chips) / self.hands if self.hands else None
        mbb = None if mean is None or self.big_blind is None else 1000 * mean / self.big_blind
        return {
            "game": self.game, "opponents": list(self.opponents), "hands": self.hands, "chips": float(self.chips),
            "chips_a_hand": mean, "mbb": mbb, "seed": self.seed, "log": None if self.log is None else str(self.log),
            "finished": self.finished, "pot_percent": None if mean is None else self.percent(mean),
        }  # fmt: skip

    def percent(self, chips: float) -> float | None:
        """Chips as a percentage of the pot of a spot; None elsewhere."""
        return None if self.pot is None else 100 * chips / self.pot

    @property
    def text(self) -> str:
        """The result as a sentence."""
        word = "hand" if self.cards else "game"
        if not self.hands:
            return f"No {word} was finished."
        mean = float(self.chips) / self.hands
        unit = f"{figure(mean, 3, sign=True)} chips a hand"
        if self.pot is not None:
            unit = f"{figure(100 * mean / self.pot, 3, sign=mean > 0)}% of the pot a hand"
        if self.big_blind is not None:
            unit = f"{figure(1000 * mean / self.big_blind, sign=True)} mbb/g"
        return f"Your score: {signed_chips(self.chips)} chips in {count_text(self.hands, word)} ({unit})."


def check_numbers(hands: int | None, seed: int | None) -> None:
    """Refuse a number of hands or a seed that no match can have; a table may take long to open."""
    if hands is not None and hands < 1:
        raise GameError(f"play at least 1 hand; got {hands}")
    if seed is not None and not 0 <= seed < MAX_SEED:
        raise GameError(f"the seed of a match lies between 0 and {MAX_SEED - 1}; got {seed}")


class HumanMatch:
    """A table for one person.

    Parameters
    ----------
    table : Table
        What is played, and with whom; see ``open_table``.
    hands : int, optional
        How many hands; by default until the person leaves.
    seed : int, optional
        Of the cards and the opponents; by default a random one.
    hints : bool
        Whether the hint is shown at every decision, not only when it is asked for.
    seat : int, optional
        Where the person always sits, from 0; by default in another seat with every hand.
    log : path, optional
        A new file for all finished hands: in poker a log of the competition, in other games a JSON object a line.

    Attributes
    ----------
    dealt : MatchGame
        The game as it is played: the hand-written poker games by their definition.
    """

    def __init__(
        self, table: Table, *, hands: int | None = None, seed: int | None = None, hints: bool = False,
        seat: int | None = None, log: Path | None = None,
    ) -> None:  # fmt: skip
        played, opponents, self.adviser = table
        if len(opponents) != played.players - 1:
            seats = count_text(played.players - 1, "other seat")
            raise GameError(f"{game_title(played.name)} has {seats}; got {len(opponents)} opponents")
        check_numbers(hands, seed)
        if seat is not None and not 0 <= seat < played.players:
            raise GameError(f"{game_title(played.name)} has the seats 1 to {played.players}; got seat {seat + 1}")
        definition = definition_for(played.game)
        self.played, self.seat, self.spot = played, seat, played.spot
        self.opponents = [entry.resolved(played) for entry in opponents]
        self.notes = solved_notes(opponents, played)
        self.hands, self.hints, self.log = hands, hints, log
        self.seed = secrets.randbelow(SEEDS) if seed is None else seed
        self.dealt = played if definition is None else MatchGame(played.name, PokerFile(definition, played.name))
        for entry in self.opponents:
            if entry.program is not None:
                raise GameError(f"{entry.name} is a program; it plays through counterplay dealer")
            entry.check(self.dealt)

    def play(self, ask: Callable[[str], str], tell: Callable[[str], None]) -> HumanResult:
        """Play; ``ask`` and ``tell`` as for ``HumanAgent``.  Leaving, end of input and Ctrl-C return the result."""
        person, agents = self._seated(ask, tell)
        names = (PERSON, *(entry.name for entry in self.opponents))
        totals: list[Chips | float] = [0] * len(names)
        finished = False
        with self._files() as files:
            try:
                for line in self._opening():
                    tell(line)
                for number, values in enumerate(self._rounds(person, agents, names, files), 1):
                    totals = [total + value for total, value in zip(totals, values, strict=True)]
                    if number == self.hands:
                        finished = True
                        break
            except (LeftTableError, KeyboardInterrupt):
                tell("")
            if self.dealt.deal_rules is not None:
                files.line(format_score([chips for chips in totals if not isinstance(chips, float)], names))
        return HumanResult(
            self.played.name, names[1:], person.hands, person.score, self.played.big_blind, self.seed, self.log,
            finished, self.dealt.deal_rules is not None or self.spot is not None,
            None if self.spot is None else self.spot.pot,
        )  # fmt: skip

    def _seated(self, ask: Callable[[str], str], tell: Callable[[str], None]) -> tuple[HumanAgent, list[Agent]]:
        assert self.seed is not None
        agents = [
            entry.agent(self.dealt, Seeds.of(self.seed, seat).play) for seat, entry in enumerate(self.opponents, 1)
        ]
        adviser = (self.adviser or self.opponents[0]).agent(self.dealt, 0) if self.opponents else None
        policy = adviser if isinstance(adviser, Policy) else None
        if self.hints and policy is None:
            raise GameError("there is no strategy whose probabilities could be shown as hints")
        words = None if self.spot is None else SpotWords(self.spot)
        return HumanAgent(ask, tell, card_namer(self.played.game), policy, self.hints, words), agents

    def _opening(self) -> list[str]:
        against = ", ".join(entry.name for entry in self.opponents) or "nobody"
        rules = rules_lines(self.played, self.dealt.deal_rules)
        if self.spot is not None:
            rules = SpotWords(self.spot).rules()
        return [*rules, *self.notes, f"Against {against}; seed {self.seed}. Type ? for help, q to stop."]

    @contextlib.contextmanager
    def _files(self) -> Iterator[MatchFiles]:
        files = MatchFiles(self.log, None, append=False)
        try:
            yield files
        finally:
            files.close()

    def _rounds(
        self, person: HumanAgent, others: Sequence[Agent], names: Sequence[str], files: MatchFiles
    ) -> Iterator[list[Chips | float]]:
        """Play hands; what each seat wins in each, the person first."""
        seated, rules, seeds, stream = [person, *others], self.dealt.deal_rules, Seeds.of(self.seed), None
        if rules is not None:
            stream = deals(rules, self.seed)
            for line in format_header("play", self.played.name.replace(" ", ""), self.hands or 0, self.seed, ()):
                files.line(line)
        for hand_id in itertools.count():
            shift = hand_id if self.seat is None else -self.seat
            order = [(position + shift) % len(seated) for position in range(len(seated))]  # seats by position
            sitting, person.names = [seated[seat] for seat in order], [names[seat] for seat in order]
            won: Sequence[Chips | float]
            if rules is not None and stream is not None:
                final = dealt_hand(rules, next(stream), hand_id, sitting)
                won = final.values()
                files.line(HandRecord.of(final, person.names).text())
            else:
                state, moves = state_hand(self.dealt.game, seeds, hand_id, sitting)
                won = paid = [float(value) for value in state.utilities()]
                person.observe_moves(moves, order.index(0), paid[order.index(0)])
                files.line(json.dumps({"hand": hand_id, "players": person.names, "moves": moves, "values": won}))
            yield [won[order.index(seat)] for seat in range(len(seated))]


# ---------------------------------------------------------------------------------------------- what to play, with whom


def open_table(what: str, against: Sequence[str] = ()) -> Table:
    """A game by its name, or the game of a strategy file or of a folder of ``build``, with the opponents.

    Without ``against`` the strategy plays all other seats; in a game that is named, ``equilibrium`` where it can
    be solved in a moment, else ``aggressive`` in poker and ``uniform``.  One opponent plays all other seats; otherwise
    there is one for each.
    """
    adviser = make_entry(what) if is_strategy(what) else None
    if adviser is None:
        played = _named_game(what)
        chosen = [make_entry(name) for name in against] or [_default_opponent(played)]
    else:
        played = _strategy_game(adviser)
        chosen = [make_entry(name) for name in against] or [adviser]
    if len(chosen) == 1:
        chosen *= played.players - 1
    return Table(played, make_entries(chosen), adviser)


def read_seat(text: str, played: MatchGame) -> int:
    """A seat, from 0, by its number from 1, or in a spot by its position, ``oop`` or ``ip``."""
    word = text.strip().lower()
    if played.spot is not None and word in PLAYERS:
        return PLAYERS.index(word)
    if not word.isdecimal() or not 1 <= int(word) <= played.players:
        names = " and ".join(PLAYERS) if played.spot is not None else f"1 to {played.players}"
        raise GameError(f"the seats of {game_title(played.name)} are {names}; got {text!r}")
    return int(word) - 1


def _strategy_game(entry: Entry) -> MatchGame:
    strategy, game = entry.strategy, entry.game
    if isinstance(strategy, PublicStrategy) and strategy.game.startswith(SUBGAME):
        return MatchGame(strategy.game, SpotGame(strategy.tree))
    assert game is not None
    return open_match_game(game)


def _named_game(what: str) -> MatchGame:
    if what in READY_MADE and what not in game_names():
        raise GameError(f"{what} is an opponent; name a game as well, as in: counterplay play leduc --against {what}")
    try:
        return open_match_game(what)
    except GameError:
        path = strategy_path(what)  # refuses a folder without an agent
        if path.suffix and path.suffix not in GAME_FILES and "(" not in what:
            raise GameError(f"there is no strategy file {what}, and no game of that name") from None
        raise


def _default_opponent(played: MatchGame) -> Entry:
    solved = make_entry("equilibrium")
    try:
        solved.resolved(played)
    except GameError:
        return make_entry("uniform" if definition_for(played.game) is None else "aggressive")
    return solved
