"""Recall theory: what players remember, and the classes of imperfect recall, each with a witness."""
