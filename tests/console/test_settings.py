"""Settings: wrong combinations have an id, and without a database there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.checks import check_settings
from tenure.uri import SCHEMES

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ({}, set()),
        ({"DATABASE_URL": "mysql://localhost/x"}, {"tenure.E001"}),
        ({"DATABASE_URL": "sqlite:///x"}, {"tenure.E001"}),
        ({"SECRET_KEY": ""}, {"tenure.E002"}),
        ({"TENURE_LOST_AFTER_SECONDS": 4.9, "TENURE_HEARTBEAT_SECONDS": 1.0}, {"tenure.E003"}),
        ({"TENURE_LOST_AFTER_SECONDS": 5.0, "TENURE_HEARTBEAT_SECONDS": 1.0}, set()),
        ({"TENURE_WAREHOUSE": "warehouse"}, {"tenure.E004"}),
        ({"TENURE_WAREHOUSE": "file://warehouse"}, {"tenure.E004"}),
        ({"TENURE_WAREHOUSE": "s3://bucket"}, set()),
        ({"ALLOWED_HOSTS": ["tenure.example"], "TENURE_HTTPS": False}, {"tenure.W001"}),
        ({"ALLOWED_HOSTS": ["tenure.example"], "TENURE_HTTPS": True}, set()),
    ],
)
def test_a_wrong_combination_has_an_id_and_a_hint(
    settings: Any, values: dict[str, Any], ids: set[str]
) -> None:
    for name, value in values.items():
        setattr(settings, name, value)
    found = check_settings()
    assert {message.id for message in found} == ids
    assert all(message.hint for message in found)


def test_a_plugin_that_cannot_be_used_is_a_warning(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        SCHEMES, "problems", ["The URI scheme 'nessie' of nessie:SCHEME cannot be used: ImportError()"]
    )
    (found,) = check_settings()
    assert found.id == "tenure.W002"
    assert "nessie" in found.msg


def python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with these variables and no others."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "console.settings"}
    return subprocess.run(
        [sys.executable, "-c", program], env=kept | environment, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    "use",
    [
        "from namespaces.models import Namespace; list(Namespace.objects.all())",
        "from django.contrib.auth.models import User; User.objects.create(username='x')",
        "from django.db import connection; connection.cursor()",
        "from django.db import transaction\nwith transaction.atomic(): pass",
    ],
)
def test_without_a_database_url_every_use_of_the_orm_raises_at_once(tmp_path: Path, use: str) -> None:
    done = python(f"import django; django.setup()\n{use}", TENURE_HOME=str(tmp_path))
    assert done.returncode == 1
    assert "settings.DATABASES is improperly configured" in done.stderr


def test_a_database_without_a_secret_key_does_not_start(tmp_path: Path) -> None:
    done = python(
        "import django; django.setup()\n"
        "from django.core.management import call_command; call_command('check')",
        TENURE_HOME=str(tmp_path),
        DATABASE_URL="postgresql://nobody@localhost/nothing",
    )
    assert done.returncode == 1
    assert "tenure.E002" in done.stderr
