"""From the rules of a poker game to an agent: presets, the pipeline and its report."""
