"""What a person asked for: the environment and the command line, checked before anything starts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from console.up.errors import CannotStart

REPOSITORY = Path(__file__).resolve().parent.parent.parent
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104  # compared with, not bound to
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Options:
    """Everything that `up` can be told. Empty URLs mean: use the embedded part."""

    home: Path
    bind: str
    port: int
    url: str
    catalog_url: str
    database_url: str
    redis_url: str
    spark_remote: str
    once: bool
    demonstration: bool

    @property
    def local_url(self) -> str:
        """Where the web process is reached from this machine, whatever its public address is."""
        host = "127.0.0.1" if self.bind in _WILDCARDS else self.bind
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def allowed_hosts(self) -> str:
        """`TENURE_ALLOWED_HOSTS` as given, and what this machine's own processes reach the console by."""
        given = [host.strip() for host in os.environ.get("TENURE_ALLOWED_HOSTS", "").split(",")]
        bound = f"[{self.bind}]" if ":" in self.bind else self.bind
        own = [*_LOOPBACK_HOSTS, *([] if self.bind in _WILDCARDS else [bound])]
        return ",".join(dict.fromkeys(host for host in (*given, *own) if host))


def read_options(arguments: Sequence[str]) -> Options:
    """The options of this start; raises `CannotStart` for a value that cannot be meant."""
    parser = argparse.ArgumentParser(prog="manage.py up", description="Start a console on this machine.")
    add_arguments(parser)
    chosen = parser.parse_args(arguments)
    if chosen.once and chosen.no_demonstration:
        parser.error("--once runs the demonstration, --no-demonstration does not: choose one")
    port = _port(os.environ.get("TENURE_PORT") or "8000")
    options = Options(
        home=Path(os.environ.get("TENURE_HOME") or REPOSITORY / ".tenure").resolve(),
        bind=os.environ.get("TENURE_BIND") or "127.0.0.1",
        port=port,
        url=os.environ.get("TENURE_URL", "").rstrip("/"),
        catalog_url=os.environ.get("TENURE_CATALOG_URL", "").rstrip("/"),
        database_url=os.environ.get("DATABASE_URL", ""),
        redis_url=os.environ.get("REDIS_URL", ""),
        spark_remote=os.environ.get("SPARK_REMOTE", ""),
        once=chosen.once,
        demonstration=not chosen.no_demonstration,
    )
    return options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `manage.py up`."""
    parser.add_argument(
        "--once", action="store_true", help="run and check the demonstration, print a summary, stop"
    )
    parser.add_argument("--no-demonstration", action="store_true", help="start without the demonstration")


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise CannotStart(f"TENURE_PORT={text} is no port: use a number from 1 to 65535.")
    return int(text)
