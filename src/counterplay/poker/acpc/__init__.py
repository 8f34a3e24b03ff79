"""Formats and deals of the Annual Computer Poker Competition: definitions, match states, logs."""
