"""The verbs of `namespaces`, by noun."""
