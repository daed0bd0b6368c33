"""Log lines of a run on their way to its page: everything a task prints or logs, with the task's name."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from collections import deque
from contextvars import ContextVar
from datetime import UTC, datetime

from tenure.database import APPEND_LOG, OVER, Database, LogBatch, LogLine, encode
from tenure.errors import TenureError

CURRENT_TASK: ContextVar[str] = ContextVar("current_task", default="")

FLUSH_SECONDS = 0.3
BATCH_LINES = 500
BATCH_BYTES = 1_500_000
"""As JSON; far below the 8 MiB that the database API takes."""
LINE_CHARACTERS = 8_000
WAITING_LINES = 20_000
REFUSED_STATUSES = frozenset({400, 413, 422})
"""Answers that a batch would get again, however often it were sent."""


def now() -> str:
    """This moment as the contract writes it: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class LogShipper:
    """Sends lines in numbered batches from a thread of its own, so that printing never waits for HTTP.

    When the database API is away, lines wait; beyond `WAITING_LINES` they are dropped and counted.
    A batch that the API refuses gives way to a line that says so.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[LogLine] = deque()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._first = 0
        self._dropped = 0
        self._notice: LogLine | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="log-shipper", daemon=True)
        self._thread.start()

    def add(self, level: str, text: str) -> None:
        """Take one line of the current task."""
        line = LogLine(now(), CURRENT_TASK.get(), level, text[:LINE_CHARACTERS].replace("\x00", ""))
        with self._lock:
            if len(self._waiting) < WAITING_LINES:
                self._waiting.append(line)
            else:
                self._dropped += 1

    def flush(self) -> None:
        """Send all that waits; returns when it was sent, or cannot be."""
        while not self._over.is_set() and self._send():
            pass

    def close(self) -> None:
        """Send the rest and stop."""
        self.flush()
        self._over.set()

    def _loop(self) -> None:
        while not self._over.wait(FLUSH_SECONDS):
            self.flush()

    def _send(self) -> bool:
        """Send one batch; tells whether more may be sent now."""
        with self._sending:
            lines = self._take()
            if not lines:
                return False
            try:
                self._database.call(APPEND_LOG, LogBatch(self._first, lines))
            except OVER:
                self._over.set()  # The attempt is over: nobody takes its lines any more.
                return False
            except TenureError as error:
                if error.status not in REFUSED_STATUSES:
                    self._put_back(lines)
                    return False
                self._put_notice(lines, error)
            else:
                self._first += len(lines)
            return True

    def _put_back(self, lines: list[LogLine]) -> None:
        with self._lock:
            self._waiting.extendleft(reversed(lines))

    def _put_notice(self, lines: list[LogLine], error: TenureError) -> None:
        if lines == [self._notice]:
            return  # Not even the notice is taken: another one would not be either.
        text = f"{len(lines)} lines were dropped: the console refused them: {error.detail}"
        self._notice = LogLine(now(), "", "warning", text[:LINE_CHARACTERS])
        self._put_back([self._notice])

    def _take(self) -> list[LogLine]:
        with self._lock:
            if self._dropped and len(self._waiting) < WAITING_LINES:
                text = f"{self._dropped} lines were dropped: they came faster than they could be sent"
                self._waiting.append(LogLine(now(), "", "warning", text))
                self._dropped = 0
            lines: list[LogLine] = []
            size = 0
            while self._waiting and len(lines) < BATCH_LINES:
                size += _bytes(self._waiting[0])
                if lines and size > BATCH_BYTES:
                    break
                lines.append(self._waiting.popleft())
            return lines


def _bytes(line: LogLine) -> int:
    return len(json.dumps(encode(line), ensure_ascii=False).encode(errors="replace"))


class LogStream(io.TextIOBase):
    """Stands in for stdout or stderr: splits what is written into lines, for each task apart."""

    def __init__(self, shipper: LogShipper, level: str) -> None:
        self._shipper = shipper
        self._level = level
        self._partial: dict[str, str] = {}
        self._lock = threading.Lock()

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str) -> int:
        """Take text; whole lines go on, the rest waits for its end."""
        task = CURRENT_TASK.get()
        with self._lock:
            *lines, rest = (self._partial.get(task, "") + text).split("\n")
            if len(rest) > LINE_CHARACTERS:
                lines, rest = [*lines, rest], ""
            self._partial[task] = rest
        for line in lines:
            self._shipper.add(self._level, line)
        return len(text)

    def finish(self) -> None:
        """Send what the current task wrote after its last line end."""
        with self._lock:
            rest = self._partial.pop(CURRENT_TASK.get(), "")
        if rest:
            self._shipper.add(self._level, rest)


class ShippingHandler(logging.Handler):
    """Sends log records as lines; a record of several lines becomes several."""

    def __init__(self, shipper: LogShipper) -> None:
        super().__init__(logging.INFO)
        self._shipper = shipper

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record."""
        level = {"WARNING": "warning", "ERROR": "error", "CRITICAL": "error"}.get(record.levelname, "info")
        try:
            lines = self.format(record).split("\n")
        except Exception:  # noqa: BLE001 - a bad format string in user code must not fail its task
            lines = [str(record.msg)]
        for line in lines:
            self._shipper.add(level, line)


def capture(shipper: LogShipper) -> list[LogStream]:
    """From now on stdout, stderr and logging go to `shipper`; returns the two streams."""
    streams = [LogStream(shipper, "info"), LogStream(shipper, "warning")]
    sys.stdout, sys.stderr = streams
    root = logging.getLogger()
    root.handlers[:] = [ShippingHandler(shipper)]
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    return streams
