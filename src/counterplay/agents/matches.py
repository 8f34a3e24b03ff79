"""Duplicate matches in one process: every deal is played in all seatings, so that luck with the cards cancels.

Two players play each deal twice with seats swapped, three players six times, once in each permutation of the seats
("triplicate"; Gibson 2014, sections 5.6 and 7.3.2; Johanson 2016, sections 3.4 and 5.5).  More than three play each
deal in the n rotations.  Each seating has its own copies of the agents, which remember nothing of the others.

Agents that are policies play on the compiled tree, by a kernel, when the game is small; others on the game's states or,
in poker from a definition, with the competition dealer's deals.  Strategies of one bucket game play on its betting
tree, by the same kernel, with the cards that the dealer would deal.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.adaptive_agent import Choices
from counterplay.agents.agent import Agent, Decision
from counterplay.agents.entries import Entry, Source, make_entries
from counterplay.agents.match_estimates import MatchRecorder
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.errors import GameError
from counterplay.evaluation.matches.summary import Summary
from counterplay.evaluation.matches.tally import Estimate, Tally
from counterplay.game.game import CHANCE, TERMINAL, Game, State
from counterplay.kernels.buckets.bucket_matches import play_buckets
from counterplay.kernels.history.matches import play_deals
from counterplay.kernels.walks import walk_arrays
from counterplay.poker.acpc.dealing import Deal, deal_array
from counterplay.poker.acpc.dealing import deals as deal_stream
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.buckets.deal_sampler import DealSampler
from counterplay.poker.rules import Betting, Chips
from counterplay.runtime.data_frames import Tabulated
from counterplay.runtime.number_text import figure
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.suggestions import suggest_arguments
from counterplay.strategy.bucket_strategy import BucketStrategy, packed
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import CardFree
from counterplay.tree.history.game_tree import GameTree

CHUNK = 1 << 16
"""Deals whose scores are kept at a time."""

BATCH = 1 << 12
"""Deals that are looked up in buckets at a time."""

TRIPLICATE = 3
"""Most players that play all permutations of the seats."""


@dataclasses.dataclass(frozen=True)
class Seeds:
    """The seeds of a part of a match: ``deal`` for chance, ``play`` for the agents."""

    deal: int
    play: int

    @classmethod
    def of(cls, *words: int, shared: Sequence[int] | None = None) -> Seeds:
        """Seeds from any numbers; those of the deals from ``shared`` if given."""
        return cls(_number(words if shared is None else shared, 0), _number(words, 1))


def _number(words: Sequence[int], kind: int) -> int:
    return int(np.random.SeedSequence([kind, *words]).generate_state(1, np.uint64)[0])


@dataclasses.dataclass(frozen=True, repr=False)
class MatchResult(Tabulated):
    """The result of a match of the agents ``names``; ``seatings`` is how often each deal was played.

    ``estimates`` are low-variance ones of the agents that are strategies, by name, if they were asked for.  ``choices``
    say of each portfolio, by name, which member played each hand: one for each seating, whose agents learn apart.
    ``tally`` has the sums over deals, in chips a hand; ``big_blind`` is in chips, None outside poker.  ``interrupted``
    if it was stopped before all deals were played.
    """

    game: str
    names: tuple[str, ...]
    seatings: int
    tally: Tally
    big_blind: float | None
    interrupted: bool = False
    estimates: Mapping[str, tuple[Summary, ...]] = dataclasses.field(default_factory=dict)
    choices: Mapping[str, tuple[Choices, ...]] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        won = ", ".join(
            f"{name} {figure(self.estimate(number).mean, sign=True)} ± {figure(self.estimate(number).half, 2)}"
            for number, name in enumerate(self.names)
        )
        return f"<MatchResult of {self.game}, {self.hands:,} hands: {won} chips a hand>"

    @property
    def deals(self) -> int:
        """Number of different deals."""
        return self.tally.deals

    @property
    def hands(self) -> int:
        """Number of hands."""
        return self.tally.deals * self.seatings

    def estimate(self, agent: int) -> Estimate:
        """What an agent wins, in chips a hand."""
        return self.tally.estimate(agent)

    def mbb(self, agent: int) -> Estimate:
        """What an agent wins, in thousandths of a big blind a hand."""
        if self.big_blind is None:
            raise GameError(f"{self.game} has no big blind; winnings are in chips")
        return self.estimate(agent).scaled(1000 / self.big_blind)

    def difference(self, one: int, other: int) -> Estimate:
        """How much more an agent wins than another, paired by deals, in chips a hand."""
        return self.tally.difference(one, other)

    def _columns(self) -> tuple[str, ...]:
        """Winnings a hand, with 95 % confidence intervals."""
        return ("agent", "hands", "chips", "chips_95", *(() if self.big_blind is None else ("mbb", "mbb_95")))

    def _lines(self) -> Iterator[tuple[Any, ...]]:
        for number, name in enumerate(self.names):
            mbb = () if self.big_blind is None else self.mbb(number).as_json()
            yield name, self.hands, *self.estimate(number).as_json(), *mbb

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        agents = []
        for number, name in enumerate(self.names):
            row: dict[str, Any] = {"name": name}
            row["chips"], row["chips_95"] = self.estimate(number).as_json()
            if self.big_blind is not None:
                row["mbb"], row["mbb_95"] = self.mbb(number).as_json()
            agents.append(row)
        pairs = []
        for one, other in itertools.combinations(range(len(self.names)), 2):
            row = {"one": self.names[one], "other": self.names[other]}
            row["chips"], row["chips_95"] = self.difference(one, other).as_json()
            pairs.append(row)
        return {
            "game": self.game, "deals": self.deals, "seatings": self.seatings, "hands": self.hands, "agents": agents,
            "differences": pairs, "interrupted": self.interrupted,
            "estimates": {
                name: [one.to_dict(self.big_blind) for one in rows] for name, rows in self.estimates.items()
            },
            "choices": {name: [one.to_dict() for one in rows] for name, rows in self.choices.items()},
        }  # fmt: skip


def seatings_of(players: int) -> list[tuple[int, ...]]:
    """The seatings of a duplicate match: which agent sits in each position."""
    if players <= TRIPLICATE:
        return list(itertools.permutations(range(players)))
    return [tuple((position + turn) % players for position in range(players)) for turn in range(players)]


@suggest_arguments
def match(
    game: str | MatchGame, agents: Sequence[Entry | Source], deals: int = 10_000, seed: int = 0, duplicate: bool = True,
    progress: ProgressCallback | None = None, estimators: str | Sequence[str] | None = None,
) -> MatchResult:  # fmt: skip
    """Play a match in this process; Ctrl-C stops it, and the result is that of the deals that were played.

    Parameters
    ----------
    game : str or MatchGame
        The name of a game, or of a standard poker definition.
    agents : sequence
        One for each seat: names, paths, strategies, entries, or functions from a seed to an agent.
    deals : int
        Different deals; each is played in all seatings.
    seed : int
        Of everything random.
    duplicate : bool
        If false, each deal is played once, in the order given.
    progress : callable, optional
        Called with a ``Progress`` after some deals.
    estimators : str or sequence of str, optional
        Low-variance estimators to report beside money, with two players: ``all``, or names as ``ac+ef+bc-divat``.
    """
    seed = check_seed(seed, GameError)
    played = open_match_game(game) if isinstance(game, str) else game
    entries = make_entries([agents] if isinstance(agents, str) else list(agents))
    if len(entries) != played.players:
        agents_given = "1 agent" if len(entries) == 1 else f"{len(entries)} agents"
        raise GameError(f"{played.name} is played by {played.players}; got {agents_given}")
    entries = tuple(entry.resolved(played) for entry in entries)
    if deals < 1:
        raise GameError(f"a match has at least 1 deal; got {deals}")
    for entry in entries:
        entry.check(played)
    seatings = seatings_of(played.players) if duplicate else [tuple(range(played.players))]
    recorder = None if estimators is None else MatchRecorder(played, entries, seatings, estimators)
    tally, started, finished = Tally.empty(len(entries)), time.perf_counter(), False
    seeds = Seeds.of(seed)
    adaptive = [number for number, entry in enumerate(entries) if entry.folder is not None]
    copies = _copies(played, entries, seeds, 0, len(seatings)) if adaptive else None
    try:
        for part in _parts(played, entries, seeds, 0, deals, seatings, recorder, copies):
            tally += part
            if progress is not None:
                progress(_progress(tally.deals, deals, time.perf_counter() - started))
        finished = True
    except KeyboardInterrupt:
        if not tally.deals:
            raise
    names = tuple(entry.name for entry in entries)
    made = {number: [agents[number].choices() for agents in copies or ()] for number in adaptive}
    members = {number: [one.played for one in found] for number, found in made.items()}
    estimates = {} if recorder is None else recorder.summaries(progress, members)
    choices = {names[number]: tuple(found) for number, found in made.items()}
    return MatchResult(played.name, names, len(seatings), tally, played.big_blind, not finished, estimates, choices)


def _progress(done: int, total: int, seconds: float) -> Progress:
    return Progress(done, seconds, total=total, seconds_left=seconds * (total - done) / done, stage="deals")


def play_piece(
    played: MatchGame, entries: Sequence[Entry], seeds: Seeds, first: int, deals: int,
    seatings: Sequence[tuple[int, ...]] | None = None, recorder: MatchRecorder | None = None,
) -> Tally:  # fmt: skip
    """Play some deals of a match; pieces with other ``first`` deals, or other seeds, are independent."""
    return sum(_parts(played, entries, seeds, first, deals, seatings, recorder), start=Tally.empty(len(entries)))


def _parts(
    played: MatchGame, entries: Sequence[Entry], seeds: Seeds, first: int, deals: int,
    seatings: Sequence[tuple[int, ...]] | None = None, recorder: MatchRecorder | None = None,
    copies: list[list[Any]] | None = None,
) -> Iterator[Tally]:  # fmt: skip
    """The deals of a piece, some at a time; ``copies`` are the agents of each seating, if they are known."""
    table = seatings_of(played.players) if seatings is None else seatings
    profiles = _tree_strategies(played, entries)
    bucketed = None if profiles is not None else _bucket_strategies(entries, recorder is None)
    scores: Iterator[NDArray[np.float64]]
    if profiles is not None and played.tree is not None:
        scores = _on_tree(played.tree, profiles, table, seeds, first, deals, recorder)
    elif bucketed is not None and played.deal_rules is not None:
        scores = _on_buckets(bucketed, table, seeds, first, deals, recorder)
    else:
        agents = _copies(played, entries, seeds, first, len(table)) if copies is None else copies
        scores = _by_agents(played, agents, table, seeds, first, deals, recorder)
    return map(Tally.of, scores)


def _copies(played: MatchGame, entries: Sequence[Entry], seeds: Seeds, first: int, seatings: int) -> list[list[Any]]:
    """The agents of each seating, which remember nothing of the others."""
    return [
        [entry.agent(played, _number((seeds.play, first, turn, seat), 2)) for seat, entry in enumerate(entries)]
        for turn in range(seatings)
    ]


def _tree_strategies(played: MatchGame, entries: Sequence[Entry]) -> list[TabularStrategy] | None:
    """The strategies of all entries for the compiled game, if each has one."""
    found = []
    for entry in entries:
        profile = entry.on_tree(played)
        if profile is None:
            return None
        found.append(profile)
    return found


def _on_tree(
    tree: GameTree, profiles: Sequence[TabularStrategy], seatings: Sequence[tuple[int, ...]], seeds: Seeds, first: int,
    deals: int, recorder: MatchRecorder | None = None,
) -> Iterator[NDArray[np.float64]]:  # fmt: skip
    strategies = np.concatenate([profile.for_tree(tree) for profile in profiles])
    dice, table = np.empty(int(tree.depth.max()) + 1), np.array(seatings, np.int64)
    chance, play, walks = np.uint64(seeds.deal), np.uint64(seeds.play), walk_arrays(tree)
    for start in range(first, first + deals, CHUNK):
        scores = np.empty((min(CHUNK, first + deals - start), len(profiles)))
        ends = None if recorder is None else np.empty((len(scores), len(table)), np.int32)
        play_deals(walks, None, strategies, table, chance, play, start, dice, scores, -1, None, ends)
        if recorder is not None and ends is not None:
            recorder.on_tree(ends)
        yield scores


def _bucket_strategies(entries: Sequence[Entry], trivial: bool = True) -> list[BucketStrategy] | None:
    """The strategies of all entries, if all are played unchanged on one betting tree.

    In limit games ``trivial`` opponents, which do not look at their cards, may be among them.
    """
    found = [entry.on_buckets() for entry in entries]
    games = [profile.abstract for profile in found if profile is not None]
    alike = {(game.definition, None if game.bets is None else game.bets.text()) for game in games}
    if len(alike) != 1:
        return None
    easy = trivial and games[0].definition.limit
    storage = next(str(profile.weights.dtype) for profile in found if profile is not None)
    for place, entry in enumerate(entries):
        made = entry.ready_made
        if found[place] is None and easy and isinstance(made, CardFree):
            plain = made.buckets(games[0])
            # their probabilities are 1 or equal, so that nothing is rounded
            found[place] = dataclasses.replace(plain, weights=packed(plain.weights, storage))  # type: ignore[arg-type]
    profiles = [profile for profile in found if profile is not None]
    return profiles if len(profiles) == len(entries) else None


def _on_buckets(
    profiles: Sequence[BucketStrategy], seatings: Sequence[tuple[int, ...]], seeds: Seeds, first: int, deals: int,
    recorder: MatchRecorder | None = None,
) -> Iterator[NDArray[np.float64]]:  # fmt: skip
    """Hands on a betting tree, with the dealer's cards; nobody leaves it."""
    games = {profile.abstract.fingerprint: profile.abstract for profile in profiles}
    game = profiles[0].abstract
    dealt = deal_array(game.definition, _deal_seed(seeds, first), deals).astype(np.uint8)
    samplers = {layout: DealSampler(one, min(deals, BATCH)) for layout, one in games.items()}
    table = np.array(seatings, np.int64)
    kinds = {profile.weights.dtype for profile in profiles}
    strategies = tuple(profile.weights if len(kinds) == 1 else profile.strategy() for profile in profiles)
    joined = np.concatenate(strategies) if len(games) == 1 else None
    nodes = tuple(games[profile.abstract.fingerprint].walks().nodes for profile in profiles)
    chance, play, none = np.uint64(seeds.deal), np.uint64(seeds.play), np.empty(0)
    for start in range(0, deals, BATCH):
        some = dealt[start : start + BATCH]
        scores = np.empty((len(some), len(profiles)))
        ends = None if recorder is None else np.empty((len(scores), len(table)), np.int32)
        shifts = {layout: sampler.shifts(some) for layout, sampler in samplers.items()}
        cards = tuple(shifts[profile.abstract.fingerprint] for profile in profiles)
        walks, index = game.walks(), first + start
        if joined is None:
            play_buckets(nodes, cards, strategies, walks.utility, table, play, index, scores, ends)
        else:
            play_deals(walks, cards[0], joined, table, chance, play, index, none, scores, -1, None, ends)
        if recorder is not None and ends is not None:
            recorder.on_buckets(game, some, ends)
        yield scores


