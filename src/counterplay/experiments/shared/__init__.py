"""What several experiments share."""
