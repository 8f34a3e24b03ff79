"""Connecting to a Ray cluster: one that is started on this machine, or one that runs.

Ray (Moritz et al. 2018) starts the processes, moves what they are given, and notices when one is gone.  What it reports
about the cluster itself is put into our words here.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import counterplay
from counterplay.errors import ClusterError
from counterplay.runtime.signals import STOPPING
from counterplay.runtime.threads import available_cores
from counterplay.trusted_code import trust_names, trusted_names

LOCAL, RUNNING = "local", "auto"
"""A cluster that is started on this machine, and the one that was started here last."""

OBJECT_STORE = 256 << 20
"""Bytes that a local cluster may keep for its processes; it takes them as they are needed."""

ANSWER_SECONDS, PROBE_SECONDS = 10.0, 90.0
"""How long the head of a cluster, and each of its machines, may take to answer."""

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing about the user is sent anywhere
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # workers start as they are, also below ``uv run``
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a future default, about which it warns
}
"""What Ray reads from the environment where the user has set nothing."""


TOKEN, TOKEN_MODE = Path(".ray") / "auth_token", "RAY_AUTH_MODE"
"""Where Ray keeps the token by which the machines of a cluster know each other, below the user's home folder."""


def import_ray() -> Any:
    """The module."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(RuntimeError):  # no home folder
        if "ray" not in sys.modules and (Path.home() / TOKEN).is_file():  # it is read when Ray is imported
            os.environ.setdefault(TOKEN_MODE, "token")  # as `ray start` does
    try:
        import ray
    except ImportError as error:
        raise ClusterError(
            f'clusters need Ray, which cannot be imported ({error}); pip install "counterplay[cluster]"'
        ) from None
    return ray


class Setting(NamedTuple):
    """What workers share with the process that they work for."""

    trusted: tuple[str, ...]
    path: tuple[str, ...]  # where Python looks for modules, if they are on the same machine

    def adopt(self) -> None:
        """Do as that process does."""
        trust_names(self.trusted)
        sys.path += [place for place in self.path if place not in sys.path]


class Cluster:
    """A connection to a cluster, until ``close``; one that this process already has is used, and kept.

    Parameters
    ----------
    address : str
        See ``executors.on_cluster``.
    workers : int, optional
        Most workers; by default one for each core.

    Raises
    ------
    ClusterError
        If there is no such cluster, or its machines have other versions.
    """

    def __init__(self, address: str, workers: int | None = None) -> None:
        self.address, self.local = address, address == LOCAL
        self.ray = ray = import_ray()
        self._own = not ray.is_initialized()
        if self._own:
            with _handlers_kept():
                self._connect(workers)
        try:
            if not self.local:
                self._check_machines()
            cores = int(ray.cluster_resources().get("CPU", 0))
            if cores < 1:
                raise ClusterError(f"the cluster at {address} has no cores for jobs; start Ray on other machines too")
        except BaseException:
            self.close()
            raise
        self.most = workers

    @property
    def workers(self) -> int:
        """Number of jobs at a time now; machines may come and go."""
        cores = max(1, int(self.ray.cluster_resources().get("CPU", 0)))
        return cores if self.most is None else min(cores, self.most)

    def setting(self) -> Setting:
        """What workers need to know of this process now."""
        return Setting(trusted_names(), tuple(sys.path) if self.local else ())

    def put(self, value: Any) -> Any:
        """Give something to the cluster once, for ``get`` in its processes."""
        return self.ray.put(self.ray.cloudpickle.dumps(value))

    def close(self) -> None:
        """Leave the cluster; a local one ends."""
        if self._own:
            with _handlers_kept():
                self.ray.shutdown()

    def _connect(self, workers: int | None) -> None:
        _say_nothing()
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.local:
            cores = workers or available_cores()
            self.ray.init(
                address=LOCAL, num_cpus=cores, include_dashboard=False, object_store_memory=OBJECT_STORE, **quiet
            )
            return
        _check_answer(self.address)
        try:
            self.ray.init(address=self.address, **quiet)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise ClusterError(_refusal(self.address, str(error))) from None

    def _check_machines(self) -> None:
        """Compare the versions of all machines with those here."""
        ray = self.ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        def probe() -> tuple[str, str | None]:
            """Runs on a machine that may not have counterplay: everything it needs is inside."""
            import platform

            try:
                import counterplay

                return platform.python_version(), counterplay.__version__
            except ImportError:
                return platform.python_version(), None

        machines = {node["NodeID"]: node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
        ask = ray.remote(num_cpus=0, max_retries=0)(probe)
        asked = {ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(name, soft=False)).remote(): machine
                 for name, machine in machines.items()}  # fmt: skip
        answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=PROBE_SECONDS)
        if silent:
            raise ClusterError(
                f"no answer from {asked[silent[0]]}, a machine of the cluster at {self.address}, within "
                f"{PROBE_SECONDS:.0f} s; `ray status` shows what it does"
            )
        for reference in answered:
            try:
                found = ray.get(reference)
            except ray.exceptions.RayError as error:
                raise ClusterError(f"{asked[reference]} of the cluster does no work: {first_line(error)}") from None
            check_versions(asked[reference], found)


def get(reference: Any) -> Any:
    """What was ``put``, in a worker.

    Ray itself would share the memory of arrays, which nobody may change then; kernels are compiled for those that may
    be changed.
    """
    ray = import_ray()
    return ray.cloudpickle.loads(ray.get(reference))


def check_versions(machine: str, found: tuple[str, str | None]) -> None:
    """Refuse a machine whose versions of Python and counterplay are not those of this process."""
    python, version = found
    here = platform.python_version()
    if version is None:
        raise ClusterError(
            f"{machine} of the cluster has no counterplay; install {counterplay.__version__} there, in the "
            "environment in which Ray was started"
        )
    if (python, version) != (here, counterplay.__version__):
        raise ClusterError(
            f"{machine} of the cluster has counterplay {version} with Python {python}, this machine has "
            f"{counterplay.__version__} with {here}; install the same on all"
        )


def _say_nothing() -> None:
    """Keep Ray from printing on standard output that a worker has died, which is mended or reported by us."""
    with contextlib.suppress(ImportError, AttributeError):
        from ray._private import worker

        if worker.print_to_stdstream is not None:
            worker.print_to_stdstream = lambda *_, **__: None


def _check_answer(address: str) -> None:
    """Refuse an address at which nobody listens, before Ray tries it for a minute."""
    if address == RUNNING:
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        raise ClusterError(
            f"a cluster is {LOCAL}, {RUNNING} or HOST:PORT, as `ray start --head` prints it (192.168.0.1:6379); got "
            f"{address!r}"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(_refusal(address, str(error))) from None


def _refusal(address: str, reason: str) -> str:
    reason = " ".join(reason.split()).replace("\x1b", "")
    if "ersion mismatch" in reason:
        return f"the cluster at {address} has other versions: {reason}; install the same on all machines"
    how = f"`ray start --head` on one machine and `ray start --address={address}` on the others, this one too"
    return f"there is no Ray cluster at {address} that this machine belongs to ({reason}); start it with {how}"


def first_line(error: BaseException) -> str:
    """What an error of Ray says first."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    """Keep the handlers of signals, of which Ray changes some; its processes outlive the terminal until we end them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Mapping[int, Any] = {number: signal.getsignal(number) for number in STOPPING}
    hangup = getattr(signal, "SIGHUP", None)
    try:
        if hangup is not None:
            signal.signal(hangup, signal.SIG_IGN)  # which new processes inherit
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
