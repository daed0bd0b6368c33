"""What feeds what, declared and seen: pipelines, runs, accesses and their graph."""
