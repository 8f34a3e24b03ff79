"""``python -m torture.cluster_driver WORDS``: a command, with small blocks, short heartbeats and many checkpoints."""

from __future__ import annotations

import sys

from counterplay.cli.main import main
from counterplay.runs import run
from counterplay.solvers.streamed import ray_workers
from counterplay.solvers.streamed.streamed_cfr import StreamedSolver

BLOCK_ENTRIES, HEARTBEAT_SECONDS, START_SECONDS, CHECKPOINT_SECONDS = 20_000, 3.0, 30.0, 0.5

if __name__ == "__main__":
    StreamedSolver.block_entries = BLOCK_ENTRIES
    ray_workers.HEARTBEAT_SECONDS = HEARTBEAT_SECONDS
    ray_workers.START_SECONDS = START_SECONDS
    run.CHECKPOINT_SECONDS = CHECKPOINT_SECONDS
    sys.exit(main())
