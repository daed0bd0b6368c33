"""Benchmarks: each prints a ratio against a baseline that was measured in the same run."""
