"""Where the files of a `file_set` may be: a place that Spark reads, and that is not Tenure's own."""

from __future__ import annotations

from urllib.parse import quote

from django.conf import settings

from tenure.errors import InvalidInput
from tenure.uri import DatasetURI, parse

FILE_SCHEMES = ("file", "s3", "gcs", "abfss", "wasbs", "hdfs", "dbfs")
"""By their canonical names; `tenure.spark.paths` turns each into what Spark reads."""

_GLOBS = frozenset("*?[]{}\\")
_NO_NAMES = frozenset(("", ".", ".."))


def check_readable(uri: DatasetURI) -> None:
    """Raise `InvalidInput` unless Spark can read this place and a `file_set` may stand for it."""
    if uri.is_literal:
        raise InvalidInput(f"This URI cannot be read as files: {uri.reason}. {_known()}")
    if uri.scheme not in FILE_SCHEMES:
        raise InvalidInput(f"What {uri.scheme}:// names cannot be read as files. {_known()}")
    if uri.scheme == "file" and uri.authority != "localhost":
        raise InvalidInput("Spark reads files of its own machines alone: write file:///path, without a host.")
    if uri.query:
        raise InvalidInput("A file_set's URI has no query; write %3F for a ? that belongs to a name.")
    _check_parts(uri.parts)
    _check_apart(uri)


def _known() -> str:
    return f"Use one of {', '.join(FILE_SCHEMES)}, or the type 'external' for what Tenure does not read."


def _check_parts(parts: tuple[str, ...]) -> None:
    # One place has one spelling: otherwise the comparisons below could be talked around.
    if any(part in _NO_NAMES or "/" in part or "\x00" in part for part in parts):
        raise InvalidInput(
            "A file_set's path holds no '..', no '.', no empty part, and no slash inside of a part."
        )
    if any(_GLOBS.intersection(part) for part in parts):
        raise InvalidInput("A file_set is one file or one folder: its path holds none of * ? [ ] { } \\.")


def _check_apart(uri: DatasetURI) -> None:
    if _overlap(uri, _place(settings.TENURE_WAREHOUSE)):
        raise InvalidInput(
            "The URI meets the warehouse, which only tables write to. Put the files elsewhere."
        )
    home = f"file://{settings.TENURE_HOME}"
    if _overlap(uri, _place(home)) and not _inside(uri, _place(f"{home}/demonstration")):
        raise InvalidInput("The URI meets the console's own directory. Put the files elsewhere.")


def _place(location: str) -> DatasetURI:
    """A location of the settings as a URI. Locations are no quoted texts: a % in one is a %."""
    scheme, _, rest = location.partition(":")
    return parse(f"{scheme}:{quote(rest, safe='/:@[]')}")


def _overlap(one: DatasetURI, other: DatasetURI) -> bool:
    """Whether either holds the other: a folder above the warehouse holds it as well."""
    return _inside(one, other) or _inside(other, one)


def _inside(uri: DatasetURI, place: DatasetURI) -> bool:
    root, within = _root(place), tuple(part for part in place.parts if part not in ("", "."))
    return _root(uri) == root and uri.parts[: len(within)] == within


def _root(uri: DatasetURI) -> tuple[str, str]:
    """What two URIs share when their paths can be compared."""
    if uri.scheme in ("abfss", "wasbs"):
        # Two ways into the same account, on two hosts.
        return "azure", uri.authority.partition(".")[0]
    return uri.scheme, "" if uri.scheme == "dbfs" else uri.authority
