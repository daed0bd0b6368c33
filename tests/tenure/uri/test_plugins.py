"""Schemes that installed packages bring: a package with an entry point, as pip leaves it behind."""

from __future__ import annotations

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tenure.errors import InvalidURI
from tenure.uri import SCHEMES, Schemes, from_openlineage, parse
from tenure.uri.registry import GROUP

NESSIE = """
from tenure.uri.forms import Host, Names, Path, Scheme

SCHEME = Scheme("nessie", Host(19120), Path(("branch", "table")),
                Names("nessie://{authority}", "{branch}.{table}"), aliases=("nessies",))
"""
RAISES = """
from tenure.uri.forms import Authority, Names, Path, Scheme

class Broken(Authority):
    form = "{host}"
    def canonical(self, authority): raise KeyError("the text was " + authority)
    def fields(self, authority): return {}
    def write(self, fields): return ""

SCHEME = Scheme("raises", Broken(), Path(("table",)), Names("raises://{authority}", "{table}"))
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    monkeypatch.syspath_prepend(str(tmp_path))
    return Installer(tmp_path, monkeypatch)


class Installer:
    """Installs packages of one module each; gives the schemes of a process that starts afterwards."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.monkeypatch = monkeypatch

    def __call__(self, name: str, source: str, attribute: str = "SCHEME") -> Schemes:
        module = f"plugin_{name}"
        self.monkeypatch.delitem(sys.modules, module, raising=False)
        (self.directory / f"{module}.py").write_text(source)
        information = self.directory / f"{module}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {module}:{attribute}\n")
        return Schemes(dict(SCHEMES.by_name))


def test_a_package_brings_a_scheme(install: Installer) -> None:
    schemes = install("nessie", NESSIE)
    uri = schemes.parse("nessies://me:secret@CATALOG/main/orders/")
    assert (
        uri.canonical
        == schemes.canonical("nessie://catalog/main/orders")
        == "nessie://catalog:19120/main/orders"
    )
    assert uri.denotes == {"host": "catalog", "port": "19120", "branch": "main", "table": "orders"}
    assert schemes.from_openlineage("nessie://catalog:19120", "main.orders") == uri
    assert uri.openlineage == ("nessie://catalog:19120", "main.orders")
    assert schemes.problems == []


def test_the_schemes_of_this_console_have_no_problems() -> None:
    SCHEMES.load_plugins()
    assert SCHEMES.problems == []


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("raise RuntimeError('no licence')", "no licence"),
        ("import a_module_that_is_not_there", "a_module_that_is_not_there"),
        ("SCHEME = 'nessie'", "it is a str"),
        ("x = 1", "SCHEME"),
        (NESSIE.replace('"nessie"', '"s3"'), "'s3' is taken"),
        (NESSIE.replace('"nessies"', '"airflow"'), "'airflow' is taken, reserved"),
        (NESSIE.replace('"nessie"', '"x-nessie"'), "'x-nessie' is taken, reserved"),
        (NESSIE.replace('"nessie"', '"Nes sie"'), "'Nes sie' is taken, reserved or none"),
        (NESSIE.replace('"table")', '"table"), pattern="["'), "unterminated"),
        (NESSIE.replace("{authority}", "{authority}/{authority}"), "redefinition of group"),
        ("import sys; sys.exit('no licence')", "SystemExit"),
        ("class Mute(Exception):\n    def __str__(self): 1 / 0\nraise Mute", "Mute"),
    ],
)
def test_a_broken_package_is_reported_and_breaks_nothing(
    install: Installer, caplog: pytest.LogCaptureFixture, source: str, why: str
) -> None:
    schemes = install("broken", source)
    with caplog.at_level(logging.WARNING, logger="tenure"):
        assert schemes.parse("nessie://catalog/main/orders").is_literal
    assert schemes.parse("s3a://b/k").canonical == "s3://b/k"
    (problem,) = schemes.problems
    assert problem in caplog.text
    assert "plugin_broken:SCHEME" in problem
    assert why in problem


def test_one_broken_package_leaves_the_others_alone(install: Installer) -> None:
    install("broken", "raise SystemError")
    schemes = install("nessie", NESSIE)
    assert not schemes.parse("nessie://catalog/main/orders").is_literal
    assert len(schemes.problems) == 1


def test_a_scheme_that_raises_gives_a_literal_and_a_line_without_the_text(
    install: Installer, caplog: pytest.LogCaptureFixture
) -> None:
    schemes = install("raises", RAISES)
    with caplog.at_level(logging.WARNING, logger="tenure"):
        uri = schemes.parse("raises://SECRET/orders")
        assert schemes.canonical("raises://SECRET/orders") == uri.canonical
    assert uri.is_literal
    assert "plug-in" in uri.reason
    assert "KeyError" in caplog.text
    assert "SECRET" not in caplog.text


@pytest.mark.parametrize("method", ["canonical", "fields", "write", "plain", "defaults"])
def test_no_method_of_a_scheme_that_raises_breaks_reading(install: Installer, method: str) -> None:
    kept = [name for name in ("canonical", "fields", "write") if name != method]
    others = "".join(f"    def {name}(self, *given): return ''\n" for name in kept)
    source = RAISES.replace("canonical(self, authority)", f"{method}(self, *given)")
    source = source[: source.index("    def fields")] + others + source[source.index("SCHEME") :]
    schemes = install("raises", source.replace("+ authority", "+ str(given)"))
    text = "raises://h/t"
    assert schemes.canonical(text) == schemes.parse(text).canonical
    assert schemes.from_openlineage("s3://b", "k") == parse("s3://b/k")
    with pytest.raises(InvalidURI):
        schemes.from_openlineage("inmemory://", "x")


def test_a_pattern_with_groups_or_odd_characters_is_read_the_same_both_ways(install: Installer) -> None:
    schemes = install("nessie", NESSIE.replace('"table")', '"table"), pattern="(?:(a|b)|[^/])+"'))
    for text in ("nessie://h/a/b", "nessie://h/~%7E/é"):
        uri = schemes.parse(text)
        assert not uri.is_literal
        assert schemes.canonical(text) == uri.canonical


def test_a_pattern_that_takes_nothing_off_does_not_go_on_for_ever(install: Installer) -> None:
    schemes = install(
        "nessie", NESSIE.replace("Host(19120)", 'Name("branch", host="(.+)")').replace("Host,", "Name,")
    )
    assert schemes.canonical("nessie://h/a/b") == "nessie://h/a/b"


def test_a_package_whose_entry_points_cannot_be_read_is_reported(install: Installer) -> None:
    schemes = install("broken", "")
    (install.directory / "plugin_broken-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{GROUP}]\nnonsense\n"
    )
    assert schemes.parse("unknown://x").is_literal
    assert len(schemes.problems) == 1


def test_two_threads_that_load_plugins_do_not_wait_for_each_other(install: Installer) -> None:
    schemes = install(
        "nessie", "import time\ntime.sleep(0.2)\nimport tenure.uri\ntenure.uri.parse('one://x')\n" + NESSIE
    )
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(schemes.parse, ["nessie://h/a/b"] * 4))
    assert not any(uri.is_literal for uri in found)
    assert schemes.problems == []


def test_what_is_built_in_needs_no_plugins_to_be_loaded(install: Installer) -> None:
    schemes = install("broken", "raise RuntimeError")
    assert schemes.canonical("gs://b/k/") == "gcs://b/k"
    assert parse("gs://b/k") == from_openlineage("gs://b", "k")
    assert schemes.problems == []
