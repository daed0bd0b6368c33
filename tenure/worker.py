"""The spark worker: `celery -A tenure.worker worker -Q spark --pool threads -c 8`.

It is untrusted: it has the broker, the database API's URL and Spark's address, and no database.
A message brings a token that is good for one claim or one parse; the code of the team runs in a
child process, which the worker supervises and outlives.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
import uuid
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_ready, worker_shutdown, worker_shutting_down

from tenure.children import Child, Spare, Spawner, remove_leftovers
from tenure.database import (
    CLAIM_RUN,
    FINISH_RUN,
    HEARTBEAT,
    LOAD_SOURCE,
    OVER,
    REFUSE_SOURCE,
    RELEASE_RUN,
    ClaimedRun,
    ClaimRun,
    FinishRun,
    IsolatedDatabase,
    Nothing,
    ParseFailure,
    ReleaseRun,
)
from tenure.errors import TenureError
from tenure.processes import adopt_orphans

log = logging.getLogger(__name__)

DATABASE_API_URL = os.environ.get("TENURE_DATABASE_API_URL", "").rstrip("/")
SPARK_REMOTE = os.environ.get("SPARK_REMOTE", "")
DRIVER_MEMORY_BYTES = int(os.environ.get("TENURE_DRIVER_MEMORY_BYTES", 4 * 1024**3))
PARSE_MEMORY_BYTES = 1024**3
PARSE_SECONDS = float(os.environ.get("TENURE_PARSE_SECONDS", "10"))
RUNS_AT_ONCE = int(os.environ.get("TENURE_RUNS_AT_ONCE", "6"))
"""Fewer than the pool has threads: runs last, and a deployment must find a thread for its parse."""

CANCEL_GRACE_SECONDS = 2.0
RESTOCK_SECONDS = 30.0

app = Celery("tenure", broker=os.environ.get("TENURE_BROKER_URL", "redis://127.0.0.1:6379/0"))
app.conf.update(
    task_ignore_result=True,
    task_default_queue="spark",
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
    worker_enable_remote_control=True,
)

stopping = threading.Event()
_children: set[Child] = set()
_places = threading.BoundedSemaphore(RUNS_AT_ONCE)
_spawner = Spawner()
_spare = Spare(
    lambda: _spawner.start("tenure.driver", ["--memory-bytes", str(DRIVER_MEMORY_BYTES)]),
)


@worker_init.connect
def _on_init(**_: Any) -> None:
    """Before there is a child."""
    adopt_orphans()
    remove_leftovers()


@worker_ready.connect
def _on_ready(**_: Any) -> None:
    threading.Thread(target=_spare.restock, daemon=True).start()


@worker_shutting_down.connect
def _on_shutdown(**_: Any) -> None:
    """Runs in a signal handler: kill at once; the tasks' threads see it and give their runs back."""
    stopping.set()
    _spare.close()
    for child in tuple(_children):
        child.kill()


@worker_shutdown.connect
def _on_stopped(**_: Any) -> None:
    _spare.clear()


@app.task(name="tenure.run")
def run(token: str) -> None:
    """Claim a run and see it through to its end. `token` is the claim token."""
    if not _places.acquire(blocking=False):
        # Left unclaimed for a worker with room: the console's sweep sends it again.
        log.info("run not taken: this worker has %s already", RUNS_AT_ONCE)
        return
    try:
        _claim_and_run(token)
    finally:
        _places.release()


def _claim_and_run(token: str) -> None:
    claim = IsolatedDatabase(DATABASE_API_URL, token)
    try:
        # Its own name for each claim: a message delivered twice must not be taken for one asked twice.
        name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        claimed = claim.call(CLAIM_RUN, ClaimRun(name))
    except OVER as error:
        log.info("run not taken: %s", error)
        return
    Supervisor(claimed).run()


@app.task(name="tenure.parse")
def parse(token: str) -> None:
    """Have a pipeline file parsed by a child process. `token` is the operation's."""
    database = IsolatedDatabase(DATABASE_API_URL, token)
    try:
        # The child asks again; asked here it saves a process for each message that comes too late.
        database.call(LOAD_SOURCE, Nothing())
    except OVER as error:
        log.info("pipeline file not parsed: %s", error)
        return
    arguments = ["--memory-bytes", str(PARSE_MEMORY_BYTES), "--seconds", str(PARSE_SECONDS)]
    child = _spawner.start("tenure.parser", arguments)
    _children.add(child)
    try:
        _assign(child, token)
        in_time = child.wait(PARSE_SECONDS, stopping.is_set)
        code = child.end()
    finally:
        _children.discard(child)
    if stopping.is_set():
        return  # The operation's sweep sends it again.
    # After an answer of the child this one is refused: a file can only end its own process early.
    failure = parse_failure(child.output(), code, in_time=in_time)
    try:
        database.call(REFUSE_SOURCE, failure)
    except OVER:
        return
    log.info("a pipeline file was refused: %s", failure.reason)


