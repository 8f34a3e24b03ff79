"""Poker: cards, hands, suit isomorphism, game definitions and betting trees; import its modules when needed."""
