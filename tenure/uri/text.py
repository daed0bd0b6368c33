"""The generic rules: what each part of a URI becomes, whatever its scheme.

Sources: AIP-60 and RFC 3986. `urllib.parse.urlsplit` is AIP-60's reference, but it removes tabs and
newlines and, together with `urlunsplit`, loses slashes, differently in each version of Python. So the
text is split here, by the grammar of RFC 3986 (appendix B), and nothing is removed in silence.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple
from urllib.parse import quote, unquote

from tenure.errors import InvalidURI
from tenure.uri.secrets import is_secret_key

MAX_BYTES = 4096
"""The longest canonical form, in bytes of UTF-8."""

_SUB_DELIMITERS = "!$&'()*+,;="

PLAIN = frozenset(string.ascii_letters + string.digits + "-._~" + _SUB_DELIMITERS + ":@")
"""What stands in a path's part as it is (`pchar` of RFC 3986); all else is percent-encoded."""

LIKE_DELIMITERS = frozenset(
    "\u2047\u2048\u2049\u2100\u2101\u2105\u2106\u2a74\ufe13\ufe16"
    "\ufe55\ufe56\ufe5f\ufe6b\uff03\uff0f\uff1a\uff1f\uff20"
)
"""Characters whose compatibility form holds one of / ? # @ : and so could pass for one."""

_SPLIT = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
).fullmatch
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_HIGH_BYTE = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]").search
_NOT_PLAIN = re.compile(f"%[0-9A-Fa-f]{{2}}|[^/{re.escape(''.join(sorted(PLAIN)))}]")


class NotOfForm(Exception):
    """The text is not of its scheme's form; the reason is for people and quotes nothing of the text."""


class Split(NamedTuple):
    """A URI's parts as typed, the scheme in lower case. None stands for a part that is not there."""

    scheme: str
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def check_characters(text: str) -> None:
    """Raise `InvalidURI`, naming the position, for a character that no URI holds and no store keeps."""
    # Whatever is printable is neither a control character nor a surrogate.
    if text.isprintable():
        return
    found = _FORBIDDEN.search(text)
    if found:
        kind = "a control character" if found[0] < "\ud800" else "half of a surrogate pair"
        raise InvalidURI(
            f"Character {found.start() + 1} of the URI is U+{ord(found[0]):04X}, {kind}: remove it, "
            "or write it percent-encoded if it belongs to the name.",
            position=found.start(),
        )


def check_length(canonical: str) -> str:
    """The canonical form, or `InvalidURI` when it is longer than `MAX_BYTES`."""
    # No character takes more than four bytes.
    if len(canonical) * 4 > MAX_BYTES:
        size = len(canonical.encode())
        if size > MAX_BYTES:
            raise InvalidURI(f"The URI's canonical form takes {size} bytes; at most {MAX_BYTES} are allowed.")
    return canonical


def lower(text: str) -> str:
    """The text with its ASCII letters in lower case: outside ASCII that depends on the version of Unicode."""
    return "".join(each.lower() if each.isascii() else each for each in text)


def split(text: str) -> Split:
    """The parts of a text; the scheme is empty when it has none."""
    scheme, mark, rest = text.partition("://")
    if not (mark and scheme.isalnum() and scheme.isascii()):
        return _split_any(text)
    # The common form, in a third of the time.
    query = fragment = None
    if "#" in rest:
        rest, _, fragment = rest.partition("#")
    if "?" in rest:
        rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    return Split(scheme.lower(), authority, slash + path, query, fragment)


def _split_any(text: str) -> Split:
    found = _SPLIT(text)
    if found is None:
        return Split("", None, text, None, None)
    scheme, authority, path, query, fragment = found.groups()
    return Split(scheme.lower(), authority, path, query, fragment)


def canonical_path(path: str) -> str:
    """The path with each part percent-encoded where needed, and only there; the final slashes stripped.

    Raises `NotOfForm` when what is percent-encoded is no UTF-8: names of every store are text.
    """
    encoded = _NOT_PLAIN.sub(_encoded, path)
    if _HIGH_BYTE(path):
        _check_utf8(encoded)
    return encoded.rstrip("/") or "/"


def _check_utf8(path: str) -> None:
    try:
        unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise NotOfForm("what is percent-encoded in its path is not UTF-8") from None


def _encoded(found: re.Match[str]) -> str:
    text = found[0]
    return _ENCODED.get(text) or f"%{text.encode().hex('%').upper()}"


def _escapes() -> dict[str, str]:
    """What becomes of each percent-encoded byte, however it is written, and of ASCII that is not plain."""
    escapes = {chr(byte): f"%{byte:02X}" for byte in range(128)}
    for byte in range(256):
        plain = chr(byte) if chr(byte) in PLAIN else f"%{byte:02X}"
        for high in {f"{byte:02x}"[0], f"{byte:02X}"[0]}:
            escapes |= {f"%{high}{low}": plain for low in {f"{byte:02x}"[1], f"{byte:02X}"[1]}}
    return escapes


_ENCODED = _escapes()


def encode(part: str) -> str:
    """One part of a path, percent-encoded: a slash or a percent sign in it is data."""
    return quote(part, safe=f"{_SUB_DELIMITERS}:@")


def decode_parts(path: str) -> tuple[str, ...]:
    """The parts of a canonical path, decoded; none for the root."""
    if path == "/":
        return ()
    parts = path[1:].split("/")
    return tuple(map(unquote, parts)) if "%" in path else tuple(parts)


def canonical_query(query: str) -> str:
    """The query's items by key, ties in their order, as typed; without empty and without secret ones."""
    items = [item for item in query.split("&") if item and not is_secret_key(item.partition("=")[0])]
    if len(items) > 1:
        items.sort(key=_key)
    return "&".join(items)


def _key(item: str) -> str:
    return item.partition("=")[0]
