"""Children that these tests start have their homes where pytest cleans up."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def worker_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENURE_SPARK_WORKER_HOME", str(tmp_path))
    return tmp_path
