"""The database client: how code that may not touch the database reaches what is stored.

One contract, two modes. In *direct* mode (trusted processes) a call runs the verb; in
*isolated* mode it travels to the database API, which runs the same verb in direct mode. Adding
a call is one line here and one function beside the verb. Arguments and results are closed
dataclasses of plain data: an unknown or ill-typed field is refused, and nothing in a message
can name a class to import. Source: the Airflow Database API design (AIP-44) and its lessons.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import types
import typing
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from tenure.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    TenureError,
    Unavailable,
)
from tenure.pipeline import Graph

PROTOCOL_VERSION = 1
"""Part of each call's path (`/v1/runs.claim`); a server answers 404 for a version it does not speak."""

OVER = (Conflict, NotAuthenticated, NotFound, Forbidden)
"""What the database API answers once a token's work is done, lost or somebody else's."""

P = TypeVar("P")
R = TypeVar("R")
P_contra = TypeVar("P_contra", contravariant=True)


@dataclass(frozen=True)
class Call(Generic[P, R]):
    """One line of the contract: a name on the wire, what goes in and what comes out."""

    name: str
    params: type[P]
    result: type[R]


class Database(Protocol):
    """What both modes offer. Every call is idempotent: sending it twice has the effect of once."""

    def call(self, call: Call[P, R], params: P) -> R: ...


@dataclass(frozen=True)
class Nothing:
    """No arguments, or no result."""


@dataclass(frozen=True)
class ClaimRun:
    worker: str


@dataclass(frozen=True)
class ClaimedRun:
    """The claim's answer. `token` is the run token: dead as soon as this attempt has ended."""

    token: str
    namespace: str
    pipeline: str
    run: int
    attempt: int
    heartbeat_seconds: float
    timeout_seconds: float


@dataclass(frozen=True)
class HeartbeatAnswer:
    """`stop` is empty to go on, `cancelled` when somebody cancelled the run."""

    stop: str = ""


@dataclass(frozen=True)
class RunPlan:
    """All that a driver needs to know of its run. Tasks in `finished_tasks` ended in an earlier attempt.

    `datasets` are those that the graph uses and the run's owner may see; what is not in it does
    not exist for the run. Opening one still asks, each time.
    """

    namespace: str
    pipeline: str
    version: int
    run: int
    attempt: int
    owner: str
    source: str
    graph: Graph
    finished_tasks: list[str]
    catalog_url: str
    datasets: list[OpenedDataset] = field(default_factory=list)


@dataclass(frozen=True)
class TaskReport:
    """A task's move to `running`, `succeeded`, `failed` or `skipped`; `at` is UTC, ISO 8601."""

    task: str
    state: str
    at: str
    error: str = ""


@dataclass(frozen=True)
class LogLine:
    at: str
    task: str
    level: str
    text: str


@dataclass(frozen=True)
class LogBatch:
    """Lines of one attempt. `first` numbers the first one, so that a batch sent twice is stored once."""

    first: int
    lines: list[LogLine]


@dataclass(frozen=True)
class FinishRun:
    """The driver's (or its worker's) last word: `succeeded`, `failed` or `cancelled`."""

    state: str
    error: str = ""


@dataclass(frozen=True)
class ReleaseRun:
    """The worker gives the run back unfinished (it is stopping); the run is tried again."""

    reason: str


@dataclass(frozen=True)
class OpenDataset:
    """Asks whether the run's principal may do this to the dataset, and records the access.

    `access` is `read`, `write` or `read_write`; `operation` names the method that asked.
    """

    task: str
    dataset: str
    access: str
    operation: str


@dataclass(frozen=True)
class OpenedDataset:
    namespace: str
    name: str
    type: str
    uri: str
    properties: dict[str, Any]


@dataclass(frozen=True)
class PipelineSource:
    """What the parse child gets: the pipeline's namespace and name, and its file's text."""

    namespace: str
    name: str
    source: str


@dataclass(frozen=True)
class ParseFailure:
    """Why a file is no pipeline; `line` is 0 when no line can be named."""

    reason: str
    line: int = 0


CLAIM_RUN = Call("runs.claim", ClaimRun, ClaimedRun)
HEARTBEAT = Call("runs.heartbeat", Nothing, HeartbeatAnswer)
LOAD_RUN = Call("runs.load", Nothing, RunPlan)
REPORT_TASK = Call("runs.report_task", TaskReport, Nothing)
APPEND_LOG = Call("runs.append_log", LogBatch, Nothing)
FINISH_RUN = Call("runs.finish", FinishRun, Nothing)
RELEASE_RUN = Call("runs.release", ReleaseRun, Nothing)
OPEN_DATASET = Call("datasets.open", OpenDataset, OpenedDataset)
LOAD_SOURCE = Call("pipelines.load_source", Nothing, PipelineSource)
STORE_GRAPH = Call("pipelines.store_graph", Graph, Nothing)
REFUSE_SOURCE = Call("pipelines.refuse_source", ParseFailure, Nothing)

