"""Parts of `manage.py up` that need no console."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from console.management.commands import up
from console.up import boot
from console.up.errors import Stopping
from console.up.home import Home
from console.up.options import read_options
from console.up.ports import LOOPBACK, free_port, why_unusable
from console.up.postgres import _is_open
from console.up.supervisor import Supervisor


@pytest.mark.parametrize(
    ("given", "bind", "wanted"),
    [
        ("", "127.0.0.1", "localhost,127.0.0.1,[::1]"),
        ("tenure.example.org", "::", "tenure.example.org,localhost,127.0.0.1,[::1]"),
        ("localhost", "10.0.0.5", "localhost,127.0.0.1,[::1],10.0.0.5"),
        ("", "fd00::5", "localhost,127.0.0.1,[::1],[fd00::5]"),
    ],
)
def test_the_console_answers_to_its_own_machine(
    monkeypatch: pytest.MonkeyPatch, given: str, bind: str, wanted: str
) -> None:
    monkeypatch.setenv("TENURE_ALLOWED_HOSTS", given)
    monkeypatch.setenv("TENURE_BIND", bind)
    assert read_options([]).allowed_hosts == wanted


def test_the_catalog_is_local_whatever_the_public_address_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TENURE_HOME", str(tmp_path))
    monkeypatch.setenv("TENURE_URL", "https://tenure.example.org")
    monkeypatch.setenv("TENURE_PORT", "8123")
    monkeypatch.delenv("TENURE_CATALOG_URL", raising=False)
    home = Home(tmp_path)
    home.prepare()
    environment = boot.Boot(Supervisor(home), read_options([])).processes.environment
    assert environment["TENURE_CATALOG_URL"] == "http://127.0.0.1:8123/iceberg"
    assert environment["TENURE_URL"] == "https://tenure.example.org"


def test_the_reason_why_a_port_cannot_be_used_is_told() -> None:
    assert why_unusable(LOOPBACK, free_port()) == ""
    with socket.create_server((LOOPBACK, 0)) as server:
        assert why_unusable(LOOPBACK, server.getsockname()[1]) == "Address already in use"
    assert why_unusable("192.0.2.1", free_port()) == "Cannot assign requested address"


def test_a_command_does_not_start_once_everything_stops(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prepare()
    supervisor = Supervisor(home)
    supervisor.stop()
    with pytest.raises(Stopping):
        supervisor.run_command(["touch", "ran"], os.environ, tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_closed_file_below_an_open_directory_is_found(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    below = tmp_path / "lib"
    below.mkdir()
    below.chmod(0o755)
    library = below / "libpq.so"
    library.touch()
    library.chmod(0o644)
    assert _is_open(tmp_path)
    library.chmod(0o600)
    assert not _is_open(tmp_path)


def test_a_relative_home_is_the_callers(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    monkeypatch.setenv("TENURE_HOME", "home")
    settings.TENURE_HOME = tmp_path / "home"
    assert up._environment()["TENURE_HOME"] == str(tmp_path / "home")
