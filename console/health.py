"""How each process of the house is: what the supervisor wrote, and what answers when asked."""

from __future__ import annotations

import datetime
import http.client
import json
import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis
from celery import current_app
from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from kombu.exceptions import OperationalError

PROBE_SECONDS = 0.3
PING_SECONDS = 0.5
FRESH_SECONDS = 15.0


@dataclass(frozen=True)
class Health:
    """One process: `state` is up, down, restarted or unknown; `note` says why, for people."""

    name: str
    state: str
    note: str = ""
    memory: int | None = None
    since: datetime.datetime | None = None

    @property
    def needs_attention(self) -> bool:
        """Whether somebody should look."""
        return self.state in ("down", "restarted")


@dataclass(frozen=True)
class _Part:
    """A process by its title, its name in the supervisor's record, and how to ask it."""

    title: str
    recorded: str
    probe: Callable[[], bool | None]


def check_processes() -> list[Health]:
    """Ask every process, all at once; takes as long as the slowest answer, 0.5 s at most."""
    recorded = supervised()
    parts = _parts()
    asked = [part for part in parts if part.recorded not in recorded or part.probe in _CHEAP]
    with ThreadPoolExecutor(max_workers=len(parts)) as threads:
        answers = dict(
            zip((part.title for part in asked), threads.map(lambda part: part.probe(), asked), strict=True)
        )
    return [_health(part, recorded.get(part.recorded), answers.get(part.title)) for part in parts]


def troubled_processes() -> list[Health]:
    """What the supervisor's record alone says is down or was restarted; costs one small file."""
    recorded = supervised()
    known = [_health(part, recorded[part.recorded], None) for part in _parts() if part.recorded in recorded]
    return [health for health in known if health.needs_attention]


def supervised() -> dict[str, dict[str, Any]]:
    """The supervisor's record by process, if there is a fresh one whose writer lives."""
    try:
        body = json.loads((Path(settings.TENURE_HOME) / "processes.json").read_text())
        written_at = parse_datetime(body["written_at"])
        processes = {entry["name"]: entry for entry in body["processes"]}
        supervisor = int(body["supervisor"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if written_at is None or (timezone.now() - written_at).total_seconds() > FRESH_SECONDS:
        return {}
    return processes if _lives(supervisor) else {}


def _parts() -> list[_Part]:
    return [
        # This process answers the request, and its page needs Postgres: both are seen to be up.
        _Part("web", "web", _here),
        _Part("database API", "database-api", _database_api),
        _Part("control worker", "control-worker", _control_worker),
        _Part("beat", "beat", _unknown),
        _Part("spark worker", "spark-worker", _spark_worker),
        _Part("Spark Connect", "spark-connect", _spark_connect),
        _Part("Postgres", "postgres", _here),
        _Part("Redis", "redis", _redis),
    ]


def _health(part: _Part, entry: dict[str, Any] | None, answer: bool | None) -> Health:
    if entry is None:
        return Health(part.title, {True: "up", False: "down", None: "unknown"}[answer], _probe_note(answer))
    alive = entry.get("state") == "running" and _lives(int(entry.get("pid") or 0))
    state, note = _recorded_state(entry, alive)
    if alive and answer is False:
        state, note = "down", "runs, but does not answer"
    since = parse_datetime(str(entry.get("started_at") or ""))
    return Health(
        part.title, state, note, entry.get("memory_bytes") if alive else None, since if alive else None
    )


def _recorded_state(entry: dict[str, Any], alive: bool) -> tuple[str, str]:
    restarts, last_exit = int(entry.get("restarts") or 0), str(entry.get("last_exit") or "")
    if not alive:
        return "down", f"{entry.get('state', 'gone')}: {last_exit}" if last_exit else "is not running"
    if restarts:
        times = "once" if restarts == 1 else f"{restarts} times"
        return "restarted", f"restarted {times}" + (f", last: {last_exit}" if last_exit else "")
    return "up", ""


def _probe_note(answer: bool | None) -> str:
    return {True: "", False: "does not answer", None: "nothing on this machine can tell"}[answer]


def _lives(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # Another user's process, Postgres' for one: it is there.
        return True
    return True


def _here() -> bool:
    return True


def _unknown() -> None:
    return None


def _database_api() -> bool | None:
    parts = urlsplit(settings.TENURE_DATABASE_API_URL)
    if not parts.hostname:
        return None
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _spark_connect() -> bool | None:
    address = urlsplit(settings.SPARK_REMOTE.partition(";")[0])
    if not address.hostname:
        return None
    try:
        socket.create_connection((address.hostname, address.port or 15002), PROBE_SECONDS).close()
    except OSError:
        return False
    return True


def _redis() -> bool | None:
    if not settings.REDIS_URL:
        return None
    timeouts = {"socket_timeout": PROBE_SECONDS, "socket_connect_timeout": PROBE_SECONDS}
    client = redis.from_url(settings.REDIS_URL, **timeouts)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def _control_worker() -> bool | None:
    return _worker("control@")


def _spark_worker() -> bool | None:
    return _worker("spark@")


def _worker(prefix: str) -> bool | None:
    """Whether a Celery worker with such a name answers; each asks for itself, so that neither waits."""
    if not settings.REDIS_URL:
        return None
    try:
        answers = current_app.control.ping(timeout=PING_SECONDS)
    except (OperationalError, OSError):
        return None
    return any(name.startswith(prefix) for answer in answers or [] for name in answer)


_CHEAP = (_here, _database_api, _spark_connect, _redis)
"""Asked even when the supervisor says that the process runs: running is not answering."""
