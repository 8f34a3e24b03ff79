"""Games that a verb cannot take: the message names the one to use, or what to do instead."""

from __future__ import annotations

import pytest

from counterplay.cli.main import main

MISUSE = 2

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "leduc"], "leduc has no hands and betting rounds that cards could be abstracted in; use "
                             "leduc_limit_2p, the same game from its definition"),
        (["build", "kuhn"], "use kuhn_limit_2p, the same game from its definition"),
        (["build", "leduc(ranks=4)"], "name a poker game such as leduc_limit_2p"),
        (["info", "holdem"], "there are several games 'holdem': choose one of holdem_2_1, holdem_2_4, "
                             "holdem_2_nolimit, holdem_4_1, holdem_4_2, holdem_limit_2p, holdem_limit_3p, "
                             "holdem_nolimit_2p, holdem_nolimit_3p; solve holdem --board ... solves a postflop spot"),
    ],
)  # fmt: skip
def test_other_games_are_named(words: list[str], message: str, capsys: Capture) -> None:
    assert main(words) == MISUSE
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("game", "bets"), [("holdem_limit_2p", ""), ("holdem_nolimit_2p", " --bets fcpa")])
def test_what_to_do_with_poker_that_is_too_large(game: str, bets: str, capsys: Capture) -> None:
    assert main(["solve", game, "--quiet"]) == MISUSE
    said = capsys.readouterr().err
    assert f"build an agent (counterplay build {game}{bets}), solve it in a card abstraction (--cards FILE)" in said
    assert "Therefore" not in said  # nothing is announced that is then refused


def test_refusals_count_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """35,888,449,446,577 actions with a regret and an average of four bytes each are 261.1 TiB, the tree is little."""
    for words in ([], ["--representation", "public"]):
        assert main(["solve", "holdem_limit_2p", "--memory-limit", "100GiB", *words]) == 2
        said = capsys.readouterr().err
        assert "cfr+ on the public tree of holdem_limit_2p needs about 261.3 TiB, but only 100.0 GiB may" in said
