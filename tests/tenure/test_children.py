"""The end of a child is the end of all that it started, and of its home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenure import worker
from tenure.children import homes, remove_leftovers

WORKER = """
import os, time
from pathlib import Path
from tenure.children import Spawner
from tenure.processes import adopt_orphans, processes

adopt_orphans()
child = Spawner().start("tests.tenure.straying", [])
deadline = time.monotonic() + 20
while child.output().count("\\n") < 3 and time.monotonic() < deadline:
    time.sleep(0.05)
strays = [int(line) for line in child.output().split()]
assert len(strays) == 3, child.output()
child.end({grace})
assert not [pid for pid in strays if Path(f"/proc/{{pid}}").exists()], "strays live on"
assert not [each for each in processes() if each.parent == os.getpid()], "zombies stay"
assert not Path(child.home).exists()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a worker adopt orphans")
@pytest.mark.parametrize("grace", [0.0, 2.0])
def test_processes_that_left_the_session_end_with_the_child(grace: float) -> None:
    script = WORKER.format(grace=grace)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_starting_worker_removes_the_homes_of_dead_workers() -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    pids = {"dead": dead.pid, "own": os.getpid(), "living": os.getppid()}
    made = {name: homes() / f"tenure-{pid}-abc" for name, pid in pids.items()}
    for home in made.values():
        home.mkdir()
        (home / "file").touch()
    remove_leftovers()
    assert [name for name, home in made.items() if home.exists()] == ["living"]


def test_homes_fall_back_to_the_temporary_directory(
    worker_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (worker_home / "file").touch()
    monkeypatch.setenv("TENURE_SPARK_WORKER_HOME", str(worker_home / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(worker_home))
    assert homes() == worker_home


def test_a_worker_that_is_full_leaves_a_run_unclaimed(monkeypatch: pytest.MonkeyPatch) -> None:
    claimed: list[str] = []
    monkeypatch.setattr(worker, "_claim_and_run", claimed.append)
    held = [worker._places.acquire(blocking=False) for _ in range(worker.RUNS_AT_ONCE)]
    try:
        worker.run("token")
        assert all(held)
        assert claimed == []
    finally:
        for _ in held:
            worker._places.release()
    worker.run("token")
    assert claimed == ["token"]
