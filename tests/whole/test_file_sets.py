"""Files and datasets of other stores, as a run has them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from tests.whole.conftest import Workshop

# Not among them: a colon, at which Hadoop's local file system fails.
NAMES = ["a b", "100%", "%20", "#1", "Täglich", "a,b", "it's; $HOME & co", " spaces ", "日本"]
FILES = [f"files_{number}" for number in range(len(NAMES))]
READING = f"""
from tenure import Pipeline
pipeline = Pipeline("work")


@pipeline.task(reads={FILES})
def read({", ".join(FILES)}):
    for files in ({", ".join(FILES)}):
        print("found", [row.name for row in files.read().collect()])
"""
DECLARING = """
from tenure import Pipeline
pipeline = Pipeline("work")


@pipeline.task(reads=["orders"], writes=["report"])
def move(orders, report):
    print("from", orders.uri, "to", report.uri)
    print("ways", [name for name in ("read", "append", "overwrite") if hasattr(orders, name)])
"""


def register(shop: Workshop, name: str, kind: str, uri: str, **properties: str) -> None:
    """Register a dataset."""
    body = {"type": kind, "uri": uri, "properties": properties}
    shop.client.put(f"namespaces/{shop.namespace}/datasets/{name}", body)


def log_of_a_run(shop: Workshop, source: str) -> str:
    """Deploy a file, run it to its end, and return the log."""
    shop.deploy("work", source)
    run = shop.ended("work", shop.start("work"))
    assert run["state"] == "succeeded", run["error"]
    return shop.log("work", run["number"])


def test_files_are_read_whatever_their_names(workshop: Workshop, homes: Path) -> None:
    for name, files in zip(NAMES, FILES, strict=True):
        folder = homes / "odd names" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.csv").write_text(f'name\n"{name}"\n')
        register(workshop, files, "file_set", f"file:{quote(str(folder))}", format="csv")
    log = log_of_a_run(workshop, READING)
    assert [name for name in NAMES if f"found {[name]}" not in log] == []


def test_a_run_uses_other_stores_by_means_of_its_own(workshop: Workshop) -> None:
    register(workshop, "orders", "external", "postgresql://me:hunter2@db/shop/public/orders")
    register(workshop, "report", "external", "a report on paper")
    log = log_of_a_run(workshop, DECLARING)
    assert "from postgres://db:5432/shop/public/orders to a report on paper" in log
    assert "ways []" in log
