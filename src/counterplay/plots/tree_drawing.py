"""Pictures of small games: the tree with its information sets, as SVG, PNG or PDF.

Textbook conventions: a shape and a colour for each player, action labels on edges, chance probabilities as
fractions, payoffs under the leaves in the players' colours, information sets as dashed envelopes and curves.  Lengths
are in inches, so that text measured before the layout has the same size in the picture.  Matplotlib is imported when a
picture is drawn, and without its global state.

With a strategy, edges carry the probabilities of actions, and the width of an edge shows how often play takes it.
"""

from __future__ import annotations

import dataclasses
import math
import os
import warnings
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.figures import player_values
from counterplay.evaluation.history_values import history_values
from counterplay.evaluation.infoset_rows import tree_entries
from counterplay.forms import open_game
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.plots import TREE_FORMATS
from counterplay.plots.tree_layout import Joint, Layout, Link, find_joints, find_links, lay_out, place_lanes
from counterplay.runtime.number_text import figure
from counterplay.strategy.files import load_strategy
from counterplay.strategy.strategy import Strategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.history.sizes import estimate_size

COLOURS = ("#1f5fa8", "#c4501b", "#2c7d3f", "#7b3f9c", "#8a6d00", "#0f7f86", "#a8326e", "#555555")
MARKERS = ("o", "s", "^", "p", "h", "8", "v", "P")
GREY = "#707070"

NODE = 0.13  # half the size of a decision
DOT = 2 * 72 * NODE - 3  # its marker, points
TITLE_SIZE, LABEL_SIZE, NAME_SIZE, PAYOFF_SIZE = 11.0, 8.0, 7.5, 8.0  # points
LINE = 0.15  # from one line of text to the next
GAP = 0.14
LANE = 0.21
LEVEL = 0.7  # least height of the slanted part of an edge
SLANT = 0.07  # height of that part for each inch of the widest fan
ALONG = 0.68  # where on it the label of an action is
MARGIN = 0.25
DASHES = (0, (4, 2))
DOTS = (0, (1, 2))
PLAIN, THIN, THICK = 0.8, 0.4, 6.0  # points: an edge without a strategy; with one, the rarest and the surest edge
REACHED = "thick edges: play often gets there; dotted edges: never"
PAPER = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
LONGEST = 28  # characters of a label before it is cut
ROUGHLY = 50  # an estimate this many times over the limit is refused without compiling


@dataclasses.dataclass(frozen=True)
class Picture:
    """What was drawn: where it is, how large (inches), and what is in it."""

    path: Path
    game: str
    width: float
    height: float
    histories: int
    information_sets: int
    value: tuple[float, ...] | None = None
    """What each player expects to win when everybody plays the strategy; None without a strategy."""


def draw(
    game: Game | GameTree | str,
    path: str | Path,
    *,
    strategy: Strategy | str | os.PathLike[str] | None = None,
    player: int | None = None,
    max_histories: int = 300,
) -> Picture:
    """Draw a small game.

    Parameters
    ----------
    game : Game, GameTree or str
        A game, its name, or its compiled tree.
    path : str or Path
        The picture to write; its extension is the format (.svg, .png, .pdf).
    strategy : Strategy or path, optional
        Draw what it plays: the probability of each action, and edges as thick as play often gets there.
    player : int, optional
        Show the information sets of this player (from 0) only.
    max_histories : int
        Games with more histories are refused.

    Raises
    ------
    GameError
        If the game is too large, the extension is unknown or the file cannot be written.
    StrategyError
        If the strategy is of another game.
    """
    path = Path(path)
    if path.suffix.lower() not in TREE_FORMATS:
        raise GameError(f"a drawing is written as {', '.join(TREE_FORMATS)}; got {str(path)!r}")
    if max_histories < 1:
        raise GameError(f"max_histories must be at least 1; got {max_histories}")
    tree = game if isinstance(game, GameTree) else _compile_small(open_game(game, "states"), max_histories)
    if tree.num_histories > max_histories:
        raise _too_large(tree.name, f"{tree.num_histories:,}", max_histories)
    if player is not None and not 0 <= player < tree.players:
        raise GameError(f"{tree.name} has players 1 to {tree.players}; there is no player {player + 1} to draw")
    play = None if strategy is None else _played(strategy, tree)
    plan = _Plan(tree, player, play)
    _Painter(plan).save(path)
    sets = tree.num_infosets if player is None else len(tree.infosets_of(player))
    value = None if play is None else play.value
    return Picture(path, tree.name, plan.width, plan.height, tree.num_histories, sets, value)


