"""No parameter of a game makes it hang or fill the memory: absurd ones are refused, and the largest are estimated."""

from __future__ import annotations

import dataclasses
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator

import counterplay as cp
from counterplay.errors import CounterplayError
from counterplay.game.registry import games

ABSURD = 2999999999999999999991
SECONDS = 60


def specs() -> Iterator[str]:
    """Every game with an absurd and with the largest value of every number that is a parameter."""
    for entry in games():
        fields = {field.name: field for field in dataclasses.fields(type(cp.make(entry.name)))}  # type: ignore[arg-type]
        for one in entry.parameters:
            if one.type is not int:
                continue
            most = fields[one.name].metadata.get("most")
            for value in (ABSURD, -ABSURD, *([] if most is None else [most])):
                yield f"{entry.name}({one.name}={value})"


def attempts(skip: int) -> None:
    """What the child does."""
    room = 8 << 30
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    for number, spec in enumerate(specs()):
        if number < skip:
            continue
        print(json.dumps([number, spec]), flush=True)
        signal.alarm(SECONDS)
        try:
            cp.game_forms(spec, memory_limit=5_000_000)
            found = "ok"
        except CounterplayError as error:
            found = f"refused: {error}"
        signal.alarm(0)
        print(json.dumps([number, spec, found]), flush=True)


def test_absurd_parameters() -> None:
    command = [sys.executable, "-m", "tests.games.test_absurd_parameters", "0"]
    child = subprocess.run(command, capture_output=True, text=True)
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    assert child.returncode == 0, (lines[-1], child.stderr[-800:])
    found = {spec: result for _, spec, result in (line for line in lines if len(line) == 3)}
    assert len(found) == len(list(specs()))
    for spec, result in found.items():
        if str(-ABSURD) in spec:
            assert result.startswith("refused: "), spec
    assert "d1 must be at most 20" in found[f"bluff(d1={ABSURD})"]


if __name__ == "__main__":
    attempts(int(sys.argv[1]))
