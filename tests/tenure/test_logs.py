"""What becomes of log lines when the database API refuses them or is away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenure import logs
from tenure.database import LogBatch, Nothing, encode
from tenure.errors import Conflict, InvalidInput, TenureError, TooLarge, Unavailable


class Api:
    """Takes batches; raises the errors that it is given first."""

    def __init__(self, *errors: TenureError) -> None:
        self.errors = list(errors)
        self.batches: list[LogBatch] = []

    def call(self, call: Any, params: Any) -> Any:
        if self.errors:
            raise self.errors.pop(0)
        self.batches.append(params)
        return Nothing()

    def texts(self) -> list[str]:
        return [line.text for batch in self.batches for line in batch.lines]


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FLUSH_SECONDS", 600.0)


def ship(api: Api, *texts: str) -> logs.LogShipper:
    shipper = logs.LogShipper(api)
    for text in texts:
        shipper.add("info", text)
    shipper.flush()
    return shipper


@pytest.mark.parametrize("error", [Unavailable(), TenureError()])
def test_lines_wait_while_the_api_is_away(error: TenureError) -> None:
    api = Api(error)
    shipper = ship(api, "one", "two")
    assert api.texts() == []
    shipper.close()
    assert api.texts() == ["one", "two"]


@pytest.mark.parametrize("error", [TooLarge("too much"), InvalidInput("odd")])
def test_a_refused_batch_gives_way_to_one_line(error: TenureError) -> None:
    api = Api(error)
    shipper = ship(api, "one", "two")
    shipper.add("info", "three")
    shipper.close()
    assert api.texts() == [f"2 lines were dropped: the console refused them: {error.detail}", "three"]
    assert [batch.first for batch in api.batches] == [0, 1]


def test_a_refused_notice_is_not_noticed_again() -> None:
    api = Api(InvalidInput(), InvalidInput())
    ship(api, "one").close()
    assert api.texts() == []


def test_the_log_stops_when_the_attempt_is_over() -> None:
    api = Api(Conflict())
    shipper = ship(api, "one")
    shipper.add("info", "two")
    shipper.close()
    assert api.texts() == []


def test_batches_stay_small_as_json_however_much_it_escapes() -> None:
    api = Api()
    texts = ["\x01" * logs.LINE_CHARACTERS] * 100
    ship(api, *texts).close()
    assert api.texts() == texts
    assert all(len(json.dumps(encode(batch))) < 2 * 1024**2 for batch in api.batches)