@dataclasses.dataclass(frozen=True)
class _Play:
    """What a strategy does in a tree: the probability of the move into each history, and of the history itself."""

    title: str
    move: NDArray[np.float64]
    reach: NDArray[np.float64]
    value: tuple[float, ...]


def _played(strategy: Strategy | str | os.PathLike[str], tree: GameTree) -> _Play:
    strategy = strategy if isinstance(strategy, Strategy) else load_strategy(strategy)
    entries, _ = tree_entries(strategy, tree)
    entry, reach, value = history_values(tree, entries)
    move = np.where(entry == NULL, tree.chance_prob, entries[entry])
    return _Play(str(strategy.provenance), move, reach.prod(axis=1), tuple(value[0].tolist()))


def _compile_small(game: Game, max_histories: int) -> GameTree:
    """Compile a game unless random playouts show that it is far too large to draw."""
    try:
        estimate = estimate_size(game, max_depth=1000)
    except Exception:
        return open_game(game, "history")  # raises the same error and can say where
    if estimate.ended and estimate.histories > ROUGHLY * max_histories:
        raise _too_large(game.spec(), f"about {figure(estimate.histories, 2)}", max_histories)
    return open_game(game, "history")


def _too_large(name: str, histories: str, limit: int) -> GameError:
    return GameError(
        f"{name} has {histories} histories, too many to draw ({limit:,} are allowed); choose smaller parameters or "
        "allow more with --max-histories"
    )


def format_number(value: float) -> str:
    """A number as text: an integer, a simple fraction, or four digits."""
    if value == int(value):
        return str(int(value)).replace("-", "−")
    fraction = Fraction(value).limit_denominator(1000)
    text = str(fraction) if math.isclose(float(fraction), value, rel_tol=1e-12) else figure(value)
    return text.replace("-", "−")


