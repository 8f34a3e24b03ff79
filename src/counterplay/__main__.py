"""``python -m counterplay`` and the command ``counterplay``."""

import sys


def run() -> int:
    """Run the command line; Ctrl-C while it is still being imported ends it in one line."""
    try:
        from counterplay.cli.main import main
    except KeyboardInterrupt:
        print("counterplay: interrupted", file=sys.stderr)
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
