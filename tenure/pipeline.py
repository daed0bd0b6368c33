"""Pipelines as programs write them, and the graph that a pipeline file describes.

Defining and running are apart: loading a file runs no job, it only collects frozen specs in a
`Graph`. The graph is plain data with a canonical form, so that two loads of one file are equal
whatever the hash seed, and a graph can be checked by a process that never imports the file.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from tenure.errors import InvalidInput, InvalidPipeline
from tenure.names import check_name

GRAPH_FORMAT = 1
"""Version of the stored form; part of the hash, so that a change of form is a change of graph."""

MAX_TASKS = 1000
MAX_RETRIES = 10

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class TaskSpec:
    """One task: its name, what it reads and writes, and which tasks it must follow. `line` is in the file."""

    name: str
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    description: str = ""
    line: int = 0


@dataclass(frozen=True)
class DatasetSpec:
    """A dataset that the file declares; deploying creates it where it does not exist yet."""

    name: str
    type: str
    description: str = ""
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """A pipeline as data. Equality of pipelines is equality of `graph_hash`."""

    name: str
    description: str = ""
    schedule: str = ""
    retries: int = 1
    tasks: list[TaskSpec] = field(default_factory=list)
    datasets: list[DatasetSpec] = field(default_factory=list)

    def used_datasets(self) -> set[str]:
        """Every dataset name that a task reads or writes."""
        return {name for task in self.tasks for name in (*task.reads, *task.writes)}


def canonical(graph: Graph) -> str:
    """The stored form: tasks by name, names of datasets as sorted sets, keys sorted, no line numbers."""
    tasks = [
        replace(task, reads=sorted(task.reads), writes=sorted(task.writes), after=sorted(task.after), line=0)
        for task in sorted(graph.tasks, key=lambda task: task.name)
    ]
    datasets = sorted(graph.datasets, key=lambda dataset: dataset.name)
    body = {"format": GRAPH_FORMAT, **asdict(replace(graph, tasks=tasks, datasets=datasets))}
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def graph_hash(graph: Graph) -> str:
    """SHA-256 of the canonical form, hexadecimal."""
    return hashlib.sha256(canonical(graph).encode()).hexdigest()


def upstream(graph: Graph) -> dict[str, set[str]]:
    """For each task, the tasks that it must wait for: writers of what it reads, and its `after`."""
    writers: dict[str, set[str]] = {}
    for task in graph.tasks:
        for name in task.writes:
            writers.setdefault(name, set()).add(task.name)
    return {
        task.name: (set(task.after) | {writer for name in task.reads for writer in writers.get(name, ())})
        - {task.name}
        for task in graph.tasks
    }


def check_graph(graph: Graph) -> None:
    """Raise `InvalidPipeline`, with the line where one is known, unless the graph can run."""
    lines = {task.name: task.line for task in graph.tasks}
    if not graph.tasks:
        raise InvalidPipeline(
            f"Pipeline {graph.name!r} has no tasks: decorate a function with @pipeline.task."
        )
    if len(graph.tasks) > MAX_TASKS:
        raise InvalidPipeline(
            f"Pipeline {graph.name!r} has {len(graph.tasks)} tasks; the limit is {MAX_TASKS}."
        )
    if not 0 <= graph.retries <= MAX_RETRIES:
        raise InvalidPipeline(f"retries={graph.retries} is outside 0 to {MAX_RETRIES}.")
    _check_names(graph)
    for task in graph.tasks:
        for name in task.after:
            if name not in lines:
                raise InvalidPipeline(
                    f"Task {task.name!r} comes after {name!r}, which is no task.", line=task.line
                )
    try:
        TopologicalSorter(upstream(graph)).prepare()
    except CycleError as error:
        cycle = error.args[1]
        raise InvalidPipeline(f"The tasks form a cycle: {' → '.join(cycle)}.", line=lines[cycle[0]]) from None


def _check_names(graph: Graph) -> None:
    for kind, specs in (("task", graph.tasks), ("dataset", graph.datasets)):
        seen: set[str] = set()
        for spec in specs:
            line = getattr(spec, "line", None)
            _checked(kind, spec.name, line)
            if spec.name in seen:
                raise InvalidPipeline(f"Two {kind}s are called {spec.name!r}.", line=line)
            seen.add(spec.name)
    for task in graph.tasks:
        for name in (*task.reads, *task.writes):
            _checked("dataset", name, task.line)


def _checked(kind: str, name: object, line: int | None) -> None:
    try:
        check_name(kind, name)
    except InvalidInput as error:
        raise InvalidPipeline(error.detail, line=line) from None


class Pipeline:
    """A pipeline: tasks and the datasets that they read and write.

        pipeline = Pipeline("flight_delays", schedule="@daily")

        @pipeline.task(reads=["flights"], writes=["delays_by_carrier"])
        def delays_by_carrier(spark, flights, delays_by_carrier):
            delays_by_carrier.overwrite(flights.read().groupBy("carrier").avg("arr_delay"))

    `schedule` is empty, a preset (`@hourly`, `@daily`, `@weekly`, `@monthly`) or a five-field
    cron line, in UTC. `retries` says how often a run is tried again when its worker was lost.
    A task that follows another without sharing a dataset says so with `after`.
    """

    def __init__(self, name: str, *, description: str = "", schedule: str = "", retries: int = 1) -> None:
        self.name = name
        self.description = description
        self.schedule = schedule
        self.retries = retries
        self.functions: dict[str, Callable[..., Any]] = {}
        self._tasks: list[TaskSpec] = []
        self._datasets: list[DatasetSpec] = []
        collected = _COLLECTED.get()
        if collected is not None:
            collected.append(self)

    def table(self, name: str, *, description: str = "", partition_by: Sequence[str] = ()) -> str:
        """Declare an Iceberg table that deploying creates if need be; returns its name.

        The first write gives it its schema. `partition_by` names columns whose values split it.
        """
        properties = {"partition_by": list(partition_by)} if partition_by else {}
        self._datasets.append(DatasetSpec(name, "table", description, properties))
        return name

    def task(
        self, *, reads: Iterable[str] = (), writes: Iterable[str] = (), after: Iterable[str] = ()
    ) -> Callable[[Function], Function]:
        """Make a function a task. Its parameters are `spark` and names of datasets that it uses."""

        def register(function: Function) -> Function:
            line = inspect.unwrap(function).__code__.co_firstlineno
            spec = TaskSpec(
                name=function.__name__,
                reads=_names("reads", reads, line),
                writes=_names("writes", writes, line),
                after=_names("after", after, line),
                description=(inspect.getdoc(function) or "").split("\n")[0],
                line=line,
            )
            _check_parameters(function, spec)
            if spec.name in self.functions:
                raise InvalidPipeline(f"Two tasks are called {spec.name!r}.", line=line)
            self._tasks.append(spec)
            self.functions[spec.name] = function
            return function

        return register

    def graph(self) -> Graph:
        """The graph of this pipeline; raises `InvalidPipeline` if it cannot run."""
        graph = Graph(self.name, self.description, self.schedule, self.retries, self._tasks, self._datasets)
        check_graph(graph)
        return graph


def _names(argument: str, names: Iterable[str], line: int) -> list[str]:
    if isinstance(names, str):
        raise InvalidPipeline(f'{argument}="{names}" is one string; write {argument}=["{names}"].', line=line)
    return list(dict.fromkeys(names))


def _check_parameters(function: Callable[..., Any], spec: TaskSpec) -> None:
    allowed = {"spark", *spec.reads, *spec.writes}
    for parameter in inspect.signature(function).parameters:
        if parameter not in allowed:
            raise InvalidPipeline(
                f"Task {spec.name!r} asks for {parameter!r}, which it neither reads nor writes. "
                f"Add it to reads or writes; it may use {', '.join(sorted(allowed))}.",
                line=spec.line,
            )


_COLLECTED: ContextVar[list[Pipeline] | None] = ContextVar("collected_pipelines", default=None)


@contextmanager
def collecting() -> Iterator[list[Pipeline]]:
    """Collect the pipelines that the code in this block defines."""
    found: list[Pipeline] = []
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)


def load_source(source: str, name: str) -> Pipeline:
    """Run a pipeline file's text and return its one pipeline, which must be called `name`.

    This executes the text: only an untrusted child process may call it. Raises
    `InvalidPipeline` with the line of the file that failed.
    """
    filename = f"{name}.py"
    try:
        code = compile(source, filename, "exec")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise InvalidPipeline(f"{type(error).__name__}: {getattr(error, 'msg', error)}", line=line) from None
    module: dict[str, Any] = {"__name__": name, "__file__": filename}
    with collecting() as found:
        try:
            exec(code, module)  # noqa: S102  # what a parse child and a driver are for
        except InvalidPipeline as error:
            error.line = error.line or _line_in(error, filename)
            raise
        except BaseException as error:  # noqa: BLE001  # whatever the file raises, SystemExit too
            reason = f"{type(error).__name__}: {error}"
            raise InvalidPipeline(reason, line=_line_in(error, filename)) from None
    if len(found) != 1:
        raise InvalidPipeline(f"A pipeline file defines one Pipeline; this one defines {len(found)}.")
    if found[0].name != name:
        raise InvalidPipeline(f"The file defines pipeline {found[0].name!r}, but it was sent as {name!r}.")
    return found[0]


def _line_in(error: BaseException, filename: str) -> int | None:
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def graph_from_dict(data: Mapping[str, Any]) -> Graph:
    """The graph of a stored canonical form; raises `InvalidPipeline` for a form this version cannot read."""
    if data.get("format") != GRAPH_FORMAT:
        raise InvalidPipeline(f"Stored graph format {data.get('format')!r} is not one this version reads.")
    return Graph(
        name=data["name"],
        description=data["description"],
        schedule=data["schedule"],
        retries=data["retries"],
        tasks=[TaskSpec(**task) for task in data["tasks"]],
        datasets=[DatasetSpec(**dataset) for dataset in data["datasets"]],
    )
