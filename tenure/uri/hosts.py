"""Hosts and ports in one spelling each."""

from __future__ import annotations

import ipaddress
import re
from unicodedata import ucd_3_2_0

from tenure.uri.text import LIKE_DELIMITERS, NotOfForm

# RFC 3986 allows more of punctuation; no name has it, but `;password=…` would begin with it.
_NAME = re.compile(r"(?:[a-z0-9\-._~,]|%[0-9a-f]{2})+").fullmatch
# Older and newer rules of IDNA make two different names of these.
_DEVIATIONS = frozenset("\u00df\u03c2\u200c\u200d")
_IN_BRACKETS = re.compile(r"\[([0-9A-Fa-f:.]+)(?:%(?:25)?([A-Za-z0-9\-._~]+))?\]").fullmatch
_DIGITS = re.compile(r"[0-9]+").fullmatch


def split_port(authority: str) -> tuple[str, str]:
    """The host and the text of the port, empty when there is none; brackets belong to the host."""
    if authority.startswith("["):
        host, bracket, rest = authority.partition("]")
        if rest and not rest.startswith(":"):
            raise NotOfForm("something other than a port follows the brackets of its host")
        return host + bracket, rest[1:]
    host, _, port = authority.partition(":")
    return host, port


def canonical_port(text: str) -> str:
    """A port without leading zeros; raises `NotOfForm` for anything but a number from 1 to 65535."""
    digits = text.lstrip("0")
    if not _DIGITS(text) or not digits or len(digits) > 5 or int(digits) > 65535:
        raise NotOfForm("its port is not a number from 1 to 65535")
    return digits


def canonical_host(host: str) -> str:
    """A host in lower case, an internationalised name as IDNA writes it, IPv6 in its shortest form."""
    if not host:
        raise NotOfForm("it names no host")
    if host.startswith("["):
        return _canonical_ipv6(host)
    check_delimiters(host)
    host = (host if host.isascii() else _to_ascii(host)).lower()
    if not _NAME(host):
        raise NotOfForm("its host holds characters that no host name has")
    return host


def _to_ascii(host: str) -> str:
    """An internationalised name as IDNA of 2003 writes it, which Python has."""
    # What Unicode 3.2 did not know has rules that change with the version of Python.
    if any(each in _DEVIATIONS or ucd_3_2_0.category(each) == "Cn" for each in host):
        raise NotOfForm("its host holds a character that IDNA's versions disagree on: write its xn-- form")
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise NotOfForm("its host is no internationalised domain name") from None


def check_delimiters(name: str) -> None:
    """Raise `NotOfForm` for a name that could be taken for another one, or for more than a name."""
    if not name.isascii() and not LIKE_DELIMITERS.isdisjoint(name):
        raise NotOfForm("a character before its path only looks like one of / ? # @ :")


def _canonical_ipv6(host: str) -> str:
    found = _IN_BRACKETS(host)
    if found is None:
        raise NotOfForm("there is no IPv6 address in the brackets of its host")
    try:
        address = ipaddress.IPv6Address(found[1])
    except ValueError:
        raise NotOfForm("there is no IPv6 address in the brackets of its host") from None
    zone = f"%25{found[2]}" if found[2] else ""
    return f"[{_shortest(int(address))}{zone}]"


def _shortest(address: int) -> str:
    """RFC 5952, always in hexadecimal: Python's own form changed with 3.13 for IPv4-mapped addresses."""
    groups = [f"{address >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    runs = [
        (length, -start)
        for start in range(8)
        for length in range(2, 9 - start)
        if _zeros(groups, start, length)
    ]
    if not runs:
        return ":".join(groups)
    length, start = max(runs)
    return f"{':'.join(groups[:-start])}::{':'.join(groups[-start + length :])}"


def _zeros(groups: list[str], start: int, length: int) -> bool:
    return all(group == "0" for group in groups[start : start + length])
