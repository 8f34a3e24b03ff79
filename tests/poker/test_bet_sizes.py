"""Bet sizes as text, and the chips that they stand for."""

from __future__ import annotations

import pytest

from counterplay.errors import GameError
from counterplay.poker.postflop.bet_sizes import BetSize, bet_amount, parse_sizes


def test_every_form() -> None:
    (flop, _, _), _ = parse_sizes("70%, 2.5x, 100c, 20c3r, e, 2e, 3e200%, a, allin", "raises", raises=True)
    assert flop == (
        BetSize("pot", 0.7), BetSize("previous", 2.5), BetSize("chips", 100.0), BetSize("chips", 20.0, 3),
        BetSize("geometric"), BetSize("geometric", count=2), BetSize("geometric", 2.0, 3), BetSize("allin"),
        BetSize("allin"),
    )  # fmt: skip


def test_clauses_by_street_and_player() -> None:
    half, pot, third, all_in = BetSize("pot", 0.5), BetSize("pot", 1.0), BetSize("pot", 0.33), BetSize("allin")
    oop, ip = parse_sizes("flop=50%;turn=100%,a;ip.turn=33%;river=none", "bets")
    assert oop == ((half,), (pot, all_in), ())
    assert ip == ((half,), (third,), ())
    assert parse_sizes("50%;ip=a", "bets") == (((half,),) * 3, ((all_in,),) * 3)
    assert parse_sizes("", "bets") == (((),) * 3,) * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0%", "must be positive"), ("0c", "must be positive"), ("50", "'50'"), ("2x", "use it for raises"),
        ("preflop=50%", "clause"),
        ("0e", "must be positive"), ("50%,-1c", "'-1c'"), ("3e0%", "must be positive"), ("big", "'big'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text: str, words: str) -> None:
    with pytest.raises(GameError, match=words):
        parse_sizes(text, "bets")


def test_a_raise_to_less_than_the_bet_is_refused() -> None:
    with pytest.raises(GameError, match="above the previous bet"):
        parse_sizes("0.5x", "raises", raises=True)


def test_amounts() -> None:
    """Pot 100 with a bet of 30 called: 160."""
    assert bet_amount(BetSize("pot", 0.5), 160, 30, 170, 3, 1) == 30 + 80
    assert bet_amount(BetSize("previous", 3.0), 160, 30, 170, 3, 1) == 90
    assert bet_amount(BetSize("chips", 20.0), 160, 30, 170, 3, 1) == 50
    assert bet_amount(BetSize("allin"), 160, 30, 170, 3, 1) == 200
    assert [bet_amount(BetSize("chips", 20.0, 3), 160, 30, 170, 3, raises) for raises in (3, 4)] == [50, None]


@pytest.mark.parametrize("streets", [1, 2, 3])
def test_geometric_bets_end_all_in(streets: int) -> None:
    """The same share of the pot on every street leaves nothing behind after the last."""
    pot, stack = 60.0, 210.0
    for left in range(streets, 0, -1):
        bet = bet_amount(BetSize("geometric"), pot, 0.0, stack, left, 0)
        assert bet is not None
        pot, stack = pot + 2 * bet, stack - bet
    assert stack == pytest.approx(0.0, abs=1e-9)
    assert bet_amount(BetSize("geometric", 0.1), 60.0, 0.0, 210.0, streets, 0) == pytest.approx(6.0)
