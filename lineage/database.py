"""The database API's answers: for each call of the contract, the verb that it runs.

This is a face like the REST API, for work instead of people. `DirectDatabase` is the database
client's direct mode; the HTTP server of the isolated mode does nothing but call it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from lineage.models import Run
from lineage.services import driving, pipelines
from lineage.services.runs import principal_of_run
from namespaces.models import Operation, OperationState
from namespaces.services.operations import claim_operation
from namespaces.tokens import Work, WorkToken
from registry.services.datasets import open_dataset
from tenure import database as contract
from tenure.errors import Forbidden, NotAuthenticated
from tenure.pipeline import Graph

P = TypeVar("P")
R = TypeVar("R")
NOTHING = contract.Nothing()


class DirectDatabase:
    """The database client of a trusted process that does the named work: a call runs the verb."""

    def __init__(self, work: WorkToken) -> None:
        self.work = work

    def call(self, call: contract.Call[P, R], params: P) -> R:
        """Run one call; raises `Forbidden` for a call that this kind of token is not good for."""
        work, answer = ANSWERS[call.name]
        if work != self.work.work:
            raise Forbidden(f"A token for {self.work.work} work is not good for {call.name}.")
        row = _find_operation(self.work) if work == Work.OPERATION else driving.find_run(self.work)
        return cast(R, answer(row, params))


def _find_operation(work: WorkToken) -> Operation:
    """The pending operation that a token names; the first call claims it."""
    claim_operation(work.id, work.attempt)
    operation = Operation.objects.select_related("owner").filter(pk=work.id, attempt=work.attempt).first()
    if operation is None or operation.state != OperationState.RUNNING:
        raise NotAuthenticated("The token is spent: this attempt of the operation is over.")
    return operation


def _claim(run: Run, params: contract.ClaimRun) -> contract.ClaimedRun:
    return driving.claim_run(run, params.worker)


def _heartbeat(run: Run, params: contract.Nothing) -> contract.HeartbeatAnswer:
    return driving.heartbeat(run)


def _load(run: Run, params: contract.Nothing) -> contract.RunPlan:
    return driving.load_run(run)


def _report_task(run: Run, params: contract.TaskReport) -> contract.Nothing:
    driving.report_task(run, params)
    return NOTHING


def _append_log(run: Run, params: contract.LogBatch) -> contract.Nothing:
    driving.append_log(run, params)
    return NOTHING


def _finish(run: Run, params: contract.FinishRun) -> contract.Nothing:
    driving.finish_run(run, params)
    return NOTHING


def _release(run: Run, params: contract.ReleaseRun) -> contract.Nothing:
    driving.release_run(run, params.reason)
    return NOTHING


def _open_dataset(run: Run, params: contract.OpenDataset) -> contract.OpenedDataset:
    namespace = run.pipeline.namespace.name
    dataset = open_dataset(
        principal_of_run(run, params.task),
        namespace=namespace,
        name=params.dataset,
        access=params.access,
        operation=driving.plain_text(params.operation, 100),
        task=params.task,
    )
    return driving.opened(dataset, namespace)


def _load_source(operation: Operation, params: contract.Nothing) -> contract.PipelineSource:
    return contract.PipelineSource(operation.namespace, operation.target, operation.input["source"])


def _store_graph(operation: Operation, params: Graph) -> contract.Nothing:
    pipelines.store_graph(operation, params)
    return NOTHING


def _refuse_source(operation: Operation, params: contract.ParseFailure) -> contract.Nothing:
    pipelines.refuse_source(operation, driving.plain_text(params.reason, 4000), params.line)
    return NOTHING


ANSWERS: dict[str, tuple[Work, Callable[[Any, Any], Any]]] = {
    contract.CLAIM_RUN.name: (Work.CLAIM, _claim),
    contract.HEARTBEAT.name: (Work.RUN, _heartbeat),
    contract.LOAD_RUN.name: (Work.RUN, _load),
    contract.REPORT_TASK.name: (Work.RUN, _report_task),
    contract.APPEND_LOG.name: (Work.RUN, _append_log),
    contract.FINISH_RUN.name: (Work.RUN, _finish),
    contract.RELEASE_RUN.name: (Work.RUN, _release),
    contract.OPEN_DATASET.name: (Work.RUN, _open_dataset),
    contract.LOAD_SOURCE.name: (Work.OPERATION, _load_source),
    contract.STORE_GRAPH.name: (Work.OPERATION, _store_graph),
    contract.REFUSE_SOURCE.name: (Work.OPERATION, _refuse_source),
}
