"""The driver, `python -m tenure.driver`: one child process that runs the tasks of one run.

It knows the database API's URL, its run token and the address of Spark, and nothing else. It is
started ahead of time, imports what is slow to import and waits for its run on stdin; it serves
one run and ends.
"""

from __future__ import annotations

import argparse
import contextvars
import faulthandler
import inspect
import linecache
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from tenure.database import (
    FINISH_RUN,
    LOAD_RUN,
    REPORT_TASK,
    FinishRun,
    IsolatedDatabase,
    Nothing,
    RunPlan,
    TaskReport,
)
from tenure.dataset import DatasetContext
from tenure.errors import InvalidPipeline, NotFound, TenureError
from tenure.isolation import die_with_worker, forbid_database, limit, read_assignment
from tenure.logs import CURRENT_TASK, LogShipper, LogStream, capture, now
from tenure.pipeline import Pipeline, TaskSpec, graph_hash, load_source, upstream
from tenure.types import open_dataset

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

TASKS_AT_ONCE = 4
TRACEBACK_CHARACTERS = 20_000


class Connections:
    """The run's Spark session and catalog, each opened at once in a thread and waited for where used."""

    def __init__(self, spark_remote: str, token: str) -> None:
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="connect")
        self._session = self._pool.submit(_open_session, spark_remote)
        self._token = token
        self._catalog: Future[Catalog] = Future()

    def open_catalog(self, url: str) -> None:
        """Start to connect to the catalog."""
        self._catalog = self._pool.submit(_open_catalog, url, self._token)

    def spark(self) -> SparkSession:
        """The session; raises pyspark's error if it could not be opened."""
        return self._session.result()

    def catalog(self) -> Catalog:
        """The catalog; raises pyiceberg's error if it could not be reached."""
        return self._catalog.result()

    def interrupt(self) -> None:
        """Stop what Spark does for this run, if the session is open."""
        if self._session.done() and self._session.exception() is None:
            from tenure.spark.session import interrupt

            interrupt(self._session.result())


def _open_session(address: str) -> SparkSession:
    from tenure.spark.session import open_session

    return open_session(address)


def _open_catalog(url: str, token: str) -> Catalog:
    from tenure.types.catalog import open_catalog

    return open_catalog(url, token)


class Driver:
    """Runs the tasks of one plan in the order of its graph, up to `TASKS_AT_ONCE` at once."""

    def __init__(
        self, database: IsolatedDatabase, plan: RunPlan, connections: Connections, streams: list[LogStream]
    ) -> None:
        self.database = database
        self.plan = plan
        self.connections = connections
        self.streams = streams
        self.failure = ""
        self._ended = dict.fromkeys(plan.finished_tasks, "succeeded")
        self._upstream = upstream(plan.graph)

    def run(self) -> FinishRun:
        """Run what is left to run; returns the run's end, which the caller reports."""
        try:
            pipeline = self._load()
        except InvalidPipeline as error:
            where = f"line {error.line}: " if error.line else ""
            return FinishRun("failed", f"The pipeline file could not be loaded: {where}{error.detail}")
        self._run_tasks(pipeline)
        return FinishRun("failed", self.failure) if self.failure else FinishRun("succeeded")

    def _load(self) -> Pipeline:
        filename = f"{self.plan.pipeline}.py"
        source = self.plan.source
        # Tracebacks show lines of the file although it is on no disk.
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        pipeline = load_source(source, self.plan.pipeline)
        if graph_hash(pipeline.graph()) != graph_hash(self.plan.graph):
            raise InvalidPipeline(
                "Loaded here, the file gives another graph than version "
                f"{self.plan.version} has: it depends on something outside of itself."
            )
        return pipeline

    def _run_tasks(self, pipeline: Pipeline) -> None:
        order = TopologicalSorter(self._upstream)
        order.prepare()
        specs = {task.name: task for task in self.plan.graph.tasks}
        running: dict[Future[str], str] = {}
        with ThreadPoolExecutor(TASKS_AT_ONCE, thread_name_prefix="task") as pool:
            while order.is_active():
                for name in order.get_ready():
                    context = contextvars.copy_context()
                    step = self._step(specs[name], pipeline.functions[name])
                    running[pool.submit(context.run, step)] = name
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    name = running.pop(future)
                    self._ended[name] = future.result()
                    order.done(name)

    def _step(self, spec: TaskSpec, function: Callable[..., Any]) -> Callable[[], str]:
        """What to do for a task whose upstream tasks have ended; gives the state that it ended in."""
        if spec.name in self._ended:
            return lambda: "succeeded"
        if any(self._ended[name] != "succeeded" for name in self._upstream[spec.name]):
            return lambda: self._skip(spec)
        return lambda: self._run_task(spec, function)

    def _skip(self, spec: TaskSpec) -> str:
        self._report(spec, "skipped")
        return "skipped"

    def _run_task(self, spec: TaskSpec, function: Callable[..., Any]) -> str:
        CURRENT_TASK.set(spec.name)
        try:
            self._report(spec, "running")
            log.info("started")
            function(**self._arguments(spec, function))
        except BaseException as error:  # noqa: BLE001 - whatever a task raises, also SystemExit, is its failure
            return self._fail(spec, error)
        finally:
            for stream in self.streams:
                stream.finish()
        log.info("succeeded")
        self._report(spec, "succeeded")
        return "succeeded"

    def _fail(self, spec: TaskSpec, error: BaseException) -> str:
        message = _readable(f"{type(error).__name__}: {error}")
        self.failure = self.failure or f"task {spec.name} failed: {message.splitlines()[0]}"
        log.error("failed: %s", message)
        self._report(spec, "failed", trimmed_traceback(error, f"{self.plan.pipeline}.py"))
        return "failed"

    def _report(self, spec: TaskSpec, state: str, error: str = "") -> None:
        self.database.call(REPORT_TASK, TaskReport(spec.name, state, now(), error))

    def _arguments(self, spec: TaskSpec, function: Callable[..., Any]) -> dict[str, Any]:
        """The task's parameters by name: `spark`, and an object for each dataset that it asks for."""
        context = DatasetContext(
            database=self.database,
            run=f"{self.plan.namespace}/{self.plan.pipeline}/{self.plan.run}",
            task=spec.name,
            spark=self.connections.spark,
            catalog=self.connections.catalog,
        )
        known = {dataset.name: dataset for dataset in self.plan.datasets}
        arguments: dict[str, Any] = {}
        for name in inspect.signature(function).parameters:
            if name == "spark":
                arguments[name] = self.connections.spark()
            elif name in known:
                arguments[name] = open_dataset(context, known[name])
            else:
                raise NotFound(f"There is no dataset {name!r} in namespace {self.plan.namespace!r}.")
        return arguments


