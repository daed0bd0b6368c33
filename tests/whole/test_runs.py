"""The way of a run: live state and log, failing, cancelling, and a worker that is killed half-way."""

from __future__ import annotations

import os
import signal

import psutil

from tenure.client import Client
from tenure.errors import TenureError
from tests.consoles import Console, eventually
from tests.whole.conftest import Workshop

HEAD = """
import time
from tenure import Pipeline
pipeline = Pipeline("work", retries=1)
pipeline.table("numbers")
pipeline.table("doubled")
"""

STEADY = (
    HEAD
    + """
@pipeline.task(writes=["numbers"])
def make(spark, numbers):
    print("making numbers")
    numbers.overwrite(spark.range(1000))


@pipeline.task(reads=["numbers"], writes=["doubled"])
def double(numbers, doubled):
    frame = numbers.read()
    doubled.append(frame.selectExpr("id * 2 AS id"))
    for second in range(SECONDS):
        print("second", second)
        time.sleep(1)
"""
)

FAILING = (
    HEAD
    + """
@pipeline.task(writes=["numbers"])
def make(spark, numbers):
    wanted = {"rows": 10}
    numbers.overwrite(spark.range(wanted["row"]))


@pipeline.task(reads=["numbers"], writes=["doubled"])
def double(numbers, doubled):
    doubled.overwrite(numbers.read())
"""
)


def test_a_run_shows_its_tasks_and_its_log(workshop: Workshop) -> None:
    workshop.deploy("work", STEADY.replace("SECONDS", "0"))
    number = workshop.start("work")
    run = workshop.ended("work", number)
    assert run["state"] == "succeeded"
    assert "making numbers" in workshop.log("work", number)
    assert workshop.snapshots("doubled")[0]["rows"] == 1000


def test_a_failing_task_shows_its_traceback_and_what_follows_is_skipped(workshop: Workshop) -> None:
    workshop.deploy("work", FAILING)
    run = workshop.ended("work", workshop.start("work"))
    tasks = {task["task"]: task for task in run["tasks"]}
    assert run["state"] == "failed"
    assert "make" in run["error"] and "KeyError" in run["error"]
    assert 'numbers.overwrite(spark.range(wanted["row"]))' in tasks["make"]["error"]
    assert tasks["double"]["state"] == "skipped"
    assert workshop.snapshots("numbers") == []


def test_cancel_stops_the_driver(console: Console, workshop: Workshop) -> None:
    workshop.deploy("work", STEADY.replace("SECONDS", "300"))
    number = workshop.start("work")
    workshop.until("work", number, "double", "running")
    eventually(lambda: "second 0" in workshop.log("work", number), 30)
    drivers = drivers_of(console)
    workshop.client.post(f"{workshop.path('work')}/runs/{number}/cancel")
    run = workshop.ended("work", number, 20)
    assert run["state"] == "cancelled"
    assert {task["task"]: task["state"] for task in run["tasks"]} == {
        "make": "succeeded",
        "double": "cancelled",
    }
    # One of them was the run's; what is left can only be the spare.
    assert len([driver for driver in drivers if alive(driver)]) < len(drivers)


def test_a_killed_worker_costs_an_attempt_and_no_data(console: Console, workshop: Workshop) -> None:
    workshop.deploy("work", STEADY.replace("SECONDS", "20"))
    number = workshop.start("work")
    workshop.until("work", number, "double", "running")
    eventually(lambda: len(workshop.snapshots("doubled")) == 1, 30)
    killed = console.processes()["spark-worker"]["pid"]
    drivers = drivers_of(console)
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: workshop.run("work", number)["attempt"] == 2, 60)
    assert not any(alive(driver) for driver in drivers)
    run = workshop.ended("work", number, 120)
    assert (run["state"], run["attempt"]) == ("succeeded", 2)
    # The append of the first attempt was committed: the second must not repeat it.
    assert [snapshot["rows"] for snapshot in workshop.snapshots("doubled")] == [1000]
    # And the task that had ended was not run again.
    assert {task["task"]: task["attempt"] for task in run["tasks"]} == {"make": 1, "double": 2}
    worker = console.processes()["spark-worker"]
    assert worker["restarts"] >= 1
    assert "SIGKILL" in worker["last_exit"]


def test_a_first_task_starts_soon_after_the_post(workshop: Workshop) -> None:
    workshop.deploy("work", STEADY.replace("SECONDS", "0"))
    run = workshop.ended("work", workshop.start("work"))
    assert run["started_at"] >= run["created_at"]
    assert all(task["started_at"] >= run["started_at"] for task in run["tasks"])


def test_an_append_by_two_runs_keeps_both(workshop: Workshop) -> None:
    workshop.deploy("work", STEADY.replace("SECONDS", "0"))
    for _ in range(2):
        assert workshop.ended("work", workshop.start("work"))["state"] == "succeeded"
    assert [snapshot["rows"] for snapshot in workshop.snapshots("doubled")] == [2000, 1000]


def test_one_may_read_a_table_and_write_another_but_not_more_than_the_graph_says(workshop: Workshop) -> None:
    source = HEAD + (
        "@pipeline.task(writes=['numbers'])\n"
        "def make(spark, numbers):\n"
        "    numbers.overwrite(spark.range(3))\n"
        "@pipeline.task(reads=['numbers'])\n"
        "def cheat(spark, numbers):\n"
        "    numbers.overwrite(spark.range(5))\n"
    )
    workshop.deploy("work", source)
    run = workshop.ended("work", workshop.start("work"))
    tasks = {task["task"]: task for task in run["tasks"]}
    assert workshop.snapshots("numbers")[0]["rows"] == 3
    assert tasks["cheat"]["state"] == "failed"


def drivers_of(console: Console) -> list[psutil.Process]:
    """The driver processes of the console's spark worker."""
    worker = psutil.Process(console.processes()["spark-worker"]["pid"])
    return [child for child in worker.children(recursive=True) if "tenure.driver" in child.cmdline()]


def alive(process: psutil.Process) -> bool:
    """Whether a process still does anything."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_runs_are_listed_newest_first(client: Client, workshop: Workshop) -> None:
    workshop.deploy("work", STEADY.replace("SECONDS", "0"))
    first, second = workshop.start("work"), workshop.start("work")
    listed = client.get(f"{workshop.path('work')}/runs")["results"]
    assert [run["number"] for run in listed] == [second, first]
    for number in (first, second):
        assert workshop.ended("work", number)["state"] == "succeeded"


def test_a_killed_database_costs_no_run(console: Console, workshop: Workshop) -> None:
    workshop.deploy("work", STEADY.replace("SECONDS", "8"))
    number = workshop.start("work")
    workshop.until("work", number, "double", "running")
    os.kill(console.processes()["postgres"]["pid"], signal.SIGKILL)
    eventually(lambda: _answers(workshop, number), 30, console)
    run = workshop.ended("work", number, 120)
    assert run["state"] == "succeeded", run["error"]
    assert [snapshot["rows"] for snapshot in workshop.snapshots("doubled")] == [1000]
    assert "second 7" in workshop.log("work", number)


def _answers(workshop: Workshop, number: int) -> bool:
    try:
        return bool(workshop.run("work", number))
    except TenureError:
        return False
