"""CFR with tables on disk: the trunk in memory, the subgames below it compressed in blocks."""
