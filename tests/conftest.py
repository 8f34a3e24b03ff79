"""What all tests start from."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A shell starts what it runs in the background with Ctrl-C ignored, nohup ignores SIGHUP, and children inherit both;
# tests that send these signals need Python's own handlers.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(_number, signal.SIG_DFL)

# The same examples in every run, so that a change is judged by what it changed; COUNTERPLAY_FUZZ draws new ones.
settings.register_profile("counterplay", derandomize="COUNTERPLAY_FUZZ" not in os.environ)
settings.load_profile("counterplay")


@pytest.fixture(scope="session", autouse=True)
def unsynchronised() -> Iterator[None]:
    """Nobody pulls the plug during a test: files are not waited for until they are on the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        yield


@pytest.fixture(autouse=True)
def compiled_silently(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed does not depend on whether a test is the first to need a kernel."""
    main = sys.modules.get("counterplay.cli.main")
    if main is not None and request.path.name != "test_cold_start.py":
        monkeypatch.setattr(main, "_announcement", lambda _words: lambda _now: None)


@pytest.fixture(scope="session")
def two_workers() -> Iterator[None]:
    """Ray on this machine with two workers, which takes seconds to start: whatever names a local cluster uses it."""
    pytest.importorskip("ray", reason="the extra cluster is not installed")
    from counterplay.runtime.ray_cluster import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Ray leaves its log files open
        made = Cluster("local", 2)
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        made.close()
