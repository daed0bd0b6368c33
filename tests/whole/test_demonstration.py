"""The main job: `make up` brings a console up, and a pipeline on real flights runs through every room."""

from __future__ import annotations

from typing import Any

import pytest

from console.demonstration.check import TABLES, check
from tenure.client import Client
from tenure.errors import NotAuthenticated
from tests.consoles import ROOT, Console

RUN = "namespaces/flights/pipelines/flight_delays/runs/1"


def test_the_tables_hold_the_right_answers(console: Console, client: Client) -> None:
    rows = check(f"{console.url}/iceberg", client.token)
    assert rows["flights"] == 336_776
    assert rows["delays_by_weather"] == 335_220


def test_its_run_succeeded_in_one_attempt_with_every_task(client: Client) -> None:
    run = client.get(RUN)
    assert (run["state"], run["attempt"], run["version"]) == ("succeeded", 1, 1)
    assert {task["task"] for task in run["tasks"]} == set(TABLES)
    assert all(task["state"] == "succeeded" and task["seconds"] > 0 for task in run["tasks"])


def test_every_read_and_write_was_authorised_and_recorded_with_run_and_task(client: Client) -> None:
    for name in TABLES:
        accesses = list(client.results(f"namespaces/flights/datasets/{name}/accesses"))
        mine = [each for each in accesses if each["run"] == 1]
        writes = [each for each in mine if each["access"] == "write"]
        assert [each["task"] for each in writes] == [name]
        assert all(each["outcome"] == "allowed" and each["actor_kind"] == "run" for each in mine)


def test_a_snapshot_says_which_run_and_task_wrote_it(client: Client) -> None:
    newest = client.get("namespaces/flights/datasets/delays_by_carrier/snapshots")["results"][0]
    assert (newest["pipeline"], newest["run"], newest["task"]) == (
        "flights/flight_delays",
        1,
        "delays_by_carrier",
    )
    assert newest["rows"] == 16


def test_flights_are_partitioned_by_month(console: Console, client: Client) -> None:
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog("tenure", type="rest", uri=f"{console.url}/iceberg", token=client.token)
    table = catalog.load_table(("flights", "flights"))
    assert [field.name for field in table.spec().fields] == ["month"]
    march = list(table.scan(row_filter="month = 3").plan_files())
    everything = list(table.scan().plan_files())
    assert 0 < len(march) < len(everything)


def test_lineage_leads_from_the_files_to_the_delays(client: Client) -> None:
    graph = client.get("namespaces/flights/datasets/delays_by_carrier/lineage?levels=2")
    edges = {tuple(edge) for edge in graph["edges"]}
    assert ("dataset:flights/flights", "task:flights/flight_delays/delays_by_carrier") in edges
    assert ("task:flights/flight_delays/delays_by_carrier", "dataset:flights/delays_by_carrier") in edges
    assert ("dataset:flights/flights_file", "task:flights/flight_delays/flights") in edges


def test_deploying_the_same_file_again_makes_no_new_version(client: Client) -> None:
    source = client.get("namespaces/flights/pipelines/flight_delays/versions/1")["source"]
    started = client.put("namespaces/flights/pipelines/flight_delays", {"source": source})
    operation: dict[str, Any] = client.wait_for_operation(started["id"])
    assert operation["result"]["created"] is False
    assert len(list(client.results("namespaces/flights/pipelines/flight_delays/versions"))) == 1


def test_the_file_that_doubles_as_tutorial_is_short() -> None:
    text = (ROOT / "console/demonstration/flight_delays.py").read_text()
    assert len(text.splitlines()) < 80


@pytest.mark.parametrize("path", ["namespaces", "namespaces/flights", "namespaces/nowhere"])
def test_without_a_token_there_is_nothing_to_see(console: Console, path: str) -> None:
    with pytest.raises(NotAuthenticated):
        Client(console.url, "rubbish").get(path)