CALLS: dict[str, Call[Any, Any]] = {
    call.name: call
    for call in (
        CLAIM_RUN,
        HEARTBEAT,
        LOAD_RUN,
        REPORT_TASK,
        APPEND_LOG,
        FINISH_RUN,
        RELEASE_RUN,
        OPEN_DATASET,
        LOAD_SOURCE,
        STORE_GRAPH,
        REFUSE_SOURCE,
    )
}


def encode(value: Any) -> Any:
    """A contract dataclass as plain JSON data."""
    return asdict(value)


def decode(kind: Any, data: Any, path: str = "$") -> Any:
    """Plain JSON data as the contract's `kind`; raises `InvalidInput` naming the path that does not fit."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return data
    if origin in (typing.Union, types.UnionType):
        inner = [option for option in typing.get_args(kind) if option is not type(None)]
        return None if data is None else decode(inner[0], data, path)
    if origin is list:
        (item,) = typing.get_args(kind)
        if not isinstance(data, list):
            raise InvalidInput(f"{path}: a list is needed, not {type(data).__name__}")
        return [decode(item, each, f"{path}[{index}]") for index, each in enumerate(data)]
    if origin is dict:
        if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
            raise InvalidInput(f"{path}: an object is needed, not {type(data).__name__}")
        return data
    if is_dataclass(kind):
        return _decode_dataclass(kind, data, path)
    return _decode_scalar(kind, data, path)


def _decode_dataclass(kind: Any, data: Any, path: str) -> Any:
    if not isinstance(data, dict):
        raise InvalidInput(f"{path}: an object is needed, not {type(data).__name__}")
    known = {each.name for each in fields(kind)}
    unknown = sorted(set(data) - known)
    if unknown:
        raise InvalidInput(f"{path}: unknown field {unknown[0]!r}")
    hints = typing.get_type_hints(kind)
    values = {name: decode(hints[name], value, f"{path}.{name}") for name, value in data.items()}
    try:
        return kind(**values)
    except TypeError as error:
        raise InvalidInput(f"{path}: {error}") from error


def _decode_scalar(kind: Any, data: Any, path: str) -> Any:
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise InvalidInput(f"{path}: {kind.__name__} is needed, not {type(data).__name__}")
    return data


@dataclass
class IsolatedDatabase:
    """The database client in isolation mode: HTTP to the database API, with a token and nothing else.

    One keep-alive connection for each thread. Connection errors, 502, 503 and 504 are retried
    with growing waits, which is safe because every call is idempotent; after `patience_seconds`
    the call raises `Unavailable`.
    """

    url: str
    token: str
    patience_seconds: float = 30.0
    timeout_seconds: float = 15.0
    _local: threading.local = field(default_factory=threading.local, repr=False)

    def call(self, call: Call[P, R], params: P) -> R:
        """Run one call of the contract on the other side; raises the `TenureError` raised there."""
        # Lone surrogates, as `surrogateescape` leaves them in user text, have no UTF-8.
        body = json.dumps(encode(params), ensure_ascii=False).encode(errors="replace")
        deadline = time.monotonic() + self.patience_seconds
        wait = 0.1
        while True:
            try:
                status, answer = self._post(call.name, body)
            except (OSError, http.client.HTTPException) as error:
                self._close()
                failure: TenureError = Unavailable(f"The database API at {self.url} does not answer: {error}")
            else:
                if status == 200:
                    return typing.cast(R, decode(call.result, answer))
                failure = TenureError.from_problem(answer, status)
                if status not in (502, 503, 504):
                    raise failure
            if time.monotonic() + wait > deadline:
                raise failure
            time.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311  # spreads retries, guards nothing
            wait = min(wait * 2, 2.0)

    def _post(self, name: str, body: bytes) -> tuple[int, Any]:
        connection = self._connection()
        path = f"{urlsplit(self.url).path.rstrip('/')}/v{PROTOCOL_VERSION}/{name}"
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        content = response.read()
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            # Not the database API's own words: a proxy's page, perhaps.
            answer = {"detail": f"HTTP {response.status}: {content[:200]!r}"}
        return response.status, answer

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            parts = urlsplit(self.url)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            connection = kind(parts.netloc, timeout=self.timeout_seconds)
            self._local.connection = connection
        return connection

    def _close(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None
