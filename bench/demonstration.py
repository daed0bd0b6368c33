"""The demonstration against a plain PySpark script on the same warm server, and the start of a run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from console.demonstration.deploy import NAMESPACE, PIPELINE, PIPELINE_PATH
from tenure.client import Client
from tests.consoles import ROOT, Console

ROUNDS = 5
WARM_UPS = 3
SLOW = """
import time
from tenure import Pipeline
pipeline = Pipeline("slow")

@pipeline.task()
def wait():
    time.sleep(600)
"""
SMALL = """
from tenure import Pipeline
pipeline = Pipeline("small")
pipeline.table("numbers")

@pipeline.task(writes=["numbers"])
def make(spark, numbers):
    numbers.overwrite(spark.range(10))
"""


def measure(console: Console, client: Client) -> None:
    """Run both in turn, so that both meet the same noise, and print medians and their ratio."""
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as scratch:
        # Java compiles what it runs often: the first rounds measure that, and not the work.
        for number in range(WARM_UPS):
            plain_seconds(console, Path(scratch) / f"warm-{number}")
            pipeline_seconds(client)
        pairs = [
            (pipeline_seconds(client), plain_seconds(console, Path(scratch) / str(number)))
            for number in range(ROUNDS)
        ]
    pipeline, plain = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    print(
        f"demonstration: pipeline {pipeline:.1f} s, plain script {plain:.1f} s, ratio {ratio:.2f} (goal 1.25)"
    )
    for ours, theirs in pairs:
        print(f"    {ours:6.1f} s {theirs:6.1f} s {ours / theirs:6.2f}")


def pipeline_seconds(client: Client) -> float:
    """From the POST to the end of the run."""
    began = time.monotonic()
    number = client.post(f"{PIPELINE_PATH}/runs")["number"]
    client.wait_for_run(NAMESPACE, PIPELINE, number)
    return time.monotonic() - began


def plain_seconds(console: Console, target: Path) -> float:
    """The script's own time, without the start of Python."""
    source = console.home / "demonstration"
    command = [sys.executable, "-m", "bench.plain", console.runtime()["SPARK_REMOTE"], f"file://{source}"]
    done = subprocess.run(
        [*command, f"file://{target}"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return float(done.stdout.split()[-1])


def measure_start(client: Client) -> None:
    """Seconds from `POST …/runs` to the first task's start, against the whole of a small run."""
    path = "namespaces/bench/pipelines/small"
    client.put("namespaces/bench")
    client.wait_for_operation(client.put(path, {"source": SMALL})["id"])
    starts, wholes = [], []
    for _ in range(ROUNDS + 1):
        number = client.post(f"{path}/runs")["number"]
        run = client.wait_for_run("bench", "small", number)
        asked = datetime.fromisoformat(run["created_at"])
        starts.append((datetime.fromisoformat(run["tasks"][0]["started_at"]) - asked).total_seconds())
        wholes.append((datetime.fromisoformat(run["finished_at"]) - asked).total_seconds())
        # The worker prepares its next driver meanwhile, as it does between runs of people.
        time.sleep(4)
    print(f"cancel: {cancel_seconds(client):.1f} s from the POST to the end of the driver (goal 5.0)")
    start, whole = statistics.median(starts[1:]), statistics.median(wholes[1:])
    print(f"first task: {start:.2f} s after the POST (goal 2.00), {start / whole:.2f} of a small run")


def cancel_seconds(client: Client) -> float:
    """How long a run goes on after somebody asked it to stop."""
    path = "namespaces/bench/pipelines/slow"
    client.wait_for_operation(client.put(path, {"source": SLOW})["id"])
    number = client.post(f"{path}/runs")["number"]
    while client.get(f"{path}/runs/{number}")["tasks"][0]["state"] != "running":
        time.sleep(0.1)
    began = time.monotonic()
    client.post(f"{path}/runs/{number}/cancel")
    while not client.get(f"{path}/runs/{number}")["finished_at"]:
        time.sleep(0.05)
    return time.monotonic() - began
