"""Bucket games: a betting tree that all deals share, with a bucket for each hand and round."""
