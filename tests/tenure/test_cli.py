"""The `tenure` command, as scripts call it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def tenure(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tenure", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_it_prints_the_canonical_form() -> None:
    answer = tenure("uri", "canonical", "S3A://key:secret@lake/orders/", "postgres://db/shop/public/orders")
    assert answer.stdout.splitlines() == ["s3://lake/orders", "postgres://db:5432/shop/public/orders"]
    assert (answer.returncode, answer.stderr) == (0, "")


def test_it_reads_lines_from_standard_input() -> None:
    answer = tenure("uri", "canonical", "-", stdin="gs://b/k\r\nfile:/a\n")
    assert answer.stdout.splitlines() == ["gcs://b/k", "file://localhost/a"]


def test_it_says_that_a_text_is_a_literal_and_why() -> None:
    answer = tenure("uri", "canonical", "hive://h/d/t")
    assert (answer.returncode, answer.stdout) == (0, "hive://h/d/t\n")
    assert "A literal: it names no port" in answer.stderr


def test_it_warns_of_a_number_sign() -> None:
    assert "%23" in tenure("uri", "canonical", "s3://b/a#b").stderr


def test_json_says_all_of_it() -> None:
    answer = tenure("uri", "canonical", "--json", "mysql://db/shop/orders", "x-me:a")
    known, literal = map(json.loads, answer.stdout.splitlines())
    assert known == {
        "canonical": "mysql://db:3306/shop/orders",
        "literal": False,
        "reason": "",
        "scheme": "mysql",
        "denotes": {"host": "db", "port": "3306", "database": "shop", "table": "orders"},
        "query": "",
        "openlineage": {"namespace": "mysql://db:3306", "name": "shop.orders"},
        "warnings": [],
    }
    assert (literal["literal"], literal["openlineage"]) == (True, None)


@pytest.mark.parametrize("text", ["airflow://a", "s3://b/a\tb", "ftp://me:SECRET@h/a", "s3://k:SE/CRET@b/a"])
def test_what_is_refused_ends_with_1_and_is_not_repeated(text: str) -> None:
    answer = tenure("uri", "canonical", text, "s3://b/k")
    assert answer.returncode == 1
    assert answer.stdout == "s3://b/k\n"
    assert answer.stderr
    assert "SECRET" not in answer.stderr
    assert "CRET" not in answer.stderr


def test_a_command_that_is_none_ends_with_2() -> None:
    assert tenure("uri").returncode == 2
    assert tenure("uri", "canonical").returncode == 2


def test_it_lists_the_schemes() -> None:
    lines = tenure("uri", "schemes").stdout.splitlines()
    assert "mysql         mariadb             mysql://{host}[:{port}]/{database}/{table}" in lines
    names = [json.loads(line)["name"] for line in tenure("uri", "schemes", "--json").stdout.splitlines()]
    assert names == sorted(names)
    assert len(names) == len(lines)