def _deal_seed(seeds: Seeds, first: int) -> int:
    """The dealer's seed for a piece of a match."""
    return _number((seeds.deal, first), 3) % 2**32


def _by_agents(
    played: MatchGame, copies: Sequence[Sequence[Agent]], seatings: Sequence[tuple[int, ...]], seeds: Seeds, first: int,
    deals: int, recorder: MatchRecorder | None = None,
) -> Iterator[NDArray[np.float64]]:  # fmt: skip
    """Hands of agents that see match states or decisions; each seating has its own copies."""
    rules = played.deal_rules
    stream = None if rules is None else deal_stream(rules, _deal_seed(seeds, first))
    for hand_id in range(first, first + deals):
        row, deal = np.zeros(played.players), None if stream is None else next(stream)
        finals = []
        for agents, seating in zip(copies, seatings, strict=True):
            seated = [agents[agent] for agent in seating]
            won: Sequence[Chips | float]
            if rules is not None and deal is not None:
                finals.append(dealt_hand(rules, deal, hand_id, seated))
                won = finals[-1].values()
            else:
                won = state_hand(played.game, seeds, hand_id, seated)[0].utilities()
            row[list(seating)] += [float(chips) for chips in won]
        if recorder is not None:
            if not finals:
                raise GameError(f"no estimates: in {played.name} agents must be strategies without settings")
            recorder.by_agents(finals)
        yield row[None] / len(seatings)


