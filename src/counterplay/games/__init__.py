"""The built-in games, one file each; the registry imports every module of this package.

The package itself can be called: ``counterplay.games()`` lists the games.
"""

from __future__ import annotations

from counterplay.game.registry import games
from counterplay.runtime.lazy import callable_package

callable_package(__name__, games)
