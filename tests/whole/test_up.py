"""`manage.py up`: starting, restarting what dies, stopping, and saying no in one sentence."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.consoles import Console, eventually, start_console, wait_ready


def test_it_prints_the_address_and_each_step(console: Console) -> None:
    said = console.said()
    assert "Ready after" in said and console.url in said
    assert "Created the first admin: user admin" in said
    assert "Run 1 of flight_delays" in said


def test_a_second_start_in_the_same_home_says_no(console: Console) -> None:
    second = start_console(console.home)
    assert second.process.wait(30) == 1
    assert "running" in second.said() and str(console.home) in second.said()
    assert len(second.said().strip().splitlines()) == 1


def test_a_taken_port_is_named(console: Console, homes: Path) -> None:
    second = start_console(homes / "taken", TENURE_PORT=str(console.port))
    assert second.process.wait(30) == 1
    assert f"Port {console.port}" in second.said() and "TENURE_PORT" in second.said()


@pytest.mark.parametrize("version", ["none", "11.0.2"])
def test_missing_or_old_java_is_one_clear_sentence(homes: Path, version: str) -> None:
    programs = homes / f"java-{version}"
    programs.mkdir()
    if version != "none":
        java = programs / "java"
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2019-01-15' >&2\n")
        java.chmod(0o755)
    console = start_console(homes / f"home-{version}", PATH=str(programs), JAVA_HOME="")
    assert console.process.wait(30) == 1
    assert "openjdk-17-jre-headless" in console.said()
    assert len(console.said().strip().splitlines()) == 1


def test_a_child_that_dies_is_restarted(console: Console) -> None:
    killed = console.processes()["database-api"]["pid"]
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: console.processes()["database-api"]["restarts"] == 1, 20, console)
    eventually(lambda: console.processes()["database-api"]["pid"] not in (0, killed), 20, console)
    assert console.processes()["database-api"]["last_exit"] == "killed by SIGKILL"


def test_up_once_beside_it_runs_the_demonstration_checks_it_and_ends(console: Console, homes: Path) -> None:
    """On the other console's Spark, which stands for a cluster of one's own."""
    once = start_console(homes / "once", "--once", SPARK_REMOTE=console.runtime()["SPARK_REMOTE"])
    code = once.process.wait(300)
    said = once.said()
    assert code == 0, said
    assert "336,776" in said and "335,220" in said
    assert "Memory, idle" in said


def test_sigterm_stops_everything_and_a_second_start_runs_nothing_twice(
    console: Console, homes: Path
) -> None:
    spark = console.runtime()["SPARK_REMOTE"]
    first = start_console(homes / "twice", "--no-demonstration", SPARK_REMOTE=spark)
    wait_ready(first)
    admin = first.client()
    admin.put("namespaces/kept")
    tree = psutil.Process(first.process.pid).children(recursive=True)
    assert first.stop() < 20
    assert first.process.returncode == 0
    assert not [process for process in tree if process.is_running()]
    second = start_console(homes / "twice", "--no-demonstration", SPARK_REMOTE=spark)
    wait_ready(second)
    assert "Created the first admin" not in second.said()
    assert {each["name"] for each in second.client().results("namespaces")} == {"default", "kept", "system"}
    second.stop()


def test_what_a_killed_supervisor_leaves_behind_is_gone(console: Console, homes: Path) -> None:
    orphaned = start_console(
        homes / "orphaned", "--no-demonstration", SPARK_REMOTE=console.runtime()["SPARK_REMOTE"]
    )
    wait_ready(orphaned)
    tree = psutil.Process(orphaned.process.pid).children(recursive=True)
    orphaned.process.kill()
    orphaned.process.wait(10)
    _, alive = psutil.wait_procs(tree, timeout=15)
    assert not alive


def test_a_token_of_an_unknown_user_is_refused(console: Console) -> None:
    import subprocess

    with pytest.raises(subprocess.CalledProcessError) as refused:
        console.manage("create_token", "nobody_here")
    assert "There is no user 'nobody_here'" in refused.value.stderr
