"""The record: every table and figure of the source documents, what makes it again, and whether ours agrees."""
