"""The lineage of a dataset, as far as a principal may see: datasets and tasks, and what flowed where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from django.db.models import Q

from lineage.models import Pipeline
from lineage.queries import Flow, Ref, flows_around
from namespaces.principals import Principal
from registry.models import Dataset
from tenure.errors import InvalidInput

MAX_LEVELS = 3


@dataclass(frozen=True)
class Node:
    """A dataset or a task. A hidden one stands for something that the principal may not see."""

    id: str
    kind: str
    namespace: str = ""
    name: str = ""
    label: str = ""
    pipeline: str = ""
    last_run: int | None = None
    last_at: str = ""
    type: str = ""
    rows: int | None = None
    hidden: bool = False
    deleted: bool = False


@dataclass
class LineageGraph:
    """Nodes and directed edges (from, to) around one dataset."""

    dataset: str
    levels: int
    nodes: list[Node] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)


def lineage_of(principal: Principal, dataset: Dataset, levels: int = 1) -> LineageGraph:
    """What fed the dataset and what it fed, `levels` hops each way; a query for each level and two more."""
    if not 1 <= levels <= MAX_LEVELS:
        raise InvalidInput(f"levels={levels} is outside 1 to {MAX_LEVELS}.")
    start: Ref = (dataset.namespace.name, dataset.name)
    flows = _walk(start, levels)
    graph = LineageGraph(str(dataset), levels)
    _Drawing(principal, graph, start, flows).draw()
    return graph


def _walk(start: Ref, levels: int) -> set[Flow]:
    """Flows upstream and downstream of `start`: reads of its writers, writes of its readers, and so on."""
    kept: set[Flow] = set()
    upstream, downstream = {start}, {start}
    for _ in range(levels):
        around = flows_around(upstream | downstream)
        into = {flow.program for flow in around if flow.writes and flow.dataset in upstream}
        out_of = {flow.program for flow in around if flow.reads and flow.dataset in downstream}
        before = {flow for flow in around if flow.program in into and flow.reads}
        after = {flow for flow in around if flow.program in out_of and flow.writes}
        kept |= before | after
        kept |= {flow for flow in around if flow.writes and flow.dataset in upstream}
        kept |= {flow for flow in around if flow.reads and flow.dataset in downstream}
        upstream = {flow.dataset for flow in before}
        downstream = {flow.dataset for flow in after}
        if not upstream and not downstream:
            break
    return kept


class _Drawing:
    """Turns flows into nodes and edges, hiding what the principal may not see."""

    def __init__(self, principal: Principal, graph: LineageGraph, start: Ref, flows: set[Flow]) -> None:
        self.principal = principal
        self.graph = graph
        self.flows = sorted(flows, key=lambda flow: (flow.program, flow.dataset, flow.access))
        self.refs = {flow.dataset for flow in flows} | {start}
        self.datasets = _visible_datasets(principal, self.refs)
        self.pipelines = _visible_pipelines(principal, {flow.pipeline for flow in flows})

    def draw(self) -> None:
        """Fill the graph."""
        nodes = {node.id: node for node in map(self._dataset, sorted(self.refs))}
        edges = set()
        for flow in self.flows:
            task = self._task(flow)
            known = nodes.get(task.id)
            if known is None or known.last_at < task.last_at:
                nodes[task.id] = task
            dataset = self._dataset(flow.dataset).id
            if flow.reads:
                edges.add((dataset, task.id))
            if flow.writes:
                edges.add((task.id, dataset))
        self.graph.nodes = list(nodes.values())
        self.graph.edges = sorted(edges)

    def _dataset(self, ref: Ref) -> Node:
        found = self.datasets.get(ref)
        if found is not None:
            table = getattr(found, "table", None)
            return Node(
                id=f"dataset:{ref[0]}/{ref[1]}",
                kind="dataset",
                namespace=ref[0],
                name=ref[1],
                label=ref[1],
                type=found.get_type_display(),
                rows=table.rows if table else None,
            )
        if self.principal.sees_everything:
            return Node(f"dataset:{ref[0]}/{ref[1]}", "dataset", *ref, label=ref[1], deleted=True)
        return Node("dataset:hidden", "dataset", label="datasets you may not see", hidden=True)

    def _task(self, flow: Flow) -> Node:
        if flow.pipeline not in self.pipelines and not self.principal.sees_everything:
            return Node("task:hidden", "task", label="tasks you may not see", hidden=True)
        namespace, _, name = flow.pipeline.partition("/")
        return Node(
            id=f"task:{flow.pipeline}/{flow.task}",
            kind="task",
            namespace=namespace,
            name=name,
            label=flow.task,
            pipeline=flow.pipeline,
            last_run=flow.last_run,
            last_at=flow.last_at.isoformat(),
            deleted=flow.pipeline not in self.pipelines,
        )


def _visible_datasets(principal: Principal, refs: Iterable[Ref]) -> dict[Ref, Dataset]:
    named = reduce(or_, (Q(namespace__name=namespace, name=name) for namespace, name in refs), Q(pk__in=()))
    found = Dataset.objects.visible_to(principal).filter(named).with_facts()
    return {(dataset.namespace.name, dataset.name): dataset for dataset in found}


def _visible_pipelines(principal: Principal, paths: Iterable[str]) -> set[str]:
    refs = [path.partition("/") for path in paths]
    named = reduce(
        or_, (Q(namespace__name=namespace, name=name) for namespace, _, name in refs), Q(pk__in=())
    )
    found = Pipeline.objects.visible_to(principal).filter(named).values_list("namespace__name", "name")
    return {f"{namespace}/{name}" for namespace, name in found}
