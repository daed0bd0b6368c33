"""What a store's URIs look like, as data: authority, path, and the name that OpenLineage gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike, fspath

from tenure.errors import InvalidURI
from tenure.uri.authorities import Authority, Container, Fields, Host, LocalHost, Name
from tenure.uri.model import DatasetURI
from tenure.uri.openlineage import Names
from tenure.uri.paths import Path
from tenure.uri.secrets import MASK, has_colon, has_secret_parameter, masked_query
from tenure.uri.text import (
    MAX_BYTES,
    NotOfForm,
    Split,
    canonical_query,
    check_characters,
    check_length,
    decode_parts,
    split,
)

__all__ = ["Authority", "Container", "Host", "LocalHost", "Name", "Names", "Path", "Scheme"]

# `hdfs://me:1/secret@host/a` could be a host, a port and a path. A path with an @ after a port is
# therefore written with %40, and read as what it may be: the end of a password.
_HIDDEN_USER = (
    "it seems to begin with a user and a password that holds / ? or #: leave them out, "
    "or percent-encode an @ that belongs to a name"
)
_PLAIN_USER = '(?:[!"$-.0->A-~]*+@)?'
_PLAIN_QUERY = r'\?([!"$-:<->A-~]*)'


@dataclass(frozen=True)
class Scheme:
    """One store's URIs. `aliases` are other names of the scheme; `bare` allows `scheme:/path`."""

    name: str
    authority: Authority
    path: Path
    openlineage: Names
    aliases: tuple[str, ...] = ()
    bare: bool = False

    def __getstate__(self) -> dict[str, object]:
        # Without what is cached: the shortcut cannot be pickled.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def form(self) -> str:
        """The URI's form for people, as in `mysql://{host}[:{port}]/{database}/{table}`."""
        return f"{self.name}://{self.authority.form}{self.path.form}"

    @cached_property
    def shortcut(self) -> Callable[[str], str | None]:
        """For speed: the canonical form of the plainest texts, None for all others, by one expression."""
        authority, path = self.authority.plain(), self.path.plain()
        user = "" if self.authority.keeps_user else _PLAIN_USER
        names = "|".join(map(re.escape, (self.name, *self.aliases)))
        pattern = f"(?:{names})://{user}{authority}{path}/*(?:{_PLAIN_QUERY})?"
        match = re.compile(pattern if authority and path else "(?!)").fullmatch
        begin = f"{self.name}://"
        default_name, default_port = self.authority.defaults()

        def canonical(text: str) -> str | None:
            found = match(text)
            if found is None:
                return None
            name, port, path, query = found.groups()
            if query:
                query = canonical_query(query)
                path = f"{path}?{query}" if query else path
            return f"{begin}{name or default_name}{port or default_port}{path}"

        return canonical

    def canonical(self, typed: Split) -> str:
        """The canonical text; raises `NotOfForm` with the reason."""
        authority = self._authority(typed)
        path, query = self.path.canonical(typed.path), typed.query or ""
        if ("@" in path or "@" in query) and has_colon(authority):
            path, query = path.replace("@", "%40"), query.replace("@", "%40")
        query = canonical_query(query) if query else ""
        end = f"{path}?{query}" if query else path
        if has_secret_parameter(end):
            raise NotOfForm("a parameter in it seems to carry auth information: leave that out")
        return f"{self.name}://{authority}{end}"

    def _authority(self, typed: Split) -> str:
        authority = typed.authority
        if authority is None:
            if not (self.bare and typed.path.startswith("/")):
                raise NotOfForm(f"it does not begin with {self.name}://")
            return self.authority.canonical("")
        if not authority and not typed.path:
            raise NotOfForm("nothing follows its scheme")
        if _has_at(typed) and has_colon(authority):
            raise NotOfForm(_HIDDEN_USER)
        if "@" in authority and not self.authority.keeps_user:
            authority = authority.rpartition("@")[2]
        if len(authority) > MAX_BYTES:
            raise NotOfForm("what stands before its path is too long")
        return self.authority.canonical(authority)

    def read(self, typed: Split, text: str) -> DatasetURI:
        """The URI with all that it denotes; raises `NotOfForm`."""
        canonical = check_length(self.canonical(typed))
        found = split(canonical)
        assert found.authority is not None
        parts = decode_parts(found.path)
        denotes = {**self.authority.fields(found.authority), **self.path.fields(parts)}
        return DatasetURI(
            canonical,
            self.name,
            found.authority,
            parts,
            found.query or "",
            tuple(denotes.items()),
            warnings=self._warnings(typed),
            typed=self._typed(typed, text),
            naming=self,
        )

    def _warnings(self, typed: Split) -> tuple[str, ...]:
        # In keys and paths people write a # that is part of the name; after a table's name nobody does.
        if typed.fragment is None or not self.path.tree or self.path.names:
            return ()
        return (f"What follows # is not part of the {self.path.tree}. Write %23 for a # that belongs to it.",)

    def _typed(self, typed: Split, text: str) -> str:
        """The text as it came, with `***` for user, password and secret parameters."""
        scheme = text[: len(typed.scheme)]
        authority, query = typed.authority, masked_query(typed.query or "")
        if authority and "@" in authority and not self.authority.keeps_user:
            authority = f"{MASK}@{authority.rpartition('@')[2]}"
        # A secret that holds a # goes on behind it.
        fragment = typed.fragment if query == (typed.query or "") else MASK
        begin = f"{scheme}:{typed.path}" if authority is None else f"{scheme}://{authority}{typed.path}"
        query = begin if typed.query is None else f"{begin}?{query}"
        return query if typed.fragment is None else f"{query}#{fragment}"

    def build(self, fields: Mapping[str, str | int | PathLike[str]]) -> DatasetURI:
        """The URI of what `fields` denotes, each quoted; raises `InvalidURI` for what cannot be written."""
        given = {name: _text(name, value) for name, value in fields.items()}
        try:
            return self._compose(self.authority.write(given), given)
        except KeyError as missing:
            raise InvalidURI(f"A {self.name} URI needs {missing}.") from None

    def _compose(self, authority: str, fields: Fields, query: str = "") -> DatasetURI:
        try:
            end = self.path.write(fields) + (f"?{query}" if query else "")
        except UnicodeEncodeError:
            raise InvalidURI("Half of a surrogate pair cannot be written in a URI.") from None
        # Anything of these would end the authority, or the query, early: another resource than is meant.
        if set(authority) & set("/?#" if self.authority.keeps_user else "/?#@") or "#" in query:
            raise InvalidURI(f"A {self.name} URI cannot carry one of / ? # @ there.")
        text = f"{self.name}://{authority}{end.replace('@', '%40') if has_colon(authority) else end}"
        check_characters(text)
        try:
            uri = self.read(split(text), text)
        except NotOfForm as error:
            raise InvalidURI(f"This makes no {self.name} URI: {error}.") from None
        for name in self.path.names:
            if uri.denotes[name] != fields[name]:
                raise InvalidURI(f"A {self.name} URI cannot carry this {name}.")
        return uri

    def to_openlineage(self, uri: DatasetURI) -> tuple[str, str]:
        """OpenLineage's namespace and name of one of this scheme's URIs."""
        try:
            return self.openlineage.write(uri.authority, uri.denotes, uri.query)
        except KeyError as missing:
            raise InvalidURI(
                f"A {self.name} URI has no {missing}, which its OpenLineage name needs."
            ) from None

    def from_openlineage(self, namespace: str, name: str) -> DatasetURI | None:
        """The URI of an OpenLineage name, None for a namespace of another scheme; raises `InvalidURI`."""
        if len(name) > MAX_BYTES:
            raise InvalidURI(f"The OpenLineage name is longer than {MAX_BYTES} characters.")
        found = self.openlineage.read(namespace, name)
        if found is None:
            return None
        fields, query = found
        tree = self.path.tree
        if self.openlineage.tree and self.path.rooted and not self.bare:
            # Some producers leave out the slash that a path in a store begins with.
            fields[tree] = f"/{fields[tree].removeprefix('/')}"
        authority = fields.get("authority") or self.authority.write(fields)
        if not self.authority.keeps_user:
            authority = authority.rpartition("@")[2]
        return self._compose(authority, fields, query)


def _text(name: str, value: object) -> str:
    if isinstance(value, PathLike):
        value = fspath(value)
    # None would become a name of its own, the same for everything that is missing.
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InvalidURI(f"The {name} is a text, not {type(value).__name__}.")
    return str(value)


def _has_at(typed: Split) -> bool:
    return "@" in typed.path or "@" in (typed.query or "") or "@" in (typed.fragment or "")
