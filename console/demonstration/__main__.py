"""`python -m console.demonstration [--check]`: bring the demonstration to a console and show what came out.

TENURE_URL and TENURE_TOKEN say where and as whom; TENURE_HOME is where the files are unpacked.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from console.demonstration.deploy import PIPELINE_PATH, deploy, find_run, run, task_seconds
from console.up.steps import done, say, step
from tenure.client import Client
from tenure.errors import TenureError


def main(arguments: list[str]) -> int:
    """Deploy and run unless a run has succeeded before; 0 when all is well, otherwise 1 with the reason."""
    parser = argparse.ArgumentParser(prog="python -m console.demonstration", description=__doc__)
    parser.add_argument("--check", action="store_true", help="check the answers and print a summary")
    chosen = parser.parse_args(arguments)
    missing = [name for name in ("TENURE_URL", "TENURE_TOKEN", "TENURE_HOME") if not os.environ.get(name)]
    if missing:
        parser.error(f"set {' and '.join(missing)}")
    client = Client(os.environ["TENURE_URL"], os.environ["TENURE_TOKEN"])
    try:
        _demonstrate(client, Path(os.environ["TENURE_HOME"]) / "demonstration", check=chosen.check)
    except TenureError as error:
        sys.stderr.write(f"{error.title}: {error.detail}\n")
        return 1
    return 0


def _demonstrate(client: Client, directory: Path, *, check: bool) -> None:
    found = find_run(client)
    if found is None or found["state"] != "succeeded":
        if found is None:
            deploy(client, directory)
        run(client, found)
    elif check:
        say(f"  Run {found['number']} has succeeded before:")
        for task in client.get(f"{PIPELINE_PATH}/runs/{found['number']}")["tasks"]:
            done(f"  {task['task']} {task['state']}", task_seconds(task))
    if check:
        _check(client)


def _check(client: Client) -> None:
    # Imported here: without --check there is no need to load Iceberg and Arrow.
    from console.demonstration.check import check, summary

    catalog_url = os.environ.get("TENURE_CATALOG_URL") or f"{client.url}/iceberg"
    with step("Checking the answers"):
        rows = check(catalog_url, client.token)
    summary(client, rows, say)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
