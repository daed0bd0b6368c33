"""Lists: pages by cursor that hold still while rows are added, for a pinned number of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from lineage.models import LogLine, Pipeline, PipelineVersion, Run
from namespaces.models import AuditEvent, Grant, Namespace, Operation
from registry.models import Dataset, IcebergTable, Snapshot, Specification
from tests.asking import assert_problem

Api = Callable[..., APIClient]
FLIGHTS = "/api/v1/namespaces/flights"
LISTS = [
    "/api/v1/namespaces",
    "/api/v1/datasets",
    "/api/v1/pipelines",
    "/api/v1/runs",
    "/api/v1/operations",
    "/api/v1/audit",
    f"{FLIGHTS}/grants",
    f"{FLIGHTS}/datasets",
    f"{FLIGHTS}/datasets/raw/snapshots",
    f"{FLIGHTS}/datasets/raw/accesses",
    f"{FLIGHTS}/pipelines",
    f"{FLIGHTS}/pipelines/delays/versions",
    f"{FLIGHTS}/pipelines/delays/runs",
    f"{FLIGHTS}/pipelines/delays/runs/1/log",
]


def fill(alice: User, numbers: range) -> None:
    """Add a row of every kind for each number."""
    flights = Namespace.objects.get(name="flights")
    raw, run = Dataset.objects.get(name="raw"), Run.objects.get(number=1)
    version = run.version
    for n in numbers:
        namespace = Namespace.objects.create(name=f"n{n:03}")
        Grant.objects.create(namespace=namespace, user=alice, level="ADMIN")
        Grant.objects.create(namespace=flights, user=alice, level="READ", dataset=f"d{n:03}")
        dataset = Dataset.objects.create(
            namespace=flights, name=f"d{n:03}", type="table", uri=f"iceberg://flights/d{n:03}", owner=alice
        )
        dataset.specification = Specification.objects.create(dataset=dataset, version=1, created_by="alice")
        dataset.save()
        IcebergTable.objects.create(
            dataset=dataset, table_uuid=f"00000000-0000-0000-0000-{n:012}", metadata_location="x", metadata={}
        )
        Snapshot.objects.create(
            dataset=raw, snapshot_id=n, operation="append", committed_at=timezone.now(), actor="a"
        )
        pipeline = Pipeline.objects.create(namespace=flights, name=f"p{n:03}", owner=alice)
        pipeline.current_version = PipelineVersion.objects.create(
            pipeline=pipeline, number=1, source="x", graph=version.graph, created_by="alice"
        )
        pipeline.save()
        PipelineVersion.objects.create(
            pipeline=run.pipeline, number=n + 2, source="x", graph=version.graph, created_by="alice"
        )
        Run.objects.create(
            pipeline=run.pipeline, version=version, number=n + 2, started_by="alice", owner=alice
        )
        Operation.objects.create(kind="tidy", namespace="flights", target="x", owner=alice, actor="alice")
        AuditEvent.objects.create(
            action="registry:dataset:accessed",
            actor="alice",
            actor_kind="user",
            namespace="flights",
            target_kind="dataset",
            target="raw",
            access="read",
        )
        LogLine.objects.create(run=run, attempt=1, number=n, at=timezone.now(), level="info", text="x")


@pytest.mark.parametrize("address", LISTS)
def test_a_list_costs_the_same_for_one_row_and_for_sixty(
    api: Api, alice: User, run: Run, address: str
) -> None:
    client = api(alice)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).json()["results"]
        return len(queries)

    fill(alice, range(1))
    one = cost()
    fill(alice, range(1, 60))
    assert cost() == one
    assert one <= 8


def walk(client: APIClient, address: str, between: Callable[[], None] = lambda: None) -> list[list[Any]]:
    """All pages of a list."""
    pages: list[list[Any]] = []
    following: str | None = address
    while following:
        body = client.get(following).json()
        pages.append(body["results"])
        following = body["next"]
        between()
    return pages


@pytest.mark.parametrize("address", LISTS)
def test_the_pages_of_a_list_hold_each_row_once(api: Api, alice: User, run: Run, address: str) -> None:
    fill(alice, range(25))
    client = api(alice)
    whole = client.get(f"{address}?page_size=200").json()
    pages = walk(client, f"{address}?page_size=10")
    assert [row for page in pages for row in page] == whole["results"]
    assert len(whole["results"]) >= 25
    assert {len(page) for page in pages[:-1]} == {10}


def test_a_page_back_is_the_page_that_was_before(api: Api, alice: User, run: Run) -> None:
    fill(alice, range(25))
    client = api(alice)
    first = client.get("/api/v1/datasets?page_size=10").json()
    second = client.get(first["next"]).json()
    assert first["previous"] is None
    assert client.get(second["previous"]).json()["results"] == first["results"]


@pytest.mark.parametrize(
    "address", ["/api/v1/datasets", f"{FLIGHTS}/pipelines/delays/runs/1/log", "/api/v1/audit"]
)
def test_rows_that_are_added_while_one_reads_shift_nothing(
    api: Api, alice: User, run: Run, address: str
) -> None:
    fill(alice, range(100, 130))
    client = api(alice)
    before = [row for page in walk(client, f"{address}?page_size=7") for row in page]
    number = iter(range(0, 100))

    def add() -> None:
        fill(alice, range(n := next(number), n + 1))

    seen = [str(row) for page in walk(client, f"{address}?page_size=7", add) for row in page]
    assert len(seen) == len(set(seen))
    assert {str(row) for row in before} <= set(seen)


def test_a_filter_stays_on_the_next_page(api: Api, alice: User, run: Run) -> None:
    fill(alice, range(25))
    pages = walk(api(alice), "/api/v1/datasets?page_size=10&type=table&q=d0")
    assert [len(page) for page in pages] == [10, 10, 5]


def test_runs_are_filtered_by_state(api: Api, alice: User, run: Run) -> None:
    client = api(alice)
    assert (
        len(client.get("/api/v1/runs?state=queued&namespace=flights&pipeline=delays").json()["results"]) == 1
    )
    assert client.get("/api/v1/runs?state=failed").json()["results"] == []
    assert client.get("/api/v1/runs?namespace=elsewhere").json()["results"] == []
    assert len(client.get("/api/v1/operations?kind=deploy_pipeline&state=succeeded").json()["results"]) == 1


def test_too_large_a_page_is_refused(api: Api, alice: User) -> None:
    assert_problem(api(alice).get("/api/v1/datasets?page_size=1000"), 400, "page_size", "200")
