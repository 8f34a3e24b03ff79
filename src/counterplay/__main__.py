"""``python -m counterplay`` and the command ``counterplay``."""

import sys

from counterplay.errors import MemoryLimitError
from counterplay.runtime.memory import check_address_limit


def run() -> int:
    """Run the command line; Ctrl-C while it is still being imported, and too little memory for it, are one line."""
    try:
        check_address_limit()
        from counterplay.cli.main import main
    except KeyboardInterrupt:
        print("counterplay: interrupted", file=sys.stderr)
        return 130
    except MemoryLimitError as error:
        print(f"counterplay: {error}", file=sys.stderr)
        return 2
    return main()


if __name__ == "__main__":
    sys.exit(run())
