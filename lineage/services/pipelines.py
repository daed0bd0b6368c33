"""Pipelines: deploying a file, and storing the graph that an untrusted child read from it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from lineage.models import Pipeline, PipelineDataset, PipelineVersion
from lineage.services.schedules import next_time
from namespaces.alarm import wake
from namespaces.models import Action, Level, Namespace, Operation
from namespaces.principals import Principal, principal_of
from namespaces.services.audit import record
from namespaces.services.grants import require
from namespaces.services.operations import (
    OperationKind,
    fail_operation,
    refused_operation,
    start_operation,
    succeed_operation,
)
from namespaces.tokens import Work, WorkToken
from registry.models import Dataset, DatasetType
from registry.services.datasets import put_dataset
from tenure.errors import Conflict, InvalidPipeline, NotFound, TenureError
from tenure.names import check_name
from tenure.pipeline import Graph, TaskSpec, canonical, check_graph, graph_hash


def get_pipeline(principal: Principal, namespace: str, name: str) -> Pipeline:
    """The pipeline with its facts, or `NotFound` when there is none that the principal may see."""
    pipelines = Pipeline.objects.visible_to(principal).with_facts()
    pipeline = pipelines.filter(namespace__name=namespace, name=name).first()
    if pipeline is None:
        raise NotFound(f"There is no pipeline {name!r} in namespace {namespace!r}.")
    return pipeline


@transaction.atomic
def deploy_pipeline(actor: Principal, *, namespace: Namespace, name: str, source: str) -> Operation:
    """Start the operation that parses the file and, if it is valid, makes it the current version.

    The text is only stored inside the pending operation; a text over the limit not even there.
    """
    check_name("pipeline", name)
    require(actor, Level.WRITE, namespace)
    size, limit = len(source.encode()), settings.TENURE_MAX_SOURCE_BYTES
    if size > limit:
        line = source.encode()[:limit].count(b"\n") + 1
        error = InvalidPipeline(
            f"The file has {size:,} bytes and the limit of {limit:,} is passed in line {line}. "
            "Keep data out of the file: read it from a dataset.",
            line=line,
        )
        return refused_operation(
            actor, kind=DEPLOY_PIPELINE.name, namespace=namespace.name, target=name, error=error
        )
    if "\x00" in source:
        line = source[: source.index("\x00")].count("\n") + 1
        error = InvalidPipeline("The file holds a NUL character; it must be UTF-8 text.", line=line)
        return refused_operation(
            actor, kind=DEPLOY_PIPELINE.name, namespace=namespace.name, target=name, error=error
        )
    return start_operation(
        actor, kind=DEPLOY_PIPELINE.name, namespace=namespace.name, target=name, input={"source": source}
    )


MAX_GRAPH_BYTES = 1024 * 1024
MAX_SCHEDULE = 100


def _wake_parser(operation: Operation) -> None:
    wake("tenure.parse", WorkToken(Work.OPERATION, operation.pk, operation.attempt).sign())


DEPLOY_PIPELINE = OperationKind("deploy_pipeline", _wake_parser, silence_seconds=45.0)


def refuse_source(operation: Operation, reason: str, line: int) -> None:
    """The child found that the file is no pipeline: the operation fails with the line and the reason."""
    fail_operation(operation, InvalidPipeline(reason[:4000], line=line or None))


def store_graph(operation: Operation, graph: Graph) -> None:
    """Check the graph that the child read and make it current; a refusal fails the operation and is raised.

    The child is not trusted: everything that it could have checked is checked again here.
    """
    try:
        deployment = _check_deployment(operation, graph)
        with transaction.atomic():
            version, created = _store_version(deployment)
            if not succeed_operation(operation, _result(version, created), _message(version, created)):
                raise Conflict(f"Operation {operation.pk} has already {operation.state}.")
    except TenureError as error:
        fail_operation(operation, error)
        raise


def _result(version: PipelineVersion, created: bool) -> dict[str, object]:
    return {"pipeline": str(version.pipeline), "version": version.number, "created": created}


def _message(version: PipelineVersion, created: bool) -> str:
    if created:
        return f"Version {version.number} is current."
    return f"Nothing changed: version {version.number} stays current."


@dataclass(frozen=True)
class _Deployment:
    """A checked deployment: who deploys what, where."""

    actor: Principal
    namespace: Namespace
    graph: Graph
    source: str


def _check_deployment(operation: Operation, graph: Graph) -> _Deployment:
    if operation.owner is None:
        raise Conflict(f"{operation.actor}, who deployed this, is no longer a user.")
    actor = principal_of(operation.owner)
    namespace = Namespace.objects.get(name=operation.namespace)
    require(actor, Level.WRITE, namespace)
    if graph.name != operation.target:
        raise InvalidPipeline(
            f"The file defines pipeline {graph.name!r}, but it was sent as {operation.target!r}."
        )
    check_graph(graph)
    _check_size(graph)
    next_time(graph.schedule, timezone.now())
    _check_datasets(actor, namespace, graph)
    return _Deployment(actor, namespace, graph, operation.input["source"])


def _check_size(graph: Graph) -> None:
    """A graph is stored with each version and read by each run: it holds names, not data."""
    size = len(canonical(graph).encode(errors="replace"))
    if size > MAX_GRAPH_BYTES:
        raise InvalidPipeline(f"The graph takes {size:,} bytes; the limit is {MAX_GRAPH_BYTES:,}.")
    if len(graph.schedule) > MAX_SCHEDULE:
        raise InvalidPipeline(
            f"The schedule has {len(graph.schedule)} characters; the limit is {MAX_SCHEDULE}."
        )
    texts = [graph.description]
    texts += [task.description for task in graph.tasks]
    texts += [dataset.description for dataset in graph.datasets]
    if any("\x00" in text for text in texts):
        raise InvalidPipeline("A description holds a NUL character.")


def _check_datasets(actor: Principal, namespace: Namespace, graph: Graph) -> None:
    """Every dataset that a task uses is declared in the file or registered and visible to the deployer."""
    declared = {dataset.name: dataset.type for dataset in graph.datasets}
    for dataset in graph.datasets:
        if dataset.type != DatasetType.TABLE:
            raise InvalidPipeline(
                f"Dataset {dataset.name!r}: a file declares tables; register a {dataset.type} first."
            )
    visible = Dataset.objects.visible_to(actor).filter(namespace=namespace, name__in=graph.used_datasets())
    registered = dict(visible.values_list("name", "type"))
    for task in graph.tasks:
        _check_task_datasets(task, namespace, registered | declared)


def _check_task_datasets(task: TaskSpec, namespace: Namespace, types: dict[str, str]) -> None:
    for name in (*task.reads, *task.writes):
        if name not in types:
            raise InvalidPipeline(
                f"Task {task.name!r} uses dataset {name!r}, which is neither declared in the file "
                f"nor registered in namespace {namespace.name!r}.",
                line=task.line,
            )
    for name in task.writes:
        if types[name] == DatasetType.FILE_SET:
            raise InvalidPipeline(
                f"Task {task.name!r} writes {name!r}, which is a file_set: only tables and external "
                "datasets can be written.",
                line=task.line,
            )


def _store_version(deployment: _Deployment) -> tuple[PipelineVersion, bool]:
    namespace, graph = deployment.namespace, deployment.graph
    for declared in graph.datasets:
        put_dataset(
            deployment.actor,
            namespace=namespace,
            name=declared.name,
            type=declared.type,
            description=declared.description or None,
            properties=declared.properties,
        )
    pipeline, _ = Pipeline.objects.get_or_create(namespace=namespace, name=graph.name)
    # The lock makes two deployments of one pipeline follow one another: numbers have no gaps.
    # Its version is read after it: a join would show the row as it was before the wait.
    pipeline = Pipeline.objects.select_for_update().get(pk=pipeline.pk)
    source_hash = hashlib.sha256(deployment.source.encode()).hexdigest()
    current = pipeline.current_version
    if current and (current.source_hash, current.graph_hash) == (source_hash, graph_hash(graph)):
        _take_over(deployment, pipeline)
        return current, False
    version = PipelineVersion.objects.create(
        pipeline=pipeline,
        number=current.number + 1 if current else 1,
        source=deployment.source,
        source_hash=source_hash,
        graph=json.loads(canonical(graph)),
        graph_hash=graph_hash(graph),
        lines={task.name: task.line for task in graph.tasks},
        created_by=deployment.actor.name,
    )
    _make_current(deployment, pipeline, version)
    return version, True


def _take_over(deployment: _Deployment, pipeline: Pipeline) -> None:
    """The same file by somebody else: no new version, and from now on its runs act for them."""
    if pipeline.owner_id == deployment.actor.user_id:
        return
    pipeline.owner_id = deployment.actor.user_id
    pipeline.save(update_fields=["owner"])
    record(
        deployment.actor,
        Action.PIPELINE_TAKEN_OVER,
        "pipeline",
        pipeline.name,
        namespace=deployment.namespace.name,
    )


def _make_current(deployment: _Deployment, pipeline: Pipeline, version: PipelineVersion) -> None:
    graph = deployment.graph
    if graph.schedule != pipeline.schedule or pipeline.current_version is None:
        pipeline.next_run_at = next_time(graph.schedule, timezone.now())
    pipeline.description = graph.description
    pipeline.schedule = graph.schedule
    pipeline.retries = graph.retries
    pipeline.current_version = version
    # Whose code it is, is who it acts for: nobody may have code of theirs run with another's grants.
    pipeline.owner_id = deployment.actor.user_id
    pipeline.save()
    used = Dataset.objects.filter(namespace=deployment.namespace, name__in=graph.used_datasets())
    PipelineDataset.objects.filter(pipeline=pipeline).delete()
    PipelineDataset.objects.bulk_create(
        PipelineDataset(pipeline=pipeline, dataset=dataset) for dataset in used
    )
    record(
        deployment.actor,
        Action.PIPELINE_VERSION_CREATED,
        "pipeline",
        pipeline.name,
        namespace=deployment.namespace.name,
        detail={"version": version.number, "source": version.short_hash, "tasks": len(graph.tasks)},
    )
