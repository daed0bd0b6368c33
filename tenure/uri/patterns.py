"""Patterns over dataset URIs: `s3://{bucket}/orders/*/day=??/**`.

| written | stands for |
| --- | --- |
| `?` | one character within a part |
| `*` | any number of characters within a part, also none |
| `**`, a whole part | any number of parts, also none |
| `{name}` | one or more characters within a part, captured |

All else stands for itself, and `%2A`, `%3F`, `%7B`, `%7D` for `*`, `?`, `{`, `}`. Spellings count as
little as in URIs: aliases of schemes, default ports, final slashes, what is percent-encoded in a path.

Before the path there are the same wildcards but `**`. None reaches across the `:` before a port or the
`@` after a container, and a port is the scheme's default one unless the pattern says otherwise:
`postgres://*/shop/**` is any host's port 5432, `postgres://*:*/shop/**` any port. As in URIs, nothing is
percent-decoded there.

`?` never begins a query: a pattern says nothing about a URI's query and matches whatever it is. Each
capture takes as little as it can, from left to right, and so does each `**`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from urllib.parse import unquote

from tenure.errors import InvalidURI
from tenure.uri.forms import Authority
from tenure.uri.model import DatasetURI
from tenure.uri.pattern_text import DEEP, WILDCARD, read
from tenure.uri.registry import SCHEMES
from tenure.uri.text import NotOfForm, check_characters, check_length


@dataclass(frozen=True)
class Wild:
    """A piece with wildcards: `tokens` are text, wildcard, text, …, text, the texts decoded.

    What it matches holds `core`, the longest text between two wildcards, and has at least `least`
    characters. Two are equal when they differ in names of captures alone.
    """

    shape: tuple[str, ...]
    tokens: tuple[str, ...] = field(compare=False)
    core: str = field(compare=False)
    least: int = field(compare=False)

    def matches(self, text: str) -> bool:
        """Whether the wildcards can stand for what makes it this text."""
        tokens = self.tokens
        if len(text) < self.least or not (text.startswith(tokens[0]) and text.endswith(tokens[-1])):
            return False
        return (len(tokens) == 3 and tokens[1] != "?") or self._expression.match(text) is not None

    def captures(self, text: str) -> dict[str, str]:
        """What the captures hold of a text that matches, by name."""
        found = self._expression.match(text)
        return found.groupdict() if found else {}

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile(_expression(self.tokens), re.DOTALL)


Piece = str | Wild
"""A host, a port, a container, a name or a part of a path: without wildcards it is plain text."""

Run = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class URIPattern:
    """A pattern; two are equal, and hash alike, when their canonical texts are equal.

    `text` is the canonical text, without auth information. `runs` are the pieces between one `**` and
    the next, the authority's first. Raises `InvalidURI` for a text that is no pattern, and for one that
    can match nothing because the scheme's URIs have other paths.
    """

    text: str
    scheme: str = field(init=False, compare=False, repr=False)
    runs: tuple[Run, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_characters(self.text)
        try:
            scheme, authority, parts = read(self.text)
        except NotOfForm as reason:
            raise InvalidURI(f"This is no pattern for URIs: {reason}.") from None
        text = check_length(f"{scheme.name}://{authority}/{'/'.join(parts)}")
        head = tuple(_piece(each, str) for each in _authority_pieces(scheme.authority, authority))
        for name, value in (("text", text), ("scheme", scheme.name), ("runs", _runs(head, parts))):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[type[URIPattern], tuple[str]]:
        return URIPattern, (self.text,)

    def matches(self, uri: str | DatasetURI) -> bool:
        """Whether the pattern stands for this URI; it never does for a literal.

        Raises `InvalidURI` for a text that `tenure.uri.parse` refuses.
        """
        return _starts(self.runs, self._texts(uri)) is not None

    def captures(self, uri: str | DatasetURI) -> dict[str, str] | None:
        """What the captures hold, decoded, by name; None for no match. Raises as `matches` does."""
        texts = self._texts(uri)
        starts = _starts(self.runs, texts)
        if starts is None:
            return None
        captured: dict[str, str] = {}
        for run, start in zip(self.runs, starts, strict=True):
            for piece, text in zip(run, texts[start : start + len(run)], strict=True):
                if isinstance(piece, Wild):
                    captured.update(piece.captures(text))
        return captured

    def steps(self) -> Iterator[Piece | None]:
        """The pieces from left to right, None for each `**`."""
        for number, run in enumerate(self.runs):
            if number:
                yield None
            yield from run

    def _texts(self, uri: str | DatasetURI) -> tuple[str, ...]:
        parsed = SCHEMES.parse(uri)
        return uri_pieces(parsed) if parsed.scheme == self.scheme else ()


def uri_pieces(uri: DatasetURI) -> tuple[str, ...]:
    """What a pattern's pieces are compared with, one by one; nothing for a literal."""
    scheme = SCHEMES.by_name.get(uri.scheme)
    return _authority_pieces(scheme.authority, uri.authority) + uri.parts if scheme else ()


