"""Logs of random hands, made by the dealer's rules."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from counterplay.modelling.log_batches import LogBatches
from counterplay.poker.acpc.dealing import Deal, deals
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_log import HandRecord
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.rules import Betting

NAMES = ("Ann", "Bob", "Cy")


def random_records(
    rules: GameDefinition, hands: int, seed: int = 0, names: Sequence[str] = NAMES, actions: Sequence[str] | None = None
) -> list[HandRecord]:
    """Hands of players who take any action, but fold seldom; names rotate."""
    rng, names = random.Random(seed), list(names[: rules.players])
    found = []
    for number, deal in enumerate(itertools.islice(deals(rules, seed), hands)):
        betting = Betting.start(rules)
        while not betting.finished:
            legal = betting.legal_actions()
            legal = legal[1:] if legal[0] == "f" and rng.random() < 0.7 else legal
            betting = betting.act(rng.choice([one for one in legal if actions is None or one in actions]))
        shift = number % rules.players
        board = deal.board[: rules.board_ends[betting.round]]
        found.append(HandRecord.of(MatchState(number, betting, Deal(deal.hole, board)), names[shift:] + names[:shift]))
    return found


def random_lines(rules: GameDefinition, hands: int, seed: int = 0, names: Sequence[str] = NAMES) -> list[str]:
    """The lines of such hands."""
    return [record.text() for record in random_records(rules, hands, seed, names)]


@contextmanager
def slowly() -> Iterator[None]:
    """Every line is read by the parser that reads everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LogBatches, "fits", staticmethod(lambda *_: False))
        yield
