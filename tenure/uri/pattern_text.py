"""The canonical text of a pattern: one for every spelling, like that of a URI."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote, unquote

from tenure.uri.forms import Authority, Name, Path, Scheme
from tenure.uri.hosts import canonical_host, canonical_port, check_delimiters, split_port
from tenure.uri.registry import RESERVED, SCHEMES
from tenure.uri.secrets import has_colon, has_secret_parameter
from tenure.uri.text import MAX_BYTES, NotOfForm, canonical_path, lower

DEEP = "**"
"""What stands for any number of parts."""

WILDCARD = re.compile(r"(\*\*+|[*?]|\{[^{}]*\}|[{}])")
"""A wildcard, or what looks like one and is refused."""

_PATTERN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL).fullmatch
_CAPTURE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HIDDEN_USER = (
    "it seems to begin with a user and a password that holds a slash: leave them out, "
    "or write %40 for an @ that belongs to a name"
)


def read(text: str) -> tuple[Scheme, str, list[str]]:
    """The scheme, and in canonical form the authority and the path's parts; raises `NotOfForm`."""
    if len(text) > 3 * MAX_BYTES:
        raise NotOfForm("it is far too long")
    if "#" in text:
        raise NotOfForm("what follows # is no part of a URI; write %23 for a # that belongs to a name")
    found = _PATTERN(text)
    if found is None:
        raise NotOfForm("it does not begin with a scheme and //, as in s3://")
    name, typed, path = found.groups()
    if not typed and not path:
        raise NotOfForm("nothing follows its scheme")
    if has_secret_parameter(text):
        raise NotOfForm("it has no query, and what seems to be one carries auth information: leave that out")
    scheme, parts = _scheme(name.lower()), _parts(path)
    authority = _authority(scheme.authority, typed, path)
    _check_captures("/".join((authority, *parts)))
    _check_form(scheme.path, parts)
    return scheme, authority, parts


def _scheme(name: str) -> Scheme:
    if name == RESERVED:
        raise NotOfForm("its scheme is reserved by AIP-60 and names no dataset: use the store's own")
    if name.startswith("x-"):
        raise NotOfForm("schemes that begin with x- are never interpreted, and no pattern matches them")
    if name not in SCHEMES.by_name:
        SCHEMES.load_plugins()
    scheme = SCHEMES.by_name.get(name)
    if scheme is None:
        raise NotOfForm("its scheme is not one that Tenure knows")
    return scheme


def _check_captures(text: str) -> None:
    for name, times in Counter(_CAPTURE.findall(text)).items():
        if times > 1:
            raise NotOfForm(f"it captures {{{name}}} more than once: give each capture a name of its own")


def _normalised(text: str, canonical: Callable[[str], str]) -> str:
    """The text with its wildcards as they are, and what stands between them made canonical."""
    tokens = WILDCARD.split(text)
    for at, token in enumerate(tokens):
        if at % 2:
            _check_wildcard(token)
        elif token:
            tokens[at] = canonical(token)
    return "".join(tokens)


def _check_wildcard(token: str) -> None:
    if token.startswith(DEEP):
        raise NotOfForm("** stands for whole parts of the path: write * for characters within one")
    if token in ("{", "}"):
        raise NotOfForm("its braces are not balanced within one part; write %7B and %7D for those of a name")
    if token.startswith("{") and not _CAPTURE.fullmatch(token):
        raise NotOfForm(
            "the name of a capture is made of ASCII letters, digits and underscores, and begins with no digit"
        )


def _parts(path: str) -> list[str]:
    path = path.rstrip("/")
    parts: list[str] = []
    for part in path[1:].split("/") if path else ():
        if part != DEEP:
            parts.append(_normalised(part, _recoded))
        elif parts[-1:] != [DEEP]:
            parts.append(DEEP)
    return parts


def _recoded(text: str) -> str:
    # An @ is encoded, since after a colon in the authority it is taken for the end of a password.
    return quote(unquote(canonical_path(f"/{text}")[1:]), safe="!$&'()+,;=:")


def _check_form(form: Path, parts: list[str]) -> None:
    """Raise `NotOfForm` for a path that no URI of the scheme can have."""
    if not form.names:
        return
    fixed = len(parts) - parts.count(DEEP)
    few = fixed < len(form.names) + bool(form.tree) and DEEP not in parts
    if few or (fixed > len(form.names) and not form.tree):
        raise NotOfForm(f"its path is not of the form {form.form}, where ** stands for any number of these")
    for name in _names(form, parts):
        _check_name(form, name)


def _names(form: Path, parts: list[str]) -> list[str]:
    """The parts without wildcards that can be nothing but names, and not of the tree."""
    if form.tree:
        while DEEP in parts:
            parts = parts[parts.index(DEEP) + 1 :]
        parts = parts[-len(form.names) :]
    return [part for part in parts if not WILDCARD.search(part)]


def _check_name(form: Path, name: str) -> None:
    if not name:
        raise NotOfForm("a name in its path is empty")
    if form.pattern and not re.fullmatch(form.pattern, canonical_path(f"/{name}")[1:]):
        raise NotOfForm(f"a name in its path does not match {form.pattern}")


def _authority(kind: Authority, typed: str, path: str) -> str:
    if "@" in path and has_colon(typed):
        raise NotOfForm(_HIDDEN_USER)
    authority = typed if kind.keeps_user else typed.rpartition("@")[2]
    return _wild_authority(kind, authority) if WILDCARD.search(authority) else kind.canonical(authority)


def _wild_authority(kind: Authority, authority: str) -> str:
    if kind.has_port:
        host, port = split_port(authority)
        return f"{_host(host)}:{_port(port) if port else _default_port(kind)}"
    if kind.keeps_user:
        container, at, host = authority.partition("@")
        if not at:
            raise NotOfForm("it names no container and account, as in *@account.host")
        return f"{_normalised(container, _container)}@{_host(host)}"
    return _name(kind, authority) if isinstance(kind, Name) else _host(authority)


def _default_port(kind: Authority) -> str:
    try:
        return split_port(kind.canonical("host"))[1]
    except NotOfForm as reason:
        raise NotOfForm(f"{reason}: write :* for any port") from None


def _port(text: str) -> str:
    return _normalised(text, _digits) if WILDCARD.search(text) else canonical_port(text)


def _digits(text: str) -> str:
    if not re.fullmatch("[0-9]+", text):
        raise NotOfForm("its port holds more than digits and wildcards")
    return text


def _host(text: str) -> str:
    return _normalised(text, _host_text) if WILDCARD.search(text) else canonical_host(text)


def _host_text(text: str) -> str:
    if not text.isascii():
        raise NotOfForm("a host with wildcards is written in ASCII, as in xn--bcher-kva.*")
    return canonical_host(text)


def _container(text: str) -> str:
    if set(text) & set(":[]"):
        raise NotOfForm("a container's name holds none of : [ ]")
    check_delimiters(text)
    return text


def _name(kind: Name, authority: str) -> str:
    return kind.bare(_normalised(authority, _lower_name if kind.lower else _name_text))


def _lower_name(text: str) -> str:
    return lower(_name_text(text))


def _name_text(text: str) -> str:
    if set(text) & set("[]"):
        raise NotOfForm("brackets before its path hold no IPv6 address")
    check_delimiters(text)
    return text
