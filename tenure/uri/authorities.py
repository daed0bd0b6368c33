"""What may stand between `//` and the path: a host and port, this machine, a name, Azure's container."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from tenure.uri.hosts import canonical_host, canonical_port, check_delimiters, split_port
from tenure.uri.text import NotOfForm, lower

Fields = Mapping[str, str]
"""What a URI denotes, by its store's own terms."""

_HOST = r"[a-z0-9\-._]++"
_PLAIN_HOST_PORT = re.compile(rf"({_HOST})(?::([1-9][0-9]{{0,3}}))?").fullmatch


class Authority(ABC):
    """One kind of authority. `keeps_user`: what stands before `@` belongs to the name."""

    keeps_user = False
    has_port = False

    @property
    @abstractmethod
    def form(self) -> str:
        """How it is written, for people, as in `{host}[:{port}]`."""

    @abstractmethod
    def canonical(self, authority: str) -> str:
        """The canonical text of an authority without auth information; raises `NotOfForm`."""

    @abstractmethod
    def fields(self, authority: str) -> dict[str, str]:
        """What a canonical authority denotes."""

    @abstractmethod
    def write(self, fields: Fields) -> str:
        """The authority of what `fields` denotes."""

    def plain(self) -> str:
        """For speed: a pattern of two groups, name and port, that are canonical but for `defaults`."""
        return ""

    def defaults(self) -> tuple[str, str]:
        """What stands for an empty name, and for an empty port, in a match of `plain`."""
        return "", ""


@dataclass(frozen=True)
class Host(Authority):
    """`{host}[:{port}]`. Without a default the port is mandatory, as AIP-60 has it."""

    default_port: int | None
    has_port = True

    @property
    def form(self) -> str:
        return "{host}:{port}" if self.default_port is None else "{host}[:{port}]"

    def canonical(self, authority: str) -> str:
        found = _PLAIN_HOST_PORT(authority.lower()) if authority.isascii() else None
        if found is not None:
            host, port = found.groups()
        else:
            host, port = split_port(authority)
            host, port = canonical_host(host), canonical_port(port) if port else ""
        if not port and self.default_port is None:
            raise NotOfForm("it names no port, and its scheme has no default port")
        return f"{host}:{port or self.default_port}"

    def fields(self, authority: str) -> dict[str, str]:
        host, port = split_port(authority)
        return {"host": _read(host), "port": port}

    def write(self, fields: Fields) -> str:
        return f"{_written(fields['host'])}:{fields.get('port', '')}"

    def plain(self) -> str:
        return rf"({_HOST})(:[1-9][0-9]{{0,3}}){'' if self.default_port is None else '?'}"

    def defaults(self) -> tuple[str, str]:
        return "", f":{self.default_port}"


@dataclass(frozen=True)
class LocalHost(Authority):
    """`{host}`, by default this machine. A port is dropped: AIP-60 has none for files."""

    @property
    def form(self) -> str:
        return "[{host}]"

    def canonical(self, authority: str) -> str:
        if not authority:
            return "localhost"
        host, port = split_port(authority)
        if port:
            canonical_port(port)
        return canonical_host(host)

    def fields(self, authority: str) -> dict[str, str]:
        return {"host": _read(authority)}

    def write(self, fields: Fields) -> str:
        return _written(fields["host"])

    def plain(self) -> str:
        return rf"((?:{_HOST})?)()"

    def defaults(self) -> tuple[str, str]:
        return "localhost", ""


@dataclass(frozen=True)
class Name(Authority):
    """A name that is no host: a bucket, a project, an account. It stays as it is.

    With `lower` the store does not tell capitals apart. `host` is how a host of the store holds the name,
    which is another spelling of it: a pattern whose group is the name. `pattern`, if given, is what the
    name has to match.
    """

    name: str
    lower: bool = False
    host: str = ""
    pattern: str = ""

    def __post_init__(self) -> None:
        re.compile(f"{self.host}{self.pattern}")  # A pattern that is none shows where it is written.

    @property
    def form(self) -> str:
        return f"{{{self.name}}}"

    def canonical(self, authority: str) -> str:
        authority = self.bare(lower(authority) if self.lower else authority)
        if not authority:
            raise NotOfForm(f"it names no {self.name}")
        check_delimiters(authority)
        if "[" in authority or "]" in authority:
            raise NotOfForm("brackets before its path hold no IPv6 address")
        if self.pattern and not re.fullmatch(self.pattern, authority):
            raise NotOfForm(f"its {self.name} is none: it is to match {self.pattern}")
        return authority

    def bare(self, authority: str) -> str:
        """The name without what other spellings put around it."""
        # Until nothing is left to take off: what is canonical stays as it is.
        while self.host and (found := re.fullmatch(self.host, authority)) and found[1] != authority:
            authority = found[1]
        return authority

    def fields(self, authority: str) -> dict[str, str]:
        return {self.name: authority}

    def write(self, fields: Fields) -> str:
        return fields[self.name]

    def plain(self) -> str:
        # A dot could belong to a host that holds the name.
        return "" if self.pattern else rf"([a-z0-9\-{'' if self.lower else 'A-Z._'}]++)()"


@dataclass(frozen=True)
class Container(Authority):
    """`{container}@{host}`, as Azure writes it: what stands before `@` is no user."""

    keeps_user = True

    @property
    def form(self) -> str:
        return "{container}@{host}"

    def canonical(self, authority: str) -> str:
        container, at, host = authority.partition("@")
        if not at or not container or set(container) & set(":[]") or host.startswith("["):
            raise NotOfForm("it names no container and account, as in container@account.host")
        check_delimiters(container)
        return f"{container}@{canonical_host(host)}"

    def fields(self, authority: str) -> dict[str, str]:
        container, _, host = authority.partition("@")
        return {"container": container, "host": host}

    def write(self, fields: Fields) -> str:
        return f"{fields['container']}@{fields['host']}"

    def plain(self) -> str:
        return rf"([A-Za-z0-9\-]+@{_HOST})()"


def _read(host: str) -> str:
    """A canonical host as people name it: an IPv6 address without brackets, its zone as it is."""
    return host[1:-1].replace("%25", "%", 1) if host.startswith("[") else host


def _written(host: str) -> str:
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    return f"[{host.replace('%', '%25', 1)}]" if ":" in host else host
