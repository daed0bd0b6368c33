"""The audit log: append-only, one event for one deed, and denials that outlive the refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from rest_framework.test import APIClient

from lineage.database import DirectDatabase
from lineage.models import Pipeline, Run
from lineage.services import runs
from namespaces.models import Action, AuditEvent, Grant, Namespace
from namespaces.principals import SYSTEM, principal_of
from namespaces.services.grants import add_grant, remove_grant
from namespaces.services.tenancy import put_namespace
from registry.models import Dataset, Specification
from registry.services.datasets import open_dataset, put_dataset
from registry.services.deletion import delete_dataset, remove_files
from tenure import database as contract
from tenure.errors import Forbidden
from tests.conftest import SOURCE, deploy


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE namespaces_auditevent SET actor = 'nobody'",
        "DELETE FROM namespaces_auditevent",
        "TRUNCATE namespaces_auditevent",
        "TRUNCATE namespaces_auditevent CASCADE",
    ],
)
def test_no_statement_changes_what_was_recorded(flights: Namespace, statement: str) -> None:
    with pytest.raises(DatabaseError, match="pgtrigger"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEvent.objects.get().actor == "tenure"


@pytest.mark.parametrize("table", ["lineage_pipelineversion", "registry_specification"])
def test_versions_do_not_change(delays: Pipeline, table: str) -> None:
    with pytest.raises(DatabaseError, match="pgtrigger"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET created_by = 'nobody'")  # noqa: S608  # a name from above


def test_every_deed_leaves_exactly_one_event(
    alice: User, bob: User, flights: Namespace, raw: Dataset
) -> None:
    who = principal_of(alice)
    seen = AuditEvent.objects.count()

    def did(action: Action, outcome: str = "allowed") -> AuditEvent:
        nonlocal seen
        event = AuditEvent.objects.get(pk=AuditEvent.objects.latest("pk").pk)
        assert AuditEvent.objects.count() == seen + 1, action
        assert (event.action, event.outcome) == (action, outcome)
        assert event.transaction_id > 0
        assert event.namespace == "flights"
        seen += 1
        return event

    put_namespace(who, name="flights", description="New")
    did(Action.NAMESPACE_UPDATED)
    put_namespace(who, name="flights", description="New")
    grant, _ = add_grant(who, namespace=flights, level="WRITE", user="bob")
    did(Action.GRANT_ADDED)
    remove_grant(who, grant)
    did(Action.GRANT_REMOVED)
    extra, _ = put_dataset(who, namespace=flights, name="extra", type="table")
    did(Action.DATASET_CREATED)
    put_dataset(who, namespace=flights, name="extra", type="table")
    put_dataset(who, namespace=flights, name="extra", description="More")
    did(Action.DATASET_UPDATED)
    open_dataset(who, namespace="flights", name="extra", access="read", operation="read")
    did(Action.DATASET_ACCESSED)
    operation = delete_dataset(who, extra)
    did(Action.DATASET_DELETED)
    remove_files(operation.pk)
    did(Action.DATASET_FILES_REMOVED)
    remove_files(operation.pk)
    assert AuditEvent.objects.count() == seen


def test_the_life_of_a_run_is_told_once(alice: User, flights: Namespace, raw: Dataset) -> None:
    seen = AuditEvent.objects.count()
    deploy(alice, flights)
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))[seen:]
    assert actions == [Action.DATASET_CREATED, Action.DATASET_CREATED, Action.PIPELINE_VERSION_CREATED]
    deploy(alice, flights)
    assert AuditEvent.objects.count() == seen + 3
    run = runs.start_run(principal_of(alice), Pipeline.objects.get())
    runs.cancel_run(principal_of(alice), run)
    told = list(AuditEvent.objects.order_by("pk").values_list("action", "actor", "target"))[seen + 3 :]
    assert told == [
        (Action.RUN_STARTED, "alice", "delays/1"),
        (Action.RUN_FINISHED, "tenure", "delays/1"),
        (Action.RUN_CANCELLED, "alice", "delays/1"),
    ]


def test_asking_twice_to_cancel_is_recorded_once(alice: User, running: Run) -> None:
    for _ in range(2):
        runs.cancel_run(principal_of(alice), running)
    assert AuditEvent.objects.filter(action=Action.RUN_CANCELLED).count() == 1


def test_a_denial_is_recorded_though_it_is_raised(bob: User, raw: Dataset) -> None:
    with pytest.raises(Forbidden, match="WRITE is missing"):
        open_dataset(
            principal_of(bob), namespace="flights", name="raw", access="read_write", operation="merge"
        )
    event = AuditEvent.objects.accesses().get()
    assert (event.actor, event.outcome, event.access, event.detail) == (
        "bob",
        "denied",
        "read_write",
        {"operation": "merge"},
    )


def test_what_is_recorded_outlives_whom_it_names(alice: User, raw: Dataset) -> None:
    delete_dataset(principal_of(alice), raw)
    alice.delete()
    assert AuditEvent.objects.filter(actor="alice", target="raw").count() == 2
    assert not Specification.objects.exists()


def test_a_deed_that_is_rolled_back_was_never_done(db: None) -> None:
    before = AuditEvent.objects.count()
    with pytest.raises(RuntimeError), transaction.atomic():
        put_namespace(SYSTEM, name="brief")
        raise RuntimeError
    assert AuditEvent.objects.count() == before


def test_events_of_one_transaction_share_its_number(alice: User, flights: Namespace, raw: Dataset) -> None:
    deploy(alice, flights)
    numbers = set(AuditEvent.objects.values_list("transaction_id", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        assert numbers == {cursor.fetchone()[0]}


def test_an_admin_reads_what_happened_in_their_namespace_alone(
    api: Callable[..., APIClient], alice: User, mallory: User, auditor: User, run: Run
) -> None:
    own = api(alice).get("/api/v1/audit").json()["results"]
    assert {event["namespace"] for event in own} == {"flights"}
    everything = api(auditor).get("/api/v1/audit").json()["results"]
    assert {event["namespace"] for event in everything} == {"flights", "elsewhere"}
    Grant.objects.filter(user=alice).update(level="WRITE")
    assert api(alice).get("/api/v1/audit").json()["results"] == []


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("action=registry:dataset", 5),
        ("outcome=denied", 1),
        ("access=read", 1),
        ("access=write", 1),
        ("actor=nobody", 0),
        ("namespace=flights&target_kind=run", 1),
        ("pipeline=flights/delays&run=1", 2),
        ("task=ingest", 2),
        ("since=2100-01-01T00:00:00Z", 0),
        ("until=2000-01-01T00:00:00Z", 0),
        ("target=raw", 3),
    ],
)
def test_the_log_is_filtered(
    api: Callable[..., APIClient], alice: User, driver: DirectDatabase, query: str, count: int
) -> None:
    driver.call(contract.OPEN_DATASET, contract.OpenDataset("ingest", "raw", "read", "read"))
    with pytest.raises(Forbidden):
        driver.call(contract.OPEN_DATASET, contract.OpenDataset("ingest", "raw", "write", "overwrite"))
    results: list[Any] = api(alice).get(f"/api/v1/audit?{query}").json()["results"]
    assert len(results) == count


def test_the_source_of_these_tests_is_deployable(delays: Pipeline) -> None:
    assert delays.current_version and delays.current_version.source == SOURCE
