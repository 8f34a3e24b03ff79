"""``counterplay stitch``: a base strategy and experts for parts of the betting as one strategy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable, print_json, say, say_next, table
from counterplay.errors import StrategyError

Base = Annotated[Path, typer.Argument(metavar="BASE", help="The strategy that is played outside the parts.")]
Experts = Annotated[
    list[str] | None,
    typer.Option(
        "--expert",
        metavar="PART=FILE",
        help="What is played after some betting: rf=FILE, f,crf=FILE, kk/b@1=FILE (player 1 alone).  Can be repeated.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Write the strategy to this file.")]


def command(base: Base, out: Out, experts: Experts = None, as_json: o.AsJson = False) -> int:
    """Stitch a base strategy and experts into one strategy, which plays in each part what its expert plays.

    counterplay stitch base.strategy --expert "rf=heads-up.strategy" --expert "f=other.strategy" --out agent.strategy

    The result is a strategy like any other: it is shown, evaluated, played and matched.  Experts are strategies of the
    whole game, as counterplay solve --part makes them; by buckets each may have its own card abstraction.
    """
    from counterplay.strategy import load_strategy, stitch

    check_writable(out, replaced=True)
    pairs = [_pair(text) for text in experts or []]
    if not pairs:
        raise StrategyError("name at least one expert: --expert rf=FILE")
    for number, (part, _) in enumerate(pairs):
        if part in [known for known, _ in pairs[:number]]:
            raise StrategyError(f"the part {part!r} has two experts; leave one of them out")
    for file in (str(base), *(file for _, file in pairs)):
        if Path(file).exists() and out.exists() and out.samefile(file):
            raise StrategyError(f"--out {out} is the file of the base or of an expert; write to another one")
    files = {part: load_strategy(file) for part, file in pairs}
    found = stitch(load_strategy(base), files)
    found.save(out)
    if as_json:
        print_json({
            "game": found.game, "base": str(base), "experts": dict(pairs), "information_sets": found.num_infosets,
            "profile": str(out),
        })  # fmt: skip
        return 0
    say(f"{found.game}: {base} with {len(pairs)} {'expert' if len(pairs) == 1 else 'experts'}")
    table([
        *((f"after {part}", file) for part, file in pairs),
        ("information sets", f"{found.num_infosets:,}"), ("strategy", str(out)),
    ])  # fmt: skip
    name = shlex.quote(str(out))
    say_next(
        (f"counterplay evaluate {name}", "measure it"),
        (f"counterplay show {name}", "see what it plays"),
        (f"counterplay match {name} {shlex.quote(str(base))}", "let it play against its base"),
    )
    return 0


def _pair(text: str) -> tuple[str, str]:
    """The part and the file of an expert."""
    part, equals, file = text.partition("=")
    if not equals or not part.strip() or not file.strip():
        raise StrategyError(f"--expert takes PART=FILE, such as rf=expert.strategy; got {text!r}")
    return part.strip(), file.strip()
