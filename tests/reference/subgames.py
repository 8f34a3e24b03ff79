"""Hold'em subgames as hand-written trees: every pair of hands, every card, every action, without vectors.

The betting is written anew, with one fixed list of sizes in shares of the pot: a bet or raise of share s goes to the
bet before plus s times the pot after a call; what reaches the stack is all in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from tests.reference.hands import hand_value

Hand = tuple[int, int]
Range = Mapping[Hand, float]


class SlowSubgame:
    def __init__(
        self, board: Sequence[int], pot: float, stack: float, ranges: tuple[Range, Range], bets: Sequence[float],
        raises: Sequence[float], rake: float = 0.0, cap: float = float("inf"),
    ) -> None:  # fmt: skip
        self.board, self.pot, self.stack, self.ranges = tuple(board), pot, stack, ranges
        self.bets, self.raises = bets, raises
        self.rake, self.cap = rake, cap

    def game(self) -> ExplicitGame:
        pairs = {
            (one, other): first * second
            for one, first in self.ranges[0].items()
            for other, second in self.ranges[1].items()
            if len({*one, *other, *self.board}) == 4 + len(self.board)
        }
        total = sum(pairs.values())
        return ExplicitGame(
            chance({pair: (weight / total, self.street(pair, self.board, 0.0, ())) for pair, weight in pairs.items()}),
            players=2,
        )

    def street(self, hands: tuple[Hand, Hand], board: tuple[int, ...], spent: float, words: tuple[str, ...]) -> Node:
        return self.act(hands, board, spent, [0.0, 0.0], 0, (), words)

    def act(
        self, hands: tuple[Hand, Hand], board: tuple[int, ...], spent: float, put: list[float], player: int,
        line: tuple[float, ...], words: tuple[str, ...],
    ) -> Node:  # fmt: skip
        """``line`` holds the bets of the street, ``words`` all actions."""
        facing = max(put)
        branches: dict[str, Node] = {}
        if facing > put[player]:
            lost = self.pot / 2 + spent + put[player]
            won = lost - min(self.cap, 2 * lost * self.rake)
            branches["fold"] = terminal(-lost, won) if player == 0 else terminal(won, -lost)
            branches["call"] = self.close(hands, board, spent + facing, (*words, "call"))
        elif player == 1:
            branches["check"] = self.close(hands, board, spent, (*words, "check"))
        else:
            branches["check"] = self.act(hands, board, spent, put, 1, line, (*words, "check"))
        limit = self.stack - spent
        for share in (self.raises if line else self.bets) if facing < limit else ():
            amount = min(limit, float(round(facing + share * (self.pot + 2 * (spent + facing)))))
            word = "allin" if amount == limit else f"{'raise' if line else 'bet'}{amount:g}"
            after = [amount, put[1]] if player == 0 else [put[0], amount]
            branches[word] = self.act(hands, board, spent, after, 1 - player, (*line, amount), (*words, word))
        key = (hands[player], board[: len(self.board)], board[len(self.board) :], words)
        return decision(player, key, branches)

    def close(self, hands: tuple[Hand, Hand], board: tuple[int, ...], spent: float, words: tuple[str, ...]) -> Node:
        if len(board) == 5:
            values = [hand_value((*hand, *board)) for hand in hands]
            pot = self.pot + 2 * spent
            left = pot - min(self.cap, pot * self.rake)  # of which each player gets all, half, or nothing
            shares = (1.0, 0.0) if values[0] > values[1] else (0.0, 1.0) if values[0] < values[1] else (0.5, 0.5)
            return terminal(*(share * left - pot / 2 for share in shares))
        cards = [card for card in range(52) if card not in {*board, *hands[0], *hands[1]}]
        below = {}
        for card in cards:
            after = (*board, card)
            node = self.close if spent >= self.stack else self.street
            below[card] = (1 / len(cards), node(hands, after, spent, words))
        return chance(below)