def dealt_hand(game: GameDefinition, deal: Deal, hand_id: int, seated: Sequence[Agent]) -> MatchState:
    """Play a hand with the competition dealer's cards; the agents sit by position."""
    betting = Betting.start(game)
    while not betting.finished:
        seen = MatchState(hand_id, betting, deal).seen_by(betting.player)
        betting = betting.act(seated[betting.player].act(seen))
    final = MatchState(hand_id, betting, deal)
    for position, agent in enumerate(seated):
        agent.observe(final.seen_by(position))
    return final


def state_hand(game: Game, seeds: Seeds, hand_id: int, seated: Sequence[Agent]) -> tuple[State, list[tuple[int, str]]]:
    """Play a hand on the states of any game: its last state, and all moves with who made them, CHANCE included."""
    chance = random.Random(_number((seeds.deal, hand_id), 4))  # the k-th event uses the k-th number
    state, moves = game.root(), []
    while state.player != TERMINAL:
        if state.player == CHANCE:
            outcomes = state.chance()
            move = chance.choices([move for move, _ in outcomes], [share for _, share in outcomes])[0]
            label = str(move)
        else:
            labels = {str(action): action for action in state.actions()}
            seen = Decision(hand_id, state.player, str(state.infoset()), tuple(labels))
            label = seated[state.player].act(seen)
            if label not in labels:
                raise GameError(f"{label!r} is not possible at {seen.infoset!r}; choose one of {list(labels)}")
            move = labels[label]
        moves.append((state.player, label))
        state = state.child(move)
    return state, moves
