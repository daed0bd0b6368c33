"""Which files of a failed write are removed: never those that a table may use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyiceberg.exceptions import CommitFailedException, ServerError, UnauthorizedError
from requests.exceptions import ChunkedEncodingError

from tenure.types import iceberg


class Table:
    """A table that nothing lands in; `refreshing` is raised when it is read again."""

    metadata = SimpleNamespace(snapshots=[])

    def __init__(self, refreshing: Exception | None) -> None:
        self.refreshing = refreshing

    def name(self) -> tuple[str, str]:
        return ("flights", "delays")

    def refresh(self) -> None:
        if self.refreshing:
            raise self.refreshing


def removed_after(
    monkeypatch: pytest.MonkeyPatch, sending: list[BaseException], refreshing: Exception | None = None
) -> bool:
    """Whether the files go when the commit's attempts fail like this."""
    removed: list[str] = []
    errors = iter(sending)

    def send(commit: iceberg._Commit) -> None:
        raise next(errors)

    monkeypatch.setattr(iceberg._Commit, "_send", send)
    monkeypatch.setattr(iceberg, "_write_files", lambda *_: ["file"])
    monkeypatch.setattr(iceberg, "_remove", lambda _, directory: removed.append(directory))
    monkeypatch.setattr("time.sleep", lambda _: None)
    table: Any = Table(refreshing)
    frame: Any = None
    with pytest.raises(BaseException):  # noqa: B017 - whichever came last
        iceberg.write(table, frame, "file:///d", {"tenure.write": "w"}, replace=False)
    return bool(removed)


def test_files_go_after_definite_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert removed_after(monkeypatch, [CommitFailedException()] * iceberg.COMMIT_ATTEMPTS)
    assert removed_after(monkeypatch, [UnauthorizedError()])
    assert removed_after(monkeypatch, [CommitFailedException()], UnauthorizedError())


@pytest.mark.parametrize(
    "unknown", [ServerError(), ChunkedEncodingError(), KeyboardInterrupt(), ValueError("no answer")]
)
def test_files_stay_after_an_unknown_outcome(monkeypatch: pytest.MonkeyPatch, unknown: BaseException) -> None:
    assert not removed_after(monkeypatch, [unknown], UnauthorizedError())
    assert not removed_after(monkeypatch, [unknown, UnauthorizedError()])


def test_files_stay_when_others_were_first_after_an_unknown_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = [CommitFailedException()] * iceberg.COMMIT_ATTEMPTS
    assert not removed_after(monkeypatch, [ServerError(), *refusals])
