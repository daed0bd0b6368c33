"""Pipeline files that are none: the operation fails with line and reason, and nothing is stored."""

from __future__ import annotations

import time

import pytest

from tenure.errors import NotFound
from tests.consoles import Console
from tests.whole.conftest import Workshop

HEAD = "from tenure import Pipeline\npipeline = Pipeline('bad')\n"
CYCLE = (
    HEAD
    + """pipeline.table("a")
pipeline.table("b")

@pipeline.task(reads=["a"], writes=["b"])
def forth(a, b): ...

@pipeline.task(reads=["b"], writes=["a"])
def back(a, b): ...
"""
)
UNDECLARED = (
    HEAD
    + """
@pipeline.task(reads=["nowhere"])
def read(nowhere): ...
"""
)

BAD = {
    "a syntax error": ("x = 1\ndef broken(:\n", 2, "SyntaxError"),
    "an endless loop": ("x = 1\nwhile True:\n    pass\n", None, "10 s"),
    "a cycle": (CYCLE, None, "cycle"),
    "an undeclared dataset": (UNDECLARED, 4, "nowhere"),
    "two mebibytes": ("# padding\n" * 210_000, None, "limit"),
    "an exception": (HEAD + "1 / 0\n", 3, "ZeroDivisionError"),
    "no pipeline": ("x = 1\n", None, "defines 0"),
    "an exit": ("import os\nos._exit(3)\n", None, "exit code 3"),
    "a polite exit": ("import sys\nsys.exit(0)\n", 2, "SystemExit"),
    "too much memory": ("x = bytearray(8 * 1024**3)\n", None, "emory"),
    "another name": ("from tenure import Pipeline\nPipeline('other')\n", None, "other"),
    "a flood of output": ("print('x' * 10_000_000)\nraise ValueError('enough')\n", 2, "enough"),
}


@pytest.mark.parametrize("what", BAD)
def test_it_is_refused_with_line_and_reason(console: Console, workshop: Workshop, what: str) -> None:
    source, line, reason = BAD[what]
    operation = workshop.try_to_deploy("bad", source)
    assert operation["state"] == "failed"
    assert reason in operation["error"]["detail"]
    if line is not None:
        assert operation["error"]["line"] == line
    with pytest.raises(NotFound):
        workshop.client.get(workshop.path("bad"))
    assert list(workshop.client.results(f"namespaces/{workshop.namespace}/datasets")) == []


def test_an_endless_loop_is_ended_in_good_time_and_names_its_line(workshop: Workshop) -> None:
    began = time.monotonic()
    operation = workshop.try_to_deploy("bad", "import time\n\n\nwhile True:\n    time.sleep(0.01)\n")
    assert operation["error"]["line"] in (4, 5)
    assert time.monotonic() - began < 20


def test_no_process_died_of_any_of_these(console: Console) -> None:
    for name in ("web", "database-api", "control-worker"):
        assert console.processes()[name]["restarts"] == 0, console.processes()[name]
