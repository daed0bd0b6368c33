"""Lineage: what the accesses of runs say about which dataset fed which, as far as one may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from lineage.database import DirectDatabase
from lineage.models import PipelineDataset
from namespaces.models import Grant, Namespace
from namespaces.principals import SYSTEM, principal_of
from registry.models import Dataset
from registry.services.datasets import open_dataset
from tenure import database as contract
from tenure.errors import Forbidden
from tests.asking import assert_problem

FLIGHTS = "/api/v1/namespaces/flights/datasets/flights/lineage"
Api = Callable[..., APIClient]


@pytest.fixture
def moved(driver: DirectDatabase) -> DirectDatabase:
    """A run in which each task read and wrote what it names."""
    for task, read, write in (("ingest", "raw", "flights"), ("average", "flights", "by_carrier")):
        driver.call(contract.OPEN_DATASET, contract.OpenDataset(task, read, "read", "read"))
        driver.call(contract.OPEN_DATASET, contract.OpenDataset(task, write, "write", "overwrite"))
    return driver


def edges(body: dict[str, Any]) -> set[tuple[str, str]]:
    """The edges, short."""
    return {tuple(end.split("/")[-1] for end in edge) for edge in body["edges"]}  # type: ignore[misc]


def test_one_hop_each_way(api: Api, bob: User, moved: DirectDatabase) -> None:
    body = api(bob).get(FLIGHTS).json()
    assert (body["dataset"], body["levels"]) == ("flights/flights", 1)
    assert edges(body) == {
        ("raw", "ingest"),
        ("ingest", "flights"),
        ("flights", "average"),
        ("average", "by_carrier"),
    }
    tasks = [node for node in body["nodes"] if node["kind"] == "task"]
    assert {(node["label"], node["pipeline"], node["last_run"]) for node in tasks} == {
        ("ingest", "flights/delays", 1),
        ("average", "flights/delays", 1),
    }


def test_the_end_of_the_line_shows_only_what_is_before_it(api: Api, bob: User, moved: DirectDatabase) -> None:
    address = FLIGHTS.replace("datasets/flights", "datasets/by_carrier")
    assert edges(api(bob).get(address).json()) == {("flights", "average"), ("average", "by_carrier")}
    assert edges(api(bob).get(f"{address}?levels=2").json()) == {
        ("flights", "average"),
        ("average", "by_carrier"),
        ("raw", "ingest"),
        ("ingest", "flights"),
    }


def test_a_dataset_that_nobody_touched_stands_alone(api: Api, bob: User, raw: Dataset) -> None:
    body = api(bob).get(FLIGHTS.replace("datasets/flights", "datasets/raw")).json()
    assert [node["name"] for node in body["nodes"]] == ["raw"]
    assert body["edges"] == []


def test_what_was_denied_draws_nothing(api: Api, bob: User, driver: DirectDatabase) -> None:
    Grant.objects.filter(user__username="alice").update(level="READ")
    with pytest.raises(Forbidden):
        driver.call(contract.OPEN_DATASET, contract.OpenDataset("ingest", "flights", "write", "overwrite"))
    assert api(bob).get(FLIGHTS).json()["edges"] == []
    accesses = api(bob).get(FLIGHTS.replace("lineage", "accesses")).json()["results"]
    assert [access["outcome"] for access in accesses] == ["denied"]


def test_what_a_person_read_draws_nothing(api: Api, bob: User, delays: Any) -> None:
    open_dataset(principal_of(bob), namespace="flights", name="flights", access="read", operation="read")
    assert api(bob).get(FLIGHTS).json()["edges"] == []


def test_an_access_is_shown_to_who_sees_the_dataset(
    api: Api, bob: User, mallory: User, moved: DirectDatabase
) -> None:
    address = FLIGHTS.replace("lineage", "accesses")
    accesses = api(bob).get(address).json()["results"]
    assert [(each["access"], each["operation"], each["task"], each["run"]) for each in accesses] == [
        ("read", "read", "average", 1),
        ("write", "overwrite", "ingest", 1),
    ]
    assert_problem(api(mallory).get(address), 404, "'flights'")


def test_what_one_may_not_see_is_hidden_and_not_named(
    api: Api, mallory: User, flights: Namespace, moved: DirectDatabase
) -> None:
    Grant.objects.create(namespace=flights, dataset="flights", user=mallory, level="READ")
    response = api(mallory).get(FLIGHTS)
    body = response.json()
    assert {node["label"] for node in body["nodes"]} == {
        "flights",
        "datasets you may not see",
        "tasks you may not see",
    }
    text = response.content.decode()
    assert not any(word in text for word in ("raw", "by_carrier", "ingest", "delays"))


def test_what_was_deleted_is_shown_as_such_to_an_auditor(
    api: Api, auditor: User, bob: User, moved: DirectDatabase
) -> None:
    PipelineDataset.objects.filter(dataset__name="raw").delete()
    Dataset.objects.get(name="raw").delete()
    nodes = {
        node["name"]: node for node in api(auditor).get(FLIGHTS).json()["nodes"] if node["kind"] == "dataset"
    }
    assert nodes["raw"]["deleted"]
    assert "raw" not in api(bob).get(FLIGHTS).content.decode().replace("draw", "")


@pytest.mark.parametrize("levels", ["0", "4", "-1", "x", "", "1.5", "9" * 5000])
def test_levels_outside_their_bounds_are_refused(api: Api, bob: User, delays: Any, levels: str) -> None:
    assert_problem(api(bob).get(f"{FLIGHTS}?levels={levels}"), 400, "levels=")


@pytest.mark.parametrize("rounds", [1, 40])
def test_the_number_of_queries_does_not_depend_on_the_number_of_accesses(
    api: Api, alice: User, moved: DirectDatabase, rounds: int, django_assert_max_num_queries: Any
) -> None:
    for _ in range(rounds):
        moved.call(contract.OPEN_DATASET, contract.OpenDataset("ingest", "raw", "read", "read"))
    client = api(alice)
    with django_assert_max_num_queries(8):
        client.get(FLIGHTS)


def test_tenure_itself_sees_all(moved: DirectDatabase) -> None:
    from lineage.services.graph import lineage_of

    dataset = Dataset.objects.with_facts().get(name="flights")
    assert len(lineage_of(SYSTEM, dataset).nodes) == 5


def test_who_may_see_one_dataset_alone_learns_of_no_run(
    api: Api, mallory: User, flights: Namespace, moved: DirectDatabase
) -> None:
    Grant.objects.create(namespace=flights, dataset="flights", user=mallory, level="READ")
    accesses = api(mallory).get(FLIGHTS.replace("/lineage", "/accesses")).json()["results"]
    assert {each["access"] for each in accesses} == {"read", "write"}
    assert all((each["pipeline"], each["run"], each["task"]) == ("", None, "") for each in accesses)
    page = api(mallory).get("/datasets/flights/flights/accesses").content.decode()
    assert "delays" not in page and "ingest" not in page


def test_a_dataset_of_the_same_name_starts_without_a_past(
    api: Api, bob: User, flights: Namespace, moved: DirectDatabase
) -> None:
    Dataset.objects.filter(name="flights").update(created_at=timezone.now())
    assert api(bob).get(FLIGHTS.replace("/lineage", "/accesses")).json()["results"] == []
