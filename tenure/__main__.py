"""`python -m tenure`: the `tenure` command, where nothing was installed."""

from tenure.cli import main

raise SystemExit(main())