def trimmed_traceback(error: BaseException, filename: str) -> str:
    """The traceback from the first frame in `filename` on, without the JVM's part and not endless.

    Of an error that Tenure or Spark raised on purpose, the frames inside of them are left out too.
    """
    summary = traceback.TracebackException.from_exception(error)
    own = [index for index, frame in enumerate(summary.stack) if frame.filename == filename]
    if own:
        del summary.stack[: own[0]]
        if isinstance(error, TenureError) or type(error).__module__.startswith("pyspark.errors"):
            summary.stack[:] = [frame for frame in summary.stack if not _internal(frame.filename)]
    text = _readable("".join(summary.format()))
    if len(text) > TRACEBACK_CHARACTERS:
        half = TRACEBACK_CHARACTERS // 2 - 50
        text = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
    return text


def _internal(filename: str) -> bool:
    tenure = os.path.dirname(__file__)
    return filename.startswith(tenure + os.sep) or f"{os.sep}pyspark{os.sep}" in filename


def _readable(text: str) -> str:
    return text.partition("\nJVM stacktrace:")[0].rstrip()


def warm_up() -> None:
    """Import what takes long, before there is a run to be late for."""
    import pyspark.sql.functions

    import tenure.spark.session
    import tenure.types.catalog
    import tenure.types.iceberg

    tenure.spark.session.use_connect()
    import pyspark.sql.connect.functions
    import pyspark.sql.connect.session  # noqa: F401 - what the first frame would import


def stop_on_sigterm(connections: Connections, shipper: LogShipper) -> None:
    """On SIGTERM stop Spark's jobs, send the log, each as far as it goes in a second, and exit with 143."""

    def stop(number: int, frame: object) -> None:
        for work, seconds in ((connections.interrupt, 1.0), (shipper.flush, 0.5)):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            thread.join(seconds)
        os._exit(143)

    signal.signal(signal.SIGTERM, stop)


def main() -> None:
    """Get warm, wait for the run, run it, report its end."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--worker", type=int, required=True)
    arguments.add_argument("--memory-bytes", type=int, required=True)
    given = arguments.parse_args()
    die_with_worker(given.worker)
    limit(memory_bytes=given.memory_bytes)
    faulthandler.enable(all_threads=False)
    warm_up()
    forbid_database()
    assignment = read_assignment()
    serve(assignment["database_api_url"], assignment["token"], assignment["spark_remote"])
    # Threads that the tasks left behind do not keep a finished run alive.
    os._exit(0)


def serve(database_api_url: str, token: str, spark_remote: str) -> None:
    """Run the token's run to its end and report that; raises `TenureError` if it cannot be reported."""
    connections = Connections(spark_remote, token)
    database = IsolatedDatabase(database_api_url, token)
    plan = database.call(LOAD_RUN, Nothing())
    connections.open_catalog(plan.catalog_url)
    shipper = LogShipper(database)
    stop_on_sigterm(connections, shipper)
    streams = capture(shipper)
    try:
        end = Driver(database, plan, connections, streams).run()
    except TenureError:
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        raise
    for stream in streams:
        stream.finish()
    shipper.close()
    database.call(FINISH_RUN, end)


if __name__ == "__main__":
    main()
