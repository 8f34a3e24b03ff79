"""Poker: cards, hands, the competition's game definitions, rules, state strings, logs, betting trees."""
