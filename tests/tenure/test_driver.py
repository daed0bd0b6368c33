"""What a driver says of a failure, and what its children's environment holds."""

from __future__ import annotations

import linecache
import os

import pytest

from tenure.children import Spawner
from tenure.driver import trimmed_traceback
from tenure.errors import InvalidData
from tenure.isolation import DatabaseForbidden
from tenure.worker import parse_failure

SOURCE = "def task(function):\n    function()\n"
JVM_PART = "\n\nJVM stacktrace:\njava.lang.Oops"


def refuse() -> None:
    raise InvalidData("column a: missing")


def too_much() -> None:
    raise ValueError("x" * 100_000 + JVM_PART)


def traceback_of(function: object) -> str:
    linecache.cache["p.py"] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), "p.py")
    space: dict[str, object] = {}
    exec(compile(SOURCE, "p.py", "exec"), space)  # noqa: S102 - as a driver loads a pipeline file
    try:
        space["task"](function)  # type: ignore[operator]
    except (InvalidData, ValueError) as error:
        return trimmed_traceback(error, "p.py")
    raise AssertionError("the function must raise")


def test_a_traceback_begins_in_the_users_file_and_shows_its_line() -> None:
    lines = traceback_of(refuse).splitlines()
    assert lines[1] == '  File "p.py", line 2, in task'
    assert lines[2].strip() == "function()"
    assert lines[-1] == "tenure.errors.InvalidData: column a: missing"


def test_a_traceback_has_an_end_and_no_jvm_in_it() -> None:
    text = traceback_of(too_much)
    assert len(text) <= 20_000
    assert "java.lang" not in text


def test_the_refusal_of_the_database_is_an_import_error() -> None:
    assert issubclass(DatabaseForbidden, ImportError)


def test_a_hung_file_is_refused_with_its_line() -> None:
    output = 'Current thread 0x1 (most recent call first):\n  File "flights.py", line 12 in <module>\n'
    failure = parse_failure(output, -9, in_time=False)
    assert failure.line == 12
    assert "did not load within" in failure.reason


def test_a_child_that_vanished_is_refused_with_how() -> None:
    assert "killed by signal 11" in parse_failure("", -11, in_time=True).reason
    assert "exit code 3" in parse_failure("", 3, in_time=True).reason


def test_a_child_inherits_neither_secrets_nor_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    with open(os.devnull) as held:
        os.set_inheritable(held.fileno(), True)
        child = Spawner().start("tenure.parser", ["--memory-bytes", str(1 << 30), "--seconds", "5"])
        try:
            with open(f"/proc/{child.pid}/environ") as file:
                names = {entry.partition("=")[0] for entry in file.read().split("\0") if entry}
            assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH"}
            assert {int(number) for number in os.listdir(f"/proc/{child.pid}/fd")} - {0, 1, 2} <= {3, 4}
            assert held.fileno() > 4 or os.readlink(f"/proc/{child.pid}/fd/{held.fileno()}") != os.devnull
        finally:
            child.end()
    assert not os.path.exists(child.home)
