"""Tournaments: round robins, in parallel, in a folder from which a killed tournament is resumed.

All pairs (or triples, by the number of seats) of the entries play a duplicate match (Gibson 2014, sections 4.4.3 and
8).  A match is split into pieces of some deals.  The result of a piece depends only on the seed and its position, and a
piece is recorded as a whole when it is done: after a crash the missing pieces are played, so nothing counts twice or is
lost, and the result is that of a tournament without a crash.  Matches with programs use the dealer, whose logs do the
same for their hands.

A folder holds ``tournament.json`` (what is played by whom, with fingerprints of the strategy files) and
``results.jsonl`` (a line for each piece, with the fingerprint of these settings).  One process at a time works in it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypedDict

from counterplay.agents.entries import Entry, make_entries
from counterplay.agents.external_programs import MatchAbortedError, Times, play_with_programs
from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import MatchResult, Seeds, play_piece, seatings_of
from counterplay.agents.ranking import Round, Scores, bankroll, run_off
from counterplay.errors import GameError
from counterplay.evaluation.matches.tally import Estimate, Tally
from counterplay.runtime.executors import job_executor
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.jobs import run_jobs
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.storage import lock_folder, write_text
from counterplay.trusted_code import check_stored

SETTINGS, RESULTS = "tournament.json", "results.jsonl"
PLAYING = "playing the tournament"


@dataclasses.dataclass(frozen=True)
class TournamentConfig:
    """A tournament to play.

    Attributes
    ----------
    entries : tuple of str
        The participants, as ``name=agent``.
    deals, piece : int
        Deals of each match, every one in all seatings, and deals that are played and recorded at a time.  Agents that
        learn are reset with each piece.
    shared_deals : bool
        Whether all matches are played with the same deals.
    times : Times
        Time limits of programs.
    """

    game: str
    entries: tuple[str, ...]
    deals: int
    seed: int = 0
    piece: int = 10_000
    shared_deals: bool = False
    times: Times = dataclasses.field(default_factory=Times)

    def __post_init__(self) -> None:
        for key in ("deals", "piece"):
            if getattr(self, key) < 1:
                raise GameError(f"{key} must be at least 1; got {getattr(self, key)}")
        check_seed(self.seed, GameError)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TournamentConfig:
        """From JSON."""
        return cls(**{**values, "entries": tuple(values["entries"]), "times": Times(**values["times"])})

    def made_entries(self) -> tuple[Entry, ...]:
        """The entries with their names."""
        return make_entries(list(self.entries))


@dataclasses.dataclass(frozen=True)
class Piece:
    """Some deals of a match: its number, the number of the piece in it, who plays, and which deals."""

    match: int
    number: int
    agents: tuple[int, ...]
    first: int
    deals: int


@dataclasses.dataclass(frozen=True)
class TournamentResult:
    """The results of a tournament, finished or not."""

    config: TournamentConfig
    names: tuple[str, ...]
    seats: int
    big_blind: float | None
    tallies: dict[tuple[int, ...], Tally]
    missing: int
    aborted: tuple[str, ...]

    @property
    def unit(self) -> str:
        """The unit of scores."""
        return "chips a hand" if self.big_blind is None else "mbb/g"

    @property
    def hands(self) -> int:
        """Hands played."""
        return sum(tally.deals for tally in self.tallies.values()) * len(seatings_of(self.seats))

    def match(self, agents: tuple[int, ...]) -> MatchResult:
        """One match of the tournament."""
        names = tuple(self.names[agent] for agent in agents)
        return MatchResult(self.config.game, names, len(seatings_of(self.seats)), self.tallies[agents], self.big_blind)

    def scores(self) -> Scores:
        """What each agent has won in each match, in the unit of the tournament."""
        factor = 1.0 if self.big_blind is None else 1000 / self.big_blind
        return {
            agents: [tally.estimate(seat).scaled(factor) for seat in range(self.seats)]
            for agents, tally in self.tallies.items()
        }

    def cross_table(self) -> dict[tuple[int, tuple[int, ...]], Estimate]:
        """What an agent has won from others: by the agent and those others."""
        return {
            (agent, tuple(other for other in agents if other != agent)): estimate
            for agents, row in self.scores().items()
            for agent, estimate in zip(agents, row, strict=True)
        }

    def bankroll(self) -> list[tuple[int, Estimate]]:
        """Total bankroll: the ranking by mean winnings, best first."""
        return bankroll(self.scores(), range(len(self.names)), self.config.shared_deals)

    def run_off(self) -> list[Round]:
        """The rounds of the instant run-off."""
        return run_off(self.scores(), range(len(self.names)), self.seats, self.config.shared_deals)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""

        def row(agent: int, estimate: Estimate) -> dict[str, Any]:
            score, half = estimate.as_json()
            return {"name": self.names[agent], "score": score, "score_95": half}

        return {
            "game": self.config.game, "entries": list(self.names), "deals": self.config.deals, "hands": self.hands,
            "unit": self.unit, "seed": self.config.seed, "missing": self.missing, "aborted": list(self.aborted),
            "cross_table": [
                {**row(agent, estimate), "against": [self.names[other] for other in others]}
                for (agent, others), estimate in self.cross_table().items()
            ],
            "bankroll": [row(agent, estimate) for agent, estimate in self.bankroll()],
            "run_off": [
                {
                    "table": [row(agent, estimate) for agent, estimate in step.table],
                    "leaving": [self.names[agent] for agent in step.leaving],
                }
                for step in self.run_off()
            ],
        }  # fmt: skip


class Tournament:
    """A tournament in a folder, which is created if missing; if it holds a tournament, it must be this one."""

    def __init__(self, folder: str | os.PathLike[str], config: TournamentConfig | None = None) -> None:
        self.folder = Path(folder)
        if os.path.isfile(self.folder / SETTINGS):  # which never change
            self._open(config)
            return
        if config is None:
            raise GameError(f"{self.folder} holds no tournament; say what is played by whom")
        with lock_folder(self.folder, PLAYING):
            self._open(config)

    def _open(self, config: TournamentConfig | None) -> None:
        """Read the settings in the folder; if there are none, the folder is locked and they are written."""
        kept = _read_settings(self.folder / SETTINGS)
        if kept is not None:
            if config is not None and config != kept[0]:
                raise GameError(f"{self.folder} holds another tournament; use another folder, or its settings")
            if config is None:
                for name in (kept[0].game, *kept[0].entries):
                    check_stored(name, self.folder / SETTINGS)
            config = kept[0]
        assert config is not None
        self.config = config
        self.played = open_match_game(config.game)
        self.entries = config.made_entries()
        if len(self.entries) < self.played.players:
            raise GameError(f"{config.game} is played by {self.played.players}; got {len(self.entries)} entries")
        for entry in self.entries:
            entry.check(self.played)
        prints = _fingerprints(self.entries)
        if kept is not None and prints != kept[1]:
            changed = [name for name in prints if prints[name] != kept[1].get(name)]
            raise GameError(f"the strategy of {', '.join(changed)} has changed since the tournament began")
        text = json.dumps({"tournament": dataclasses.asdict(config), "fingerprints": prints}, indent=1) + "\n"
        self.fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
        if kept is None:
            write_text(self.folder / SETTINGS, text)

    def pieces(self) -> Iterator[Piece]:
        """All pieces of all matches, match by match."""
        groups = itertools.combinations(range(len(self.entries)), self.played.players)
        for number, agents in enumerate(groups):
            whole = any(self.entries[agent].program is not None for agent in agents)
            size = self.config.deals if whole else self.config.piece
            for place, first in enumerate(range(0, self.config.deals, size)):
                yield Piece(number, place, agents, first, min(size, self.config.deals - first))

    def run(self, workers: int = 1, progress: ProgressCallback | None = None) -> TournamentResult:
        """Play the missing pieces, by the ``job_executor`` of so many workers; ``progress`` is called after each."""
        if workers < 1:
            raise GameError(f"a tournament needs at least 1 worker; got {workers}")
        with lock_folder(self.folder, PLAYING), _results_file(self.folder / RESULTS) as file:
            done = {key for key, entry in self._results(repair=True) if "aborted" not in entry}
            pieces = list(self.pieces())
            todo = [piece for piece in pieces if (piece.match, piece.number) not in done]
            done_before = len(pieces) - len(todo)
            kept = 0

            def keep(piece: Piece, entry: dict[str, Any]) -> None:
                nonlocal kept
                whose = {"settings": self.fingerprint, "match": piece.match, "piece": piece.number}
                _append(file, {**whose, **entry})
                kept += 1

            def report() -> None:
                if progress is not None:
                    progress(Progress(done_before + kept, total=len(pieces)))

            play = functools.partial(_play, self.config, str(self.folder))
            if todo:
                with job_executor(workers if len(todo) > 1 else 1) as executor:
                    run_jobs(play, todo, executor, keep, report)
        return self.result()

    def _results(self, repair: bool = False) -> list[tuple[tuple[int, int], dict[str, Any]]]:
        """The recorded pieces of this tournament."""
        found = _read_results(self.folder / RESULTS, repair)
        for line, (_, entry) in enumerate(found, 1):
            if entry.get("settings") != self.fingerprint:
                raise GameError(
                    f"{self.folder / RESULTS}, line {line} was played with other settings than those in {SETTINGS}, or "
                    "by an older counterplay; play in another folder"
                )
        return found

    def result(self) -> TournamentResult:
        """The results so far."""
        found: dict[tuple[int, int], Tally] = {}
        aborted: dict[tuple[int, int], str] = {}
        for key, entry in self._results():
            if "aborted" in entry:
                aborted[key] = str(entry["aborted"])
                continue
            if key in found:
                raise GameError(f"{self.folder / RESULTS} holds piece {key[1]} of match {key[0]} twice")
            found[key] = Tally.from_dict(entry)
            aborted.pop(key, None)
        tallies: dict[tuple[int, ...], Tally] = {}
        missing = 0
        for piece in self.pieces():
            tally = found.get((piece.match, piece.number))
            if tally is None:
                missing += 1
            else:
                tallies[piece.agents] = tallies.get(piece.agents, Tally.empty(self.played.players)) + tally
        names = tuple(entry.name for entry in self.entries)
        return TournamentResult(
            self.config, names, self.played.players, self.played.big_blind, tallies, missing, tuple(aborted.values())
        )


def _play(config: TournamentConfig, folder: str, piece: Piece) -> dict[str, Any]:
    """Play a piece; runs in a worker."""
    played = open_match_game(config.game)
    entries = [config.made_entries()[agent] for agent in piece.agents]
    shared = (config.seed, piece.number) if config.shared_deals else None
    seeds = Seeds.of(config.seed, piece.number, piece.match, shared=shared)
    if all(entry.program is None for entry in entries):
        return play_piece(played, entries, seeds, piece.first, piece.deals).to_dict()
    label = "-".join(entry.name.replace("/", "-") for entry in entries)
    try:
        return play_with_programs(
            played, entries, piece.deals, seeds.deal, Path(folder), f"match{piece.match}.{label}", config.times
        ).to_dict()
    except MatchAbortedError as error:
        return {"aborted": str(error)}


# ---------------------------------------------------------------------------------------------- files


def _fingerprints(entries: Sequence[Entry]) -> dict[str, str]:
    """Fingerprints of the strategies, by the names of the entries."""
    prints = {}
    for entry in entries:
        if entry.files:
            prints[entry.name] = hashlib.sha256(b"".join(path.read_bytes() for path in entry.files)).hexdigest()
    return prints


class SettingsFile(TypedDict):
    """What ``tournament.json`` holds."""

    tournament: TournamentConfig
    fingerprints: dict[str, str]


def _read_settings(path: Path) -> tuple[TournamentConfig, dict[str, str]] | None:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        check_header(path, values, SettingsFile)
        return TournamentConfig.from_dict(values["tournament"]), dict(values["fingerprints"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise GameError(f"{path} cannot be read as a tournament: {error}") from None


@contextlib.contextmanager
def _results_file(path: Path) -> Iterator[IO[str]]:
    """The file of results."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise GameError(f"cannot write {path}: {error.strerror or error}") from None


def _append(file: IO[str], entry: dict[str, Any]) -> None:
    file.write(json.dumps(entry) + "\n")
    file.flush()
    os.fsync(file.fileno())


def _read_results(path: Path, repair: bool = False) -> list[tuple[tuple[int, int], dict[str, Any]]]:
    """The recorded pieces; a last line truncated by a crash is dropped."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    whole = text[: text.rfind(b"\n") + 1]
    if repair and len(whole) < len(text):
        os.truncate(path, len(whole))
    found = []
    for number, line in enumerate(whole.decode("utf-8", "replace").splitlines(), 1):
        try:
            entry = json.loads(line)
            found.append(((int(entry["match"]), int(entry["piece"])), entry))
            if "aborted" not in entry:
                Tally.from_dict(entry)
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
            raise GameError(f"{path}, line {number} is damaged: {error}") from None
    return found
