"""``python -m counterplay``."""

import sys

from counterplay.cli.main import main

sys.exit(main())
