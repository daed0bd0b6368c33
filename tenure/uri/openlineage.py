"""OpenLineage's names of datasets, as templates that are written and read.

Source: the naming page of the OpenLineage specification. It does not say how a separator inside a
name is written, and other producers write `d.s.a.b` for table `a.b`, which nobody can read back. Here
such a part is quoted as in SQL, `d.s."a.b"`. What the name has no place for, the query, follows it
after `?`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tenure.errors import InvalidURI
from tenure.uri.escapes import hide, reveal

_FIELD = re.compile(r"\{(\w+)\}")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True)
class Names:
    """Templates of a namespace and of a name.

    Fields are those that a URI denotes, `authority`, and `place`: the authority without its port.
    `short` is another namespace, used where the fields have these values.
    """

    namespace: str
    name: str
    short: tuple[str, Mapping[str, str]] | None = None
    tree: bool = False
    """Whether the name is one tree (a key, a path), in which dots and slashes are no separators."""

    def __post_init__(self) -> None:
        for template in (self.namespace, self.short[0] if self.short else ""):
            re.compile(_pattern(template))  # A template that is none shows where it is written.

    def write(self, authority: str, denotes: Mapping[str, str], query: str) -> tuple[str, str]:
        """Namespace and name of what `denotes` says."""
        place = authority.removesuffix(f":{denotes.get('port')}")
        fields = {"authority": authority, "place": place, **denotes}
        namespace = self.namespace
        if self.short and self.short[1].items() <= fields.items():
            namespace = self.short[0]
        return namespace.format(**fields), self._write_name(fields) + (f"?{query}" if query else "")

    def _write_name(self, fields: Mapping[str, str]) -> str:
        if self.tree:
            return hide(self.name.format(**fields), "?") or "/"
        return _FIELD.sub(lambda found: self._quoted(fields[found[1]]), self.name)

    def _quoted(self, part: str) -> str:
        if set(part) & {'"', "?", self._separator}:
            return '"' + part.replace('"', '""') + '"'
        return part

    @property
    def _separator(self) -> str:
        between = _FIELD.split(self.name)[2:-1:2]
        return between[0] if between else '"'

    def read(self, namespace: str, name: str) -> tuple[dict[str, str], str] | None:
        """The fields and the query of a namespace and a name, None for another scheme's namespace.

        Raises `InvalidURI` for a name that does not fit.
        """
        fields = self._read_namespace(namespace)
        if fields is None:
            return None
        named, query = self._read_tree(name) if self.tree else self._read_names(name)
        return {**fields, **named}, query

    def _read_namespace(self, namespace: str) -> dict[str, str] | None:
        for template, given in ((self.namespace, {}), self.short or ("", {})):
            found = re.fullmatch(_pattern(template), namespace, re.DOTALL)
            if template and found:
                return {**found.groupdict(), **given}
        return None

    def _read_tree(self, name: str) -> tuple[dict[str, str], str]:
        text, _, query = name.partition("?")
        return {self.name.strip("{}"): reveal(text, "?")}, query

    def _read_names(self, name: str) -> tuple[dict[str, str], str]:
        head, *wanted = self._fields
        found = list(self._parts(name.removeprefix(head)))
        if not name.startswith(head) or len(found) != len(wanted) + 1:
            raise InvalidURI(f"The OpenLineage name is not of the form {self.name}.")
        *parts, query = found
        return dict(zip(wanted, parts, strict=True)), query

    @cached_property
    def _fields(self) -> list[str]:
        return [_FIELD.split(self.name)[0], *_FIELD.findall(self.name)]

    def _parts(self, name: str) -> Iterator[str]:
        """The parts of a name, unquoted, and then what follows `?`."""
        separator = self._separator
        rest: str | None = name
        while rest is not None:
            quoted = _QUOTED.match(rest)
            if quoted:
                yield quoted[1].replace('""', '"')
                rest = rest[quoted.end() :]
                end = rest[:1]
                if end and end not in (separator, "?"):
                    raise InvalidURI("In the OpenLineage name something follows a quoted part.")
            else:
                part = re.split(f"[{re.escape(separator)}?]", rest, maxsplit=1)[0]
                yield part
                end, rest = rest[len(part) : len(part) + 1], rest[len(part) :]
            if end != separator:
                break
            rest = rest[1:]
        yield (rest or "")[1:]


def _pattern(template: str) -> str:
    """The regular expression of a namespace. Its last field may hold what separates the others."""
    texts, names = _FIELD.split(template)[::2], _FIELD.findall(template)
    fields = [f"(?P<{name}>{'.+' if name == names[-1] else '[^:/]+'})" for name in names]
    return "".join(re.escape(text) + field for text, field in zip(texts, [*fields, ""], strict=True))