def format_share(share: float) -> str:
    """The probability of an action to three digits."""
    return f"{share:.3f}".rstrip("0").rstrip(".")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _text_width(text: str, size: float) -> float:
    """Inches that a text takes in the font of the picture."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # labels may use letters that the font lacks
        width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(width) / 72


def _colour(player: int) -> str:
    return COLOURS[player % len(COLOURS)]


def _bulge(length: float) -> float:
    """How far the curve of an absent-minded set is pulled aside from the edges that it runs along."""
    return 0.3 + 0.35 * length


class _Plan:
    """Labels of a picture and where everything goes; the root is at height 0 and the rest below it."""

    def __init__(self, tree: GameTree, player: int | None, play: _Play | None = None) -> None:
        self.tree = tree
        self.play = play
        self.title = tree.name if play is None else f"{tree.name}: {play.title}"
        self.shown = [player is None or int(owner) == player for owner in tree.infoset_player]
        self.names = [_short(name) for name in tree.infoset_names]
        self.name_width = [_text_width(name, NAME_SIZE) for name in self.names]
        self.edges = [self._edge_label(node) for node in range(tree.num_histories)]
        self.payoffs = [[format_number(value) for value in row] for row in tree.utility.tolist()]
        self.joints = find_joints(tree, player)
        self.links = find_links(tree, player)
        self.joined = {joint.infoset for joint in self.joints}
        self.curved = {link.infoset for link in self.links if link.absent_minded}
        self.layout = self._place()
        self.x = self.layout.x
        self.lanes = self._find_lanes()
        self.y = self._heights()
        self.legend = self._find_legend()
        self._find_size()

    def _edge_label(self, node: int) -> str:
        """What leads to a history: the action, or the outcome and its probability."""
        parent = int(self.tree.parent[node])
        if parent == NULL:
            return ""
        label = _short(self.tree.history(node)[-1])
        if self.tree.player[parent] == CHANCE:
            return f"{label} ({format_number(float(self.tree.chance_prob[node]))})"
        return label if self.play is None else f"{label} {format_share(float(self.play.move[node]))}"

    def edge_style(self, node: int) -> dict[str, Any]:
        """Of the line to a history: its width in points grows with the square root of the reach."""
        if self.play is None:
            return {"linewidth": PLAIN, "color": "#333333"}
        reach = float(self.play.reach[node])
        if not reach:
            return {"linewidth": PLAIN, "color": "#909090", "linestyle": DOTS}
        return {"linewidth": THIN + (THICK - THIN) * math.sqrt(reach), "color": "#333333", "solid_capstyle": "butt"}

    def _place(self) -> Layout:
        """Room for every label, then the tidy layout."""
        tree = self.tree
        left, right = np.full(tree.num_histories, NODE), np.full(tree.num_histories, NODE)
        for node in range(tree.num_histories):
            needed = _text_width(self.edges[node], LABEL_SIZE) / ALONG / 2
            if tree.player[node] == TERMINAL:
                texts = self.payoffs[tree.outcome[node]]
                needed = max(needed, *(_text_width(text, PAYOFF_SIZE) / 2 for text in texts))
            left[node] = max(left[node], needed)
            right[node] = max(right[node], needed)
            if self.stands_alone(node):
                right[node] = max(right[node], NODE + 0.06 + self.name_width[tree.infoset[node]])
        for joint in self.joints:
            if joint.neighbours:  # the name is inside the envelope, between its first two members
                half = NODE + self.name_width[joint.infoset] / 2
                one, other = joint.members[:2]
                right[one], left[other] = max(right[one], half), max(left[other], half)
        for link in self.links:
            if link.absent_minded:  # the curve and its name need space next to both ends
                levels = int(tree.depth[link.ends[1]] - tree.depth[link.ends[0]])
                aside = _bulge(LEVEL * levels) / 2 + self.name_width[link.infoset] / 2
                for side in (left, right):
                    side[list(link.ends)] = np.maximum(side[list(link.ends)], aside)
        return lay_out(tree, left, right, GAP, levels=1 + math.ceil(LINE * (tree.players + 0.5) / LEVEL))

    def stands_alone(self, node: int) -> bool:
        """Whether the name of a history's information set is next to it, not where the set is joined."""
        infoset = int(self.tree.infoset[node])
        return infoset != NULL and self.shown[infoset] and infoset not in self.joined | self.curved

    def _find_lanes(self) -> dict[tuple[int, int], int]:
        """The lane, from 1, of each joint that is not an envelope."""
        lanes = {}
        for depth in {joint.depth for joint in self.joints}:
            level = [joint for joint in self.joints if joint.depth == depth and not joint.neighbours]
            spans = []
            for joint in level:
                middle, half = self.name_place(joint), self.name_width[joint.infoset] / 2 + 0.05
                first, last = (float(self.x[joint.members[end]]) for end in (0, -1))
                spans.append((min(first, middle - half), max(last, middle + half)))
            for joint, lane in zip(level, place_lanes(spans), strict=True):
                lanes[joint.infoset, depth] = lane + 1
        return lanes

    def name_place(self, joint: Joint) -> float:
        """Where the name of a joint is: between its first two members, or near its middle between two edges."""
        ends = self.x[list(joint.members)]
        if joint.neighbours:
            return float(ends[:2].mean())
        level = np.sort(self.x[self.tree.depth == joint.depth])
        level = level[(level >= ends[0]) & (level <= ends[-1])]
        gaps, middles = np.diff(level), level[:-1] + np.diff(level) / 2
        room = np.minimum(gaps, self.name_width[joint.infoset] + GAP)
        best = np.lexsort((np.abs(middles - (ends[0] + ends[-1]) / 2), -room))[0]
        return float(middles[best])

    def _heights(self) -> Any:
        """The height of each history."""
        tree, x = self.tree, self.x
        deepest = int(tree.depth.max())
        self.rooms = [0.0] * (deepest + 1)  # above each level, for lanes and envelopes
        for joint in self.joints:
            needed = NODE + LANE * self.lanes.get((joint.infoset, joint.depth), 0.4)
            self.rooms[joint.depth] = max(self.rooms[joint.depth], needed)
        level = np.zeros(deepest + 1)
        for depth in range(1, deepest + 1):
            nodes = np.flatnonzero(tree.depth == depth)
            fan = float(np.abs(x[nodes] - x[tree.parent[nodes]]).max())
            level[depth] = level[depth - 1] - max(LEVEL, SLANT * fan) - self.rooms[depth]
        return level[tree.depth]

    def bend(self, link: Link) -> tuple[float, float]:
        """The point that pulls the curve of a link aside: away from the edge that it may run along."""
        x, y = self.x[list(link.ends)], self.y[list(link.ends)]
        length = float(np.hypot(x[1] - x[0], y[1] - y[0]))
        away = _bulge(length) if link.absent_minded else 0.1 * length
        side = 1.0 if x[1] >= x[0] else -1.0
        return float(x.mean()) + side * away, float(y.mean()) + 0.3 * away

    def _find_legend(self) -> list[tuple[str, str, str]]:
        """Marker, colour and text of each kind of node."""
        tree = self.tree
        rows = [(MARKERS[i % len(MARKERS)], _colour(i), f"player {i + 1}") for i in range(tree.players)]
        return [*rows, ("D", GREY, "chance")] if tree.facts.has_chance else rows

    @property
    def caption(self) -> str:
        """What a strategy is worth and how its edges are to be read."""
        if self.play is None:
            return ""
        return f"value {player_values(self.play.value)}; {REACHED}"

    def _find_size(self) -> None:
        low, high = 0.0, self.layout.width
        for link in self.links:
            pulled, _ = self.bend(link)
            reach = self.name_width[link.infoset]
            low, high = min(low, pulled - reach), max(high, pulled + reach)
        texts = (_text_width(self.title, TITLE_SIZE), _text_width(self.caption, LABEL_SIZE))
        heading = max(*texts, sum(map(legend_step, self.legend)) + 1.3)
        spare = max(0.0, heading - (high - low)) / 2
        self.left, self.right = low - spare - MARGIN, high + spare + MARGIN
        self.top = 0.8 if self.play is None else 1.05
        self.bottom = float(self.y.min()) - MARGIN - LINE * self.tree.players
        self.width, self.height = self.right - self.left, self.top - self.bottom


