"""The verbs of `registry`, by noun."""
