"""Annotations: what an operation announces is asked for once, and covers what it calls."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.access import no_access, reads, reads_and_writes, writes
from tenure.database import Call, OpenDataset, OpenedDataset
from tenure.dataset import Dataset, DatasetContext
from tenure.errors import Forbidden, NotFound

COUNTER = OpenedDataset("flights", "counter", "counter", "file:///counter", {})


class Counter(Dataset):
    """A dataset type that touches nothing."""

    @reads
    def read(self) -> int:
        return 1

    @writes
    def write(self) -> None:
        """Nothing."""

    @reads
    def read_by_writing(self) -> None:
        self.write()

    @reads_and_writes
    def increment(self) -> int:
        self.write()
        return self.read() + self.label()

    @no_access
    def label(self) -> int:
        return 1

    @no_access
    def label_by_reading(self) -> int:
        return self.read()

    def unannotated(self) -> int:
        return self.read()


class Recorder:
    """A database client that keeps the questions; `missing` datasets do not exist."""

    def __init__(self) -> None:
        self.questions: list[OpenDataset] = []
        self.missing = False

    def call(self, call: Call[Any, Any], params: Any) -> Any:
        if self.missing:
            raise NotFound("no such dataset")
        self.questions.append(params)
        return COUNTER


def nothing() -> Any:
    raise AssertionError("a counter needs neither Spark nor a catalog")


@pytest.fixture
def database() -> Recorder:
    return Recorder()


@pytest.fixture
def counter(database: Recorder) -> Counter:
    return Counter(DatasetContext(database, "flights/p/1", "count", nothing, nothing), COUNTER)


def test_each_operation_asks_once_with_its_task_and_name(counter: Counter, database: Recorder) -> None:
    counter.read()
    counter.write()
    assert database.questions == [
        OpenDataset("count", "counter", "read", "read"),
        OpenDataset("count", "counter", "write", "write"),
    ]


def test_inner_operations_are_part_of_the_outer_one(counter: Counter, database: Recorder) -> None:
    assert counter.increment() == 2
    assert [question.access for question in database.questions] == ["read_write"]


def test_an_inner_operation_may_do_no_more_than_announced(counter: Counter, database: Recorder) -> None:
    with pytest.raises(Forbidden, match=r"counter\.write is write"):
        counter.read_by_writing()
    with pytest.raises(Forbidden, match=r"counter\.read is read"):
        counter.label_by_reading()
    counter.write()
    assert [question.access for question in database.questions] == ["read", "write"]


def test_an_operation_of_another_dataset_is_asked_for_itself(counter: Counter, database: Recorder) -> None:
    other = Counter(counter.context, COUNTER)

    class Copier(Counter):
        @writes
        def copy(self) -> None:
            other.read()

    Copier(counter.context, COUNTER).copy()
    assert [question.access for question in database.questions] == ["write", "read"]


def test_no_access_asks_nobody(counter: Counter, database: Recorder) -> None:
    counter.label()
    assert database.questions == []


def test_a_method_without_annotation_counts_as_reading_and_writing(
    counter: Counter, database: Recorder
) -> None:
    counter.unannotated()
    assert [question.access for question in database.questions] == ["read_write"]


def test_a_refused_operation_does_not_run(counter: Counter, database: Recorder) -> None:
    database.missing = True
    with pytest.raises(NotFound):
        counter.read()
