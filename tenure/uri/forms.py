"""What a scheme's URIs look like, as data: the authority, the path, and the OpenLineage name.

A store's scheme is one `Scheme`. The authority is one of four kinds (`Host`, `LocalHost`, `Name`,
`Container`); the path is a tree of any depth, a fixed number of names, or one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tenure.errors import InvalidURI
from tenure.uri import openlineage
from tenure.uri.escapes import hide, reveal
from tenure.uri.hosts import canonical_host, canonical_port, check_delimiters, split_port
from tenure.uri.model import DatasetURI
from tenure.uri.secrets import MASK, masked_parameters
from tenure.uri.text import (
    NotOfForm,
    Split,
    canonical_path,
    canonical_query,
    check_characters,
    check_length,
    decode_parts,
    encode,
    split,
)

Fields = Mapping[str, str]
"""What a URI denotes, by the store's own terms."""

_PLAIN_HOST_PORT = re.compile(r"([a-z0-9\-._]+)(?::([1-9][0-9]{0,3}))?").fullmatch
_HIDDEN_USER = (
    "it seems to begin with a user and a password that holds / ? or #: leave them out, "
    "or percent-encode an @ that belongs to a name"
)


class Authority(Protocol):
    """What stands between `//` and the path.

    `canonical` gets it without auth information and raises `NotOfForm`; `fields` reads a canonical
    one, and `write` is its inverse.
    """

    keeps_user: bool
    has_port: bool

    def canonical(self, authority: str) -> str: ...

    def fields(self, authority: str) -> dict[str, str]: ...

    def write(self, fields: Fields) -> str: ...


@dataclass(frozen=True)
class Host:
    """`{host}[:{port}]`. Without a default the port is mandatory, as AIP-60 has it."""

    default_port: int | None
    keeps_user = False
    has_port = True

    def canonical(self, authority: str) -> str:
        found = _PLAIN_HOST_PORT(authority)
        if found is not None:
            host, port = found.groups()
        else:
            host, port = split_port(authority)
            host, port = canonical_host(host), canonical_port(port) if port else ""
        if port:
            return f"{host}:{port}"
        if self.default_port is None:
            raise NotOfForm("it names no port, and its scheme has no default port")
        return f"{host}:{self.default_port}"

    def fields(self, authority: str) -> dict[str, str]:
        host, port = split_port(authority)
        return {"host": host.strip("[]"), "port": port}

    def write(self, fields: Fields) -> str:
        host, port = fields["host"], fields.get("port", "")
        host = f"[{host}]" if ":" in host else host
        return f"{host}:{port}" if port else host


@dataclass(frozen=True)
class LocalHost:
    """`{host}`, by default this machine. A port is dropped: AIP-60 has none for files."""

    keeps_user = False
    has_port = False

    def canonical(self, authority: str) -> str:
        if not authority:
            return "localhost"
        host, port = split_port(authority)
        if port:
            canonical_port(port)
        return canonical_host(host)

    def fields(self, authority: str) -> dict[str, str]:
        return {"host": authority.strip("[]")}

    def write(self, fields: Fields) -> str:
        return Host(None).write({"host": fields["host"]})


@dataclass(frozen=True)
class Name:
    """A name that is no host: a bucket, a project, an account. It stays as it is.

    With `lower` the store does not tell capitals apart; `prefix` and `suffix` are what other
    spellings put around the name. `pattern`, if given, is what the name has to match.
    """

    name: str
    lower: bool = False
    prefix: str = ""
    suffix: str = ""
    pattern: str = ""
    keeps_user = False
    has_port = False

    def canonical(self, authority: str) -> str:
        if self.lower:
            # Outside ASCII, what is lower case depends on the version of Unicode.
            authority = "".join(each.lower() if each.isascii() else each for each in authority)
        authority = authority.removesuffix(self.suffix).removeprefix(self.prefix)
        if not authority:
            raise NotOfForm(f"it names no {self.name.replace('_', ' ')}")
        check_delimiters(authority)
        if "[" in authority or "]" in authority:
            raise NotOfForm("brackets before its path hold no IPv6 address")
        if self.pattern and not re.fullmatch(self.pattern, authority):
            raise NotOfForm(f"its {self.name.replace('_', ' ')} is none: it is to match {self.pattern}")
        return authority

    def fields(self, authority: str) -> dict[str, str]:
        return {self.name: authority}

    def write(self, fields: Fields) -> str:
        return fields[self.name]


@dataclass(frozen=True)
class Container:
    """`{container}@{host}`, as Azure writes it: what stands before `@` is no user."""

    keeps_user = True
    has_port = False

    def canonical(self, authority: str) -> str:
        container, at, host = authority.partition("@")
        if not at or not container or ":" in container or "[" in container or "]" in container:
            raise NotOfForm("it names no container and account, as in container@account.host")
        check_delimiters(container)
        if host.startswith("["):
            raise NotOfForm("its account is no host name")
        return f"{container}@{canonical_host(host)}"

    def fields(self, authority: str) -> dict[str, str]:
        container, _, host = authority.partition("@")
        return {"container": container, "host": host}

    def write(self, fields: Fields) -> str:
        return f"{fields['container']}@{fields['host']}"


