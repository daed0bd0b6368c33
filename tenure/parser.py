"""The parse child, `python -m tenure.parser`: runs a pipeline file once, to see its graph.

An untrusted process like the driver: it knows the database API's URL and a token that is good
for this one parse. It ends with 0 once it has answered; for any other end the worker answers.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys

from tenure.database import (
    LOAD_SOURCE,
    REFUSE_SOURCE,
    STORE_GRAPH,
    Database,
    IsolatedDatabase,
    Nothing,
    ParseFailure,
)
from tenure.errors import InvalidPipeline, TenureError
from tenure.isolation import die_with_worker, forbid_database, limit, read_assignment
from tenure.pipeline import load_source


def parse(database: Database) -> None:
    """Load the operation's source and answer with its graph, or with why it has none."""
    work = database.call(LOAD_SOURCE, Nothing())
    try:
        graph = load_source(work.source, work.name).graph()
    except InvalidPipeline as error:
        database.call(REFUSE_SOURCE, ParseFailure(error.detail, error.line or 0))
    else:
        database.call(STORE_GRAPH, graph)


def main() -> None:
    """Take the limits, wait for the assignment, parse, and leave without running exit handlers."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--worker", type=int, required=True)
    arguments.add_argument("--memory-bytes", type=int, required=True)
    arguments.add_argument("--seconds", type=float, required=True)
    given = arguments.parse_args()
    die_with_worker(given.worker)
    limit(memory_bytes=given.memory_bytes, cpu_seconds=int(given.seconds) + 1)
    assignment = read_assignment()
    forbid_database()
    # Where the file hangs goes to stderr just before the worker's patience ends: it names the line.
    faulthandler.dump_traceback_later(given.seconds * 0.9, file=sys.__stderr__ or 2)
    try:
        parse(IsolatedDatabase(assignment["database_api_url"], assignment["token"]))
    except TenureError as error:
        # The console refused the graph and has failed the operation itself, or it is over already.
        print(error, file=sys.__stderr__)
    # What the file left behind (threads, exit handlers) has no say in the outcome.
    os._exit(0)


if __name__ == "__main__":
    main()