def _authority_pieces(kind: Authority, authority: str) -> tuple[str, ...]:
    if kind.has_port:
        return authority.rpartition(":")[::2]
    return authority.partition("@")[::2] if kind.keeps_user else (authority,)


def _runs(head: Run, parts: list[str]) -> tuple[Run, ...]:
    runs = [head]
    for part in parts:
        if part == DEEP:
            runs.append(())
        else:
            runs[-1] += (_piece(part, unquote),)
    return tuple(runs)


@lru_cache(maxsize=4096)
def _piece(text: str, decode: Callable[[str], str]) -> Piece:
    tokens = tuple(token if at % 2 else decode(token) for at, token in enumerate(WILDCARD.split(text)))
    if len(tokens) == 1:
        return tokens[0]
    shape = tuple("{}" if at % 2 and token[0] == "{" else token for at, token in enumerate(tokens))
    least = sum(map(len, tokens[::2])) + sum(wildcard != "*" for wildcard in tokens[1::2])
    return Wild(shape, tokens, max(tokens[2:-1:2], key=len, default=""), least)


def _expression(tokens: tuple[str, ...]) -> str:
    """The regular expression of a piece.

    What follows a `*` or a capture, up to the next, is of a fixed length. Its earliest place leaves most
    room for the rest: an atomic group tries no other, so that no text takes exponentially long.
    """
    runs = [re.escape(tokens[0])]
    for wildcard, text in zip(tokens[1::2], tokens[2::2], strict=True):
        if wildcard == "?":
            runs[-1] += f".{re.escape(text)}"
        else:
            gap = ".*?" if wildcard == "*" else f"(?P<{wildcard[1:-1]}>.+?)"
            runs.append(gap + re.escape(text))
    atomic = "".join(f"(?>{run})" for run in runs[1:-1])
    return f"{runs[0]}{atomic}{''.join(runs[1:][-1:])}\\Z"


def _starts(runs: tuple[Run, ...], texts: tuple[str, ...]) -> list[int] | None:
    """Where each run begins; None for no match."""
    first, last = runs[0], runs[-1]
    end = len(texts) - len(last)
    if len(runs) == 1:
        return [0] if end == 0 and _fits(first, texts, 0) else None
    if end < len(first) or not (_fits(first, texts, 0) and _fits(last, texts, end)):
        return None
    starts = [0]
    # As within a part: the earliest place of a run is as good as any later one.
    for before, run in pairwise(runs[:-1]):
        places = range(starts[-1] + len(before), end - len(run) + 1)
        start = next((place for place in places if _fits(run, texts, place)), None)
        if start is None:
            return None
        starts.append(start)
    return [*starts, end]


def _fits(run: Run, texts: tuple[str, ...], start: int) -> bool:
    for at, piece in enumerate(run, start):
        if not (piece == texts[at] if isinstance(piece, str) else piece.matches(texts[at])):
            return False
    return True
