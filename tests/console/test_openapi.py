"""The OpenAPI document: valid, complete, current, and nothing in it ends in a failure of the server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from lineage.models import Run
from namespaces.models import Operation

GOLDEN = Path(__file__).parent.parent / "openapi.yaml"


@pytest.fixture(scope="module")
def current(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The document as the code makes it."""
    file = tmp_path_factory.mktemp("openapi") / "openapi.yaml"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(file))
    return file.read_text()


def test_the_stored_document_is_current(current: str) -> None:
    assert GOLDEN.read_text() == current, "run: manage.py spectacular --validate --file tests/openapi.yaml"


def test_every_operation_says_what_it_does(current: str) -> None:
    for path, methods in yaml.safe_load(current)["paths"].items():
        for method, operation in methods.items():
            assert operation.get("description"), f"{method} {path}"
            assert operation["security"] == [{"token": []}, {"session": []}]


def read_routes() -> list[str]:
    """The paths that can be read."""
    document: dict[str, Any] = yaml.safe_load(GOLDEN.read_text())
    return sorted(path for path, methods in document["paths"].items() if "get" in methods)


RUBBISH = ["", "0", "-1", "x", "9" * 40, "%00", "%F0%9F%98%80", "' OR 1=1 --", "a/b", "../..", "null", "{}"]


@pytest.mark.parametrize("path", read_routes())
def test_no_question_makes_the_server_fail(admin: User, run: Run, path: str) -> None:
    client = Client()
    client.force_login(admin)
    operation = str(Operation.objects.latest("pk").pk)
    known = {"namespace": "flights", "dataset": "raw", "pipeline": "delays", "run": "1", "version": "1"}
    known["operation"] = operation
    names = re.findall(r"{(\w+)}", path)
    address = path.format(**{name: known[name] for name in names})
    assert client.get(address).status_code == 200
    document: dict[str, Any] = yaml.safe_load(GOLDEN.read_text())
    for parameter in document["paths"][path]["get"].get("parameters", []):
        for value in RUBBISH:
            if parameter["in"] == "query":
                asked = f"{address}?{parameter['name']}={value}"
            else:
                asked = path.format(**(known | {parameter["name"]: value}))
            assert client.get(asked).status_code < 500, asked


def test_the_document_and_its_viewer_are_for_the_signed_in(client: Client, alice: User) -> None:
    assert client.get("/api/schema/").status_code == 401
    client.force_login(alice)
    assert client.get("/api/schema/").status_code == 200
    assert client.get("/api/docs/").status_code == 200
