"""What many tests ask of an answer, and how they ask two things at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from django.db import connections

T = TypeVar("T")


def assert_problem(response: Any, status: int, *words: str) -> dict[str, Any]:
    """The response is a problem document with this status whose detail holds these words."""
    assert response.status_code == status, (response.status_code, response.content[:500])
    assert response["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:tenure:error:")
    assert "Traceback" not in problem["detail"]
    for word in words:
        assert word in problem["detail"], problem["detail"]
    return problem


def at_once(*calls: Callable[[], T]) -> list[T | Exception]:
    """Run the calls in a thread each, all starting together; each one's result or what it raised."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], T]) -> T | Exception:
        try:
            barrier.wait(10)
            return call()
        except Exception as error:  # noqa: BLE001  # the test looks at it
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