@dataclass(frozen=True)
class Path:
    """A tree of any depth, called `tree`; or exactly these `names`; or the tree, then the names.

    `rooted` says whether the tree's text starts with a slash (a file's path) or not (an object's key).
    In it, a slash that is data inside a part is written `%2F`: see `tenure.uri.escapes`. `pattern`, if
    given, is what each of the names has to match.
    """

    names: tuple[str, ...] = ()
    tree: str = ""
    rooted: bool = True
    pattern: str = ""

    def canonical(self, path: str) -> str:
        path = canonical_path(path)
        if self.names:
            self._check(path)
        return path

    def _check(self, path: str) -> None:
        parts = path.count("/")
        if parts < len(self.names) + bool(self.tree) or (parts > len(self.names) and not self.tree):
            wanted = "/".join(f"{{{name}}}" for name in ((self.tree,) if self.tree else ()) + self.names)
            raise NotOfForm(f"its path is not of the form /{wanted}")
        names = path.rsplit("/", len(self.names))[1:]
        if "" in names:
            raise NotOfForm("a name in its path is empty")
        if self.pattern and not all(re.fullmatch(self.pattern, name) for name in names):
            raise NotOfForm(f"a name in its path does not match {self.pattern}")

    def fields(self, parts: tuple[str, ...]) -> dict[str, str]:
        below = len(parts) - len(self.names)
        named = dict(zip(self.names, parts[below:], strict=True))
        if not self.tree:
            return named
        text = "/".join(hide(part, "/") for part in parts[:below])
        return {self.tree: f"/{text}" if self.rooted else text, **named}

    def write(self, fields: Fields) -> str:
        parts = [fields[name] for name in self.names]
        if self.tree:
            text = fields[self.tree].removeprefix("/") if self.rooted else fields[self.tree]
            parts = [reveal(part, "/") for part in text.rstrip("/").split("/")] + parts
        return "".join(f"/{encode(part)}" for part in parts)

    @property
    def is_open(self) -> bool:
        """Whether a `#` could have been meant as part of a name: in keys and paths people do that."""
        return bool(self.tree) and not self.names


@dataclass(frozen=True)
class Scheme:
    """One store's URIs. `aliases` are other names of the scheme; `bare` allows `scheme:/path`."""

    name: str
    authority: Authority
    path: Path
    openlineage: openlineage.Names
    aliases: tuple[str, ...] = ()
    bare: bool = False

    def canonical(self, typed: Split) -> str:
        """The canonical text; raises `NotOfForm` with the reason."""
        authority = self._authority(typed)
        path = self.path.canonical(typed.path)
        query = canonical_query(typed.query) if typed.query else ""
        return f"{self.name}://{authority}{path}?{query}" if query else f"{self.name}://{authority}{path}"

    def _authority(self, typed: Split) -> str:
        authority = typed.authority
        if authority is None:
            if not (self.bare and typed.path.startswith("/")):
                raise NotOfForm(f"it does not begin with {self.name}://")
            return self.authority.canonical("")
        if not authority and not typed.path:
            raise NotOfForm("nothing follows its scheme")
        if "@" in authority and not self.authority.keeps_user:
            authority = authority.rpartition("@")[2]
        if ":" in authority and not self.authority.has_port and _has_at(typed):
            raise NotOfForm(_HIDDEN_USER)
        return self.authority.canonical(authority)

    def read(self, typed: Split, text: str) -> DatasetURI:
        """The URI with all that it denotes; raises `NotOfForm`."""
        canonical = check_length(self.canonical(typed))
        found = split(canonical)
        assert found is not None and found.authority is not None
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
        if typed.fragment is None or not self.path.is_open:
            return ()
        return (f"What follows # is not part of the {self.path.tree}. Write %23 for a # that belongs to it.",)

    def _typed(self, typed: Split, text: str) -> str:
        authority = typed.authority or ""
        if "@" in authority and not self.authority.keeps_user:
            scheme, _, rest = text.partition("://")
            host = authority.rpartition("@")[2]
            text = f"{scheme}://{MASK}@{host}{rest[len(authority) :]}"
        return masked_parameters(text)

    def build(self, fields: Mapping[str, str | int]) -> DatasetURI:
        """The URI of what `fields` denote, each quoted; raises `InvalidURI` for what cannot be written."""
        given = {name: str(value) for name, value in fields.items()}
        try:
            return self._compose(self.authority.write(given), given)
        except KeyError as missing:
            raise InvalidURI(f"A {self.name} URI needs {missing}.") from None

    def _compose(self, authority: str, fields: Fields, query: str = "") -> DatasetURI:
        text = f"{self.name}://{authority}{self.path.write(fields)}{'?' if query else ''}{query}"
        check_characters(text)
        # Anything of these would end the authority, or the query, early: another resource than is meant.
        if set(authority) & set("/?#" if self.authority.keeps_user else "/?#@") or "#" in query:
            raise InvalidURI(f"A {self.name} URI cannot carry one of / ? # @ there.")
        typed = split(text)
        assert typed is not None
        try:
            uri = self.read(typed, text)
        except NotOfForm as error:
            raise InvalidURI(f"This makes no {self.name} URI: {error}.") from None
        self._check_carried(uri, fields)
        return uri

    def _check_carried(self, uri: DatasetURI, fields: Fields) -> None:
        """Each name is as given; a tree is, but for its final slashes."""
        for name in self.path.names:
            if uri.denotes[name] != fields[name]:
                raise InvalidURI(f"A {self.name} URI cannot carry this {name}: {fields[name]!r}.")

    def from_openlineage(self, namespace: str, name: str) -> DatasetURI | None:
        """The URI of an OpenLineage name, None for a namespace of another scheme; raises `InvalidURI`."""
        found = self.openlineage.read(namespace, name)
        if found is None:
            return None
        fields, query = found
        authority = fields.get("authority")
        return self._compose(self.authority.write(fields) if authority is None else authority, fields, query)

    def to_openlineage(self, uri: DatasetURI) -> tuple[str, str]:
        """OpenLineage's namespace and name of one of this scheme's URIs."""
        return self.openlineage.write(uri.authority, uri.denotes, uri.query)


def _has_at(typed: Split) -> bool:
    return "@" in typed.path or "@" in (typed.query or "") or "@" in (typed.fragment or "")