def parse_failure(output: str, code: int, *, in_time: bool) -> ParseFailure:
    """Why a parse child that gave no answer failed, with the line it hung at if its output names one."""
    if not in_time:
        # The parser dumps its threads' stacks just before its time is up, innermost frame first.
        hung = re.search(r'File "([a-z][a-z0-9_]*\.py)", line (\d+) in', output)
        reason = f"The file did not load within {PARSE_SECONDS:g} s; move what takes long into a task."
        return ParseFailure(reason, int(hung[2]) if hung else 0)
    if "MemoryError" in output:
        return ParseFailure(f"The file needed more than {PARSE_MEMORY_BYTES >> 20} MiB of memory to load.")
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return ParseFailure(f"The process that loaded the file {how} before it was done.")


class Supervisor:
    """Sees one claimed run through: hands it to a driver, sends heartbeats, ends it when told to."""

    def __init__(self, claimed: ClaimedRun) -> None:
        self.claimed = claimed
        self.name = f"{claimed.namespace}/{claimed.pipeline}/{claimed.run} attempt {claimed.attempt}"
        # Short of patience: a late heartbeat is worth nothing, the next one is due.
        self.database = IsolatedDatabase(
            DATABASE_API_URL, claimed.token, patience_seconds=2.0, timeout_seconds=3.0
        )
        self._deadline = time.monotonic() + claimed.timeout_seconds

    def run(self) -> None:
        """Run the driver to its end, and report that end where the driver could not."""
        child = _spare.take()
        _children.add(child)
        restock = threading.Timer(RESTOCK_SECONDS, _spare.restock)
        restock.daemon = True
        restock.start()
        try:
            log.info("run %s: driver %s", self.name, child.pid)
            _assign(child, self.claimed.token)
            end = self._watch(child)
        finally:
            child.end()
            _children.discard(child)
            restock.cancel()
        self._report(end)
        _spare.restock()

    def _watch(self, child: Child) -> FinishRun | ReleaseRun | None:
        """Wait for the driver's end or a reason to end it; returns what to report, None for nothing."""
        while not child.wait(self.claimed.heartbeat_seconds, stopping.is_set):
            if stopping.is_set():
                break
            if time.monotonic() > self._deadline:
                child.end(CANCEL_GRACE_SECONDS)
                limit = f"{self.claimed.timeout_seconds:g} s"
                return FinishRun("failed", f"The run exceeded its time limit of {limit}.")
            stop = self._heartbeat()
            if stop:
                child.end(CANCEL_GRACE_SECONDS)
                return FinishRun("cancelled") if stop == "cancelled" else None
        code = child.end()
        if stopping.is_set():
            return ReleaseRun("the worker was stopped")
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        error = f"The driver {how} without reporting the run's end.\n{child.last_lines()}"
        return FinishRun("failed", error.strip())

    def _heartbeat(self) -> str:
        """The reason to stop, if there is one: `cancelled`, or `over` for an attempt that has ended."""
        try:
            return self.database.call(HEARTBEAT, Nothing()).stop
        except OVER as error:
            log.info("run %s: this attempt is over: %s", self.name, error)
            return "over"
        except TenureError as error:
            log.warning("run %s: no heartbeat: %s", self.name, error)
            return ""

    def _report(self, end: FinishRun | ReleaseRun | None) -> None:
        """Report an end. After the driver's own report the token is dead and this one is refused."""
        try:
            if isinstance(end, FinishRun):
                self.database.call(FINISH_RUN, end)
            elif isinstance(end, ReleaseRun):
                self.database.call(RELEASE_RUN, end)
        except OVER:
            return
        except TenureError as error:
            # The run's heartbeats have stopped: the console finds it lost and decides.
            log.warning("run %s: its end could not be reported: %s", self.name, error)


def _assign(child: Child, token: str) -> None:
    """Hand a child its work. A child that died meanwhile is found out by whoever waits for it."""
    try:
        child.assign({"database_api_url": DATABASE_API_URL, "token": token, "spark_remote": SPARK_REMOTE})
    except OSError as error:
        log.warning("child %s took no work: %s", child.pid, error)
