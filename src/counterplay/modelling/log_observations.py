"""``observe``: counts of what an opponent did, from logged hands.

Johanson 2016, section 6.3.3, which has logs with all cards.  Hands without the opponent's cards are read too: the
decisions in them are counted as unseen.  Models from such logs are biased, for cards are shown at showdowns only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import numpy as np

from counterplay.errors import GameError
from counterplay.modelling.hand_counts import HandCounter, Tally
from counterplay.modelling.log_batches import LogBatches
from counterplay.modelling.observations import NAMED, Form, Observations
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.log_files import AnyPath, LogFile, check_names, is_hand, line_text, log_files
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.suggestions import did_you_mean, suggest_arguments

BROKEN = ("refuse", "skip")
"""What may be done with broken hands."""

REMEMBERED = 1 << 16
"""Lines of small games whose counts are kept: most hands occur again and again."""


@suggest_arguments
def observe(
    logs: AnyPath | Sequence[AnyPath], against: str | Sequence[str], form: Form, broken: str = "refuse",
    progress: ProgressCallback | None = None,
) -> Observations:  # fmt: skip
    """Count what an opponent did in logged hands, in all seats.

    Parameters
    ----------
    logs : path or sequence of paths
        Logs of the competition, or hand histories (``.phh``, ``.phhs``).
    against : str or sequence of str
        The name of the opponent in the logs; of several, all together are the opponent.
    form : GameTree or BucketGame
        The game, as ``open_game`` opens it: the counts are laid out as its tables.
    broken : {"refuse", "skip"}
        What to do with a hand that is broken, or of another game: raise an error that names it, or leave it out.
        A file with more broken hands than others is refused in any case.
    progress : callable, optional
        Called with a ``Progress`` after some hands.

    Raises
    ------
    GameError
        Before hands are counted, if a file cannot be read, is of another game or without hands, or nobody in the logs
        has such a name; later, if a hand is broken.
    """
    names = _names(against)
    if broken not in BROKEN:
        raise GameError(f"broken hands are refused or skipped; got {broken!r}, {did_you_mean(str(broken), BROKEN)}")
    files = log_files(logs)
    count = _LogCount(form, names, broken == "skip")
    for file in files:
        count.check(file)
    if count.skipped == len(files):
        raise GameError(f"there is no hand in the logs: {count.broken[0]}")
    check_names(files, names)
    started, total, done = time.perf_counter(), sum(os.path.getsize(file.path) for file in files), 0
    for file in files:
        for size in count.steps(file):
            done += size
            if progress is not None:
                spent = time.perf_counter() - started
                left = spent * max(total - done, 0) / max(done, 1)
                progress(Progress(count.valid, spent, seconds_left=left, stage="hands"))
    return count.observations()


def _names(against: str | Sequence[str]) -> list[str]:
    names = [against] if isinstance(against, str) else list(against)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise GameError(f"the opponent is a name in the logs, or several; got {against!r}")
    return list(dict.fromkeys(names))


class _LogCount:
    """Counts of several files."""

    def __init__(self, form: Form, names: list[str], skip: bool) -> None:
        self.form, self.names, self.skip = form, names, skip
        self.hands = HandCounter(form, names)
        self.counts = np.zeros(form.num_entries, np.int64)
        self.valid = self.played = self.unseen = self.diverged = self.skipped = 0
        self.broken: list[str] = []
        fast = isinstance(form, BucketGame) and LogBatches.fits(form, names)
        self._batches = LogBatches(form, names, self.counts) if fast else None  # type: ignore[arg-type]
        self._known: dict[str, Tally] = {}

    def observations(self) -> Observations:
        """What was found in all files."""
        return Observations(
            self.form, self.counts, ", ".join(self.names), self.played, self.unseen, self.diverged, self.skipped,
            tuple(self.broken),
        )  # fmt: skip

    def check(self, file: LogFile) -> None:
        """Refuse a file of another game, or without hands."""
        file.check(self.hands.rules, self.form.name)
        if not file.first():
            self._complain(f"{file.path} holds no hands")

    def steps(self, file: LogFile) -> Iterator[int]:
        """Count a file; after each part, its bytes."""
        before, named = (self.valid, self.skipped), len(self.broken)
        if file.phh:
            for number, text in file.hands():
                self._add(file, number, text)
                yield len(text)
        else:
            number = 0
            for block in file.blocks():
                number += self._block(file, block, number)
                yield len(block)
        valid, skipped = self.valid - before[0], self.skipped - before[1]
        if skipped > valid:
            first = f"; {self.broken[named]}" if named < len(self.broken) else ""
            raise GameError(f"{skipped:,} of {valid + skipped:,} hands in {file.path} are broken{first}")

    def _block(self, file: LogFile, block: bytes, number: int) -> int:
        """Count some lines; how many they are."""
        if self._batches is None:
            lines = block.split(b"\n")[:-1]
            size, left = len(lines), list(enumerate(lines))
        else:
            size, valid, played, unseen, left = self._batches.count(block)
            self.valid, self.played, self.unseen = self.valid + valid, self.played + played, self.unseen + unseen
        for line, raw in left:
            if is_hand(raw):
                self._add(file, number + line + 1, line_text(raw))
        return size

    def _add(self, file: LogFile, number: int, text: str) -> None:
        """Count one hand, or complain about it."""
        try:
            found = self._tally(file, text)
        except (GameError, ValueError) as error:
            self._complain(f"{file.path}, line {number}: {error}")
            return
        self.valid += 1
        self.played += found.hands
        self.unseen += found.unseen
        self.diverged += found.diverged
        for entry in found.entries:
            self.counts[entry] += 1

    def _tally(self, file: LogFile, text: str) -> Tally:
        """What a hand adds; hands that differ in nothing but their number add the same."""
        start, _, rest = text.partition(":")
        number, _, rest = rest.partition(":")
        plain = start == "STATE" and number.isascii() and number.isdigit() and len(number) < 16
        if not plain or isinstance(self.form, BucketGame):
            return self.hands.tally(*file.played(self.hands.rules, text))
        found = self._known.get(rest)
        if found is None:
            found = self.hands.tally(*file.played(self.hands.rules, text))
            if len(self._known) < REMEMBERED:
                self._known[rest] = found
        return found

    def _complain(self, problem: str) -> None:
        if not self.skip:
            raise GameError(problem)
        self.skipped += 1
        if len(self.broken) < NAMED:
            self.broken.append(problem)
