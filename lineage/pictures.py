"""What the pages of `lineage` draw: graphs of lineage, pipelines and runs, bars of runs, times of tasks."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from lineage.layout import NODE_HEIGHT, NODE_WIDTH, Picture, lay_out
from lineage.models import Pipeline, Run, RunState, TaskRun, TaskState
from lineage.queries import last_runs
from lineage.services.graph import LineageGraph, Node
from tenure.pipeline import Graph, upstream

LABEL_LENGTH = 21
BARS = 9
BAR_COLOURS = {RunState.SUCCEEDED: "good", RunState.FAILED: "bad", RunState.RUNNING: "running"}
TASK_COLOURS = {TaskState.SUCCEEDED: "good", TaskState.FAILED: "bad", TaskState.RUNNING: "running"}


@dataclass(frozen=True)
class Shape:
    """A node as the template draws it: place, kind (a CSS class), texts, and where it leads."""

    id: str
    x: float
    y: float
    kind: str
    label: str
    title: str
    url: str = ""
    sub: str = ""
    at: datetime.datetime | None = None
    seconds: float | None = None
    rows: int | None = None
    dot: str = ""

    @property
    def short(self) -> str:
        """The label as far as the node has room for it."""
        room = LABEL_LENGTH if not self.dot else LABEL_LENGTH - 2
        return self.label if len(self.label) <= room else self.label[: room - 1] + "…"


@dataclass(frozen=True)
class Drawing:
    """A graph ready for the template."""

    label: str
    picture: Picture
    shapes: list[Shape]
    node_width: float = NODE_WIDTH
    node_height: float = NODE_HEIGHT

    @property
    def is_large(self) -> bool:
        """Whether it keeps its size and scrolls, rather than shrink to the page."""
        return self.picture.width > 1250


def lineage_drawing(graph: LineageGraph) -> Drawing:
    """The lineage of a dataset: datasets and tasks, the dataset itself marked."""
    nodes = {node.id: node for node in graph.nodes}
    picture = lay_out(list(nodes), graph.edges)
    shapes = [_lineage_shape(graph, nodes[name], *place) for name, place in _reading_order(picture)]
    return Drawing(f"Lineage of {graph.dataset}", picture, shapes)


def _reading_order(picture: Picture) -> list[tuple[str, tuple[float, float]]]:
    return sorted(picture.places.items(), key=lambda place: place[1])


def _lineage_shape(graph: LineageGraph, node: Node, x: float, y: float) -> Shape:
    if node.hidden:
        return Shape(node.id, x, y, "hidden", node.kind + "s", node.label, sub="you may not see")
    if node.kind == "task":
        url = "" if node.deleted else reverse("admin:pipeline", args=[node.namespace, node.name])
        at = parse_datetime(node.last_at) if node.last_at else None
        title = f"Task {node.label} of {node.pipeline}" + (", which is gone" if node.deleted else "")
        return Shape(node.id, x, y, "task", node.label, title, url, node.name, at)
    here = node.id == f"dataset:{graph.dataset}"
    url = "" if node.deleted else reverse("admin:dataset", args=[node.namespace, node.name])
    kind = "hidden" if node.deleted else "here" if here else "dataset"
    sub = "deleted" if node.deleted else "" if node.rows else node.type
    return Shape(
        node.id, x, y, kind, node.label, f"Dataset {node.namespace}/{node.name}", url, sub, rows=node.rows
    )


def version_drawing(pipeline: Pipeline, graph: Graph) -> Drawing:
    """The tasks of a version; each leads to its line in the source."""
    before = upstream(graph)
    picture = lay_out(
        [task.name for task in graph.tasks], [(a, name) for name in before for a in before[name]]
    )
    tasks = {task.name: task for task in graph.tasks}
    shapes = []
    for name, (x, y) in _reading_order(picture):
        task = tasks[name]
        sub = (
            f"writes {', '.join(task.writes)}"
            if task.writes and task.writes != [name]
            else _reads(task.reads)
        )
        writes = f"writes {', '.join(task.writes)}" if task.writes else "writes nothing"
        title = f"Task {name}: {_reads(task.reads)}, {writes}"
        shapes.append(Shape(name, x, y, "dataset", name, title, f"?tab=code#task-{name}", sub[:30]))
    return Drawing(f"Graph of {pipeline.name}", picture, shapes)


def _reads(names: Sequence[str]) -> str:
    return f"reads {', '.join(names)}" if names else "reads nothing"


def run_drawing(run: Run, graph: Graph, tasks: Iterable[TaskRun], rows: dict[str, int]) -> Drawing:
    """The tasks of a run with the state and duration of each."""
    states = {task.task: task for task in tasks}
    before = upstream(graph)
    picture = lay_out(
        [task.name for task in graph.tasks], [(a, name) for name in before for a in before[name]]
    )
    shapes = [_task_shape(name, states.get(name), rows, *place) for name, place in _reading_order(picture)]
    return Drawing(f"Graph of {run.pipeline.name}, run {run.number}", picture, shapes)


def _task_shape(name: str, task: TaskRun | None, rows: dict[str, int], x: float, y: float) -> Shape:
    state = task.state if task else TaskState.WAITING
    kind = {TaskState.FAILED: "failed", TaskState.RUNNING: "here"}.get(TaskState(state), "dataset")
    return Shape(
        id=name,
        x=x,
        y=y,
        kind=kind,
        label=name,
        title=f"Task {name}: {state}",
        url=f"?tab=code#task-{name}",
        sub="" if state == TaskState.SUCCEEDED else state,
        seconds=task.seconds if task and state != TaskState.WAITING else None,
        rows=rows.get(name),
        dot=TASK_COLOURS.get(TaskState(state), "rest"),
    )


@dataclass(frozen=True)
class TimeBar:
    """One line of a run's times, in hundredths of the run's span."""

    task: TaskRun
    start: float
    width: float
    colour: str


def times(run: Run, tasks: Sequence[TaskRun]) -> list[TimeBar]:
    """When each task ran, relative to the first start."""
    starts = [task.started_at for task in tasks if task.started_at]
    if not starts:
        return [TimeBar(task, 0, 0, "rest") for task in tasks]
    first = min(starts)
    end = run.finished_at or timezone.now()
    span = max((end - first).total_seconds(), 0.001)
    bars = []
    for task in tasks:
        start = (task.started_at - first).total_seconds() / span * 100 if task.started_at else 0.0
        width = max((task.seconds or 0.0) / span * 100, 0.5) if task.started_at else 0.0
        start, width = min(start, 99.5), min(width, 100 - min(start, 99.5))
        bars.append(
            TimeBar(task, round(start, 2), round(width, 2), TASK_COLOURS.get(TaskState(task.state), "rest"))
        )
    return bars


@dataclass(frozen=True)
class Bar:
    """One of the last runs of a pipeline: a bar as high as the run was long."""

    run: Run
    x: int
    y: float
    height: float
    colour: str


@dataclass(frozen=True)
class PipelineRow:
    """A pipeline in a list, with its last runs."""

    pipeline: Pipeline
    bars: list[Bar]
    last: Run | None


def pipeline_rows(pipelines: Iterable[Pipeline]) -> list[PipelineRow]:
    """The pipelines with their last runs. One query besides the pipelines' own."""
    found = list(pipelines)
    runs = last_runs(found, BARS)
    return [_row(each, runs.get(each.pk, [])) for each in found]


def _row(pipeline: Pipeline, runs: list[Run]) -> PipelineRow:
    return PipelineRow(pipeline, _bars(runs), runs[-1] if runs else None)


def _bars(runs: list[Run]) -> list[Bar]:
    longest = max((run.seconds or 0.0 for run in runs), default=0.0)
    bars = []
    for index, run in enumerate(runs):
        # The root keeps short runs visible beside a long one.
        height = 5 + 13 * math.sqrt((run.seconds or 0.0) / longest) if longest else 5.0
        colour = BAR_COLOURS.get(RunState(run.state), "rest")
        bars.append(Bar(run, (BARS - len(runs) + index) * 7, round(18 - height, 1), round(height, 1), colour))
    return bars
