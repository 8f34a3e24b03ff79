"""The public tree: public states x private hands."""
