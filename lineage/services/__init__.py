"""The verbs of `lineage`, by noun."""