def legend_step(row: tuple[str, str, str]) -> float:
    """Inches from one row of the legend to the next."""
    return 0.4 + _text_width(row[2], LABEL_SIZE)


class _Painter:
    """Paints a plan on Matplotlib axes whose unit is an inch."""

    def __init__(self, plan: _Plan) -> None:
        from matplotlib.figure import Figure

        self.plan = plan
        self.figure = Figure(figsize=(plan.width, plan.height))
        self.axes = self.figure.add_axes((0, 0, 1, 1), frameon=False)
        self.axes.set(xlim=(plan.left, plan.right), ylim=(plan.bottom, plan.top), xticks=[], yticks=[])
        self._edges()
        for joint in plan.joints:
            (self._envelope if joint.neighbours else self._lane)(joint)
        for link in plan.links:
            self._link(link)
        for node in range(plan.tree.num_histories):
            self._node(node)
        self._heading()

    def save(self, path: Path) -> None:
        """Write the picture; the same tree gives the same bytes."""
        import matplotlib

        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
        dots = min(150.0, 60_000 / max(self.plan.width, self.plan.height))  # a PNG has at most 2^16 dots on a side
        try:
            with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "counterplay"}):
                warnings.filterwarnings("ignore", message="Glyph")
                self.figure.savefig(path, dpi=dots, metadata=metadata)
        except (OSError, ValueError) as error:
            raise GameError(f"cannot write the drawing {path}: {error}") from None

    def _text(self, x: float, y: float, text: str, size: float, colour: str = "black", **options: Any) -> None:
        settings: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 5, **options}
        self.axes.text(x, y, text, fontsize=size, color=colour, parse_math=False, **settings)

    def _curve(self, points: list[tuple[float, float]], codes: list[int], colour: str) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Curve

        self.axes.add_patch(
            PathPatch(
                Curve(points, codes), facecolor="none", edgecolor=colour, linewidth=1.1, linestyle=DASHES, zorder=2
            )
        )

    def _edges(self) -> None:
        plan = self.plan
        x, y = plan.x, plan.y
        for node in range(1, plan.tree.num_histories):
            parent, knee = plan.tree.parent[node], y[node] + plan.rooms[plan.tree.depth[node]]
            places = [x[parent], x[node], x[node]], [y[parent], knee, y[node]]
            self.axes.plot(*places, zorder=1, **plan.edge_style(node))
            at = x[parent] + ALONG * (x[node] - x[parent]), y[parent] + ALONG * (knee - y[parent])
            self._text(*at, plan.edges[node], LABEL_SIZE, zorder=3, bbox=PAPER)

    def _node(self, node: int) -> None:
        plan, tree = self.plan, self.plan.tree
        x, y, mover = float(plan.x[node]), float(plan.y[node]), int(tree.player[node])
        if mover == TERMINAL:
            self.axes.plot(x, y, "o", color="#333333", markersize=2.5, zorder=4)
            for owner, text in enumerate(plan.payoffs[tree.outcome[node]]):
                self._text(x, y - 0.14 - LINE * owner, text, PAYOFF_SIZE, _colour(owner), bbox={**PAPER, "pad": 0.5})
            return
        if mover == CHANCE:
            self.axes.plot(x, y, "D", color=GREY, markersize=9, zorder=4)
            return
        self.axes.plot(x, y, MARKERS[mover % len(MARKERS)], color=_colour(mover), markersize=DOT, zorder=4)
        self._text(x, y, str(mover + 1), 7, "white", zorder=6, weight="bold", va="center_baseline")
        if plan.stands_alone(node):
            name = plan.names[tree.infoset[node]]
            self._text(x + NODE + 0.03, y, name, NAME_SIZE, _colour(mover), ha="left")

    def _owner(self, infoset: int) -> str:
        return _colour(int(self.plan.tree.infoset_player[infoset]))

    def _envelope(self, joint: Joint) -> None:
        from matplotlib.patches import FancyBboxPatch

        colour, pad = self._owner(joint.infoset), NODE + 0.04
        low, high = (float(self.plan.x[joint.members[end]]) for end in (0, -1))
        height = float(self.plan.y[joint.members[0]])
        box = FancyBboxPatch((low, height), high - low, 0, boxstyle=f"round,pad={pad}", zorder=2)
        box.set(facecolor="none", edgecolor=colour, linewidth=1.1, linestyle=DASHES)
        self.axes.add_patch(box)
        name = self.plan.names[joint.infoset]
        self._text(self.plan.name_place(joint), height, name, NAME_SIZE, colour)

    def _lane(self, joint: Joint) -> None:
        colour, corner = self._owner(joint.infoset), 0.7 * NODE
        height = float(self.plan.y[joint.members[0]])
        lane = height + NODE + LANE * (self.plan.lanes[joint.infoset, joint.depth] - 0.5)
        for one, other in pairwise(self.plan.x[list(joint.members)].tolist()):
            turn = min(0.25, (other - one) / 2)
            points = [
                (one + corner, height + corner), (one + corner, lane), (one + turn, lane),
                (other - turn, lane), (other - corner, lane), (other - corner, height + corner),
            ]  # fmt: skip
            self._curve(points, [1, 3, 3, 2, 3, 3], colour)
        name = self.plan.names[joint.infoset]
        self._text(self.plan.name_place(joint), lane, name, NAME_SIZE, colour, bbox=PAPER)

    def _link(self, link: Link) -> None:
        plan, colour = self.plan, self._owner(link.infoset)
        (x, top), (u, bottom) = ((float(plan.x[node]), float(plan.y[node])) for node in link.ends)
        pulled, height = plan.bend(link)
        self._curve([(x, top), (pulled, height), (u, bottom)], [1, 3, 3], colour)
        if link.absent_minded and link.infoset not in plan.joined:
            at = (x + 2 * pulled + u) / 4, (top + 2 * height + bottom) / 4
            self._text(*at, plan.names[link.infoset], NAME_SIZE, colour, bbox=PAPER)

    def _heading(self) -> None:
        plan = self.plan
        middle = (plan.left + plan.right) / 2
        self._text(middle, plan.top - 0.2, plan.title, TITLE_SIZE, weight="bold")
        self._text(middle, plan.top - 0.72, plan.caption, LABEL_SIZE)
        x = middle - (sum(map(legend_step, plan.legend)) + 1.3) / 2
        y = plan.top - 0.47
        for row in plan.legend:
            marker, colour, text = row
            self.axes.plot(x + 0.1, y, marker, color=colour, markersize=8, zorder=4)
            self._text(x + 0.24, y, text, LABEL_SIZE, ha="left")
            x += legend_step(row)
        self.axes.plot([x + 0.02, x + 0.32], [y, y], color=GREY, linewidth=1.1, linestyle=DASHES)
        self._text(x + 0.38, y, "information set", LABEL_SIZE, ha="left")
