"""The `tenure` command. Answers go to standard output, remarks to standard error.

Exit codes: 0 for an answer, 1 for input that was refused, 2 for a command that is none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import Any

from tenure.errors import InvalidURI, TenureError
from tenure.uri import SCHEMES, DatasetURI, parse


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal or pipe that cannot write a letter gets its escape.
            stream.reconfigure(errors="backslashreplace")
    try:
        return int(options.run(options))
    except BrokenPipeError:
        # Whoever read the answers has enough of them; Python would complain once more while it ends.
        sys.stdout = None
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tenure", description="Datasets of a shared Spark platform.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    uri = commands.add_parser("uri", help="names of datasets").add_subparsers(
        required=True, metavar="COMMAND"
    )
    canonical = uri.add_parser("canonical", help="the one canonical form of dataset URIs")
    canonical.add_argument("texts", nargs="+", metavar="TEXT", help="a dataset URI; - reads one a line")
    canonical.add_argument("--json", action="store_true", help="all that each URI says, as JSON, one a line")
    canonical.set_defaults(run=_canonical)
    schemes = uri.add_parser("schemes", help="the schemes that are known")
    schemes.add_argument("--json", action="store_true", help="as JSON, one a line")
    schemes.set_defaults(run=_schemes)
    return parser


def _canonical(options: argparse.Namespace) -> int:
    failed = False
    for text in _texts(options.texts):
        try:
            uri = _parsed(text)
            answer = json.dumps(_facts(uri)) if options.json else uri.canonical
        except TenureError as error:
            failed = True
            _remark(error.detail)
            continue
        _answer(answer)
        if not options.json:
            _remark(*([f"A literal: {uri.reason}."] if uri.is_literal else uri.warnings))
    return int(failed)


def _texts(given: Iterable[str]) -> Iterable[str]:
    for text in given:
        if text == "-":
            yield from (line.rstrip("\r\n") for line in sys.stdin)
        else:
            yield text


def _parsed(text: str) -> DatasetURI:
    uri = parse(text)
    if uri.carries_password:
        raise InvalidURI(
            f"The text seems to carry a password, and would be kept with it because {uri.reason}. "
            "Leave out the user, the password and any secret parameter."
        )
    return uri


def _facts(uri: DatasetURI) -> dict[str, Any]:
    return {
        "canonical": uri.canonical,
        "literal": uri.is_literal,
        "reason": uri.reason,
        "scheme": uri.scheme,
        "denotes": uri.denotes,
        "query": uri.query,
        "openlineage": None
        if uri.is_literal
        else dict(zip(("namespace", "name"), uri.openlineage, strict=True)),
        "warnings": uri.warnings,
    }


def _schemes(options: argparse.Namespace) -> int:
    SCHEMES.load_plugins()
    for scheme in sorted(SCHEMES.all, key=lambda each: each.name):
        if options.json:
            _answer(json.dumps({"name": scheme.name, "aliases": scheme.aliases, "form": scheme.form}))
        else:
            _answer(f"{scheme.name:14}{', '.join(scheme.aliases):20}{scheme.form}")
    _remark(*SCHEMES.problems)
    return int(bool(SCHEMES.problems))


def _answer(line: str) -> None:
    print(line)


def _remark(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)
