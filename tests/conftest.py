"""What all tests start from."""

from __future__ import annotations

import signal

# A shell starts what it runs in the background with Ctrl-C ignored; tests that press it need Python's own handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
