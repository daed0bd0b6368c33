"""Where auth information hides in a URI, or in a text that is none, and how to show either without it."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

MASK = "***"

_SECRET = frozenset(("pass", "pw", "auth", "sig", "authorization", "credential", "credentials"))
_SECRET_ENDINGS = (
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "signature",
    "apikey",
    "accesskey",
    "accountkey",
    "privatekey",
    "secretkey",
    "amzcredential",
    "googcredential",
    "accesskeyid",
)
"""How names of parameters end, in some store's URLs, whose values are auth information.

In lower case and without hyphens and underscores: `X-Amz-Signature`, `clientSecret`, `SharedAccessKey`.
"""

_START = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)*//").match
_ADDRESS = re.compile(r"(?:^|(?<=@))\[[^\]@]*\]")
_ANY_ADDRESS = re.compile(r"\[[0-9A-Fa-f:.]*(?:%[^\]@]*)?\]")
# `name:password@`, wherever it begins. What follows `scheme:` in `scheme://` is no password.
_LOOSE = re.compile(r"(?:^|(?<=[\s:/'\"]))[^\s:/@'\"]+:(?!//).*@", re.DOTALL).search
# Oracle's `name/password@host:port`, in its JDBC also without the port.
_ORACLE = re.compile(
    r"jdbc:oracle:\w+:([^\s:/@]+/.+)@|([^\s:/@]+/.+)@(?://)?[^\s/@]+:[0-9]", re.DOTALL | re.IGNORECASE
).match
# An address, a path of Windows, and Oracle's JDBC without a user.
_NO_USER = re.compile(r"mailto:|[A-Za-z]:[\\/]|jdbc:oracle:\w+:@", re.IGNORECASE).match
_KEY = re.compile(r"(?:^|(?<=[?&;#\s]))([^?&;#=\s/]+)=(?=[^&;#\s])")
_ITEM = re.compile(rf"{_KEY.pattern}([^&;#\s]+)")


@lru_cache(maxsize=1024)  # Of names there are few.
def is_secret_key(key: str) -> bool:
    """Whether a parameter of this name carries auth information."""
    key = unquote(key) if "%" in key else key
    key = key.strip().lower().replace("-", "").replace("_", "")
    return key in _SECRET or key.endswith(_SECRET_ENDINGS)


def has_secret_parameter(text: str) -> bool:
    """Whether a text holds `name=value`, between any of ? & ; # and white space, that is auth information."""
    return "=" in text and any(is_secret_key(found[1]) for found in _KEY.finditer(text))


def seems_to_carry_password(text: str) -> bool:
    """Whether a text, of whatever form, looks as if it held a password.

    It rather says yes too often: something like `name:password@`, anywhere, is enough, since a
    password may hold `/`, `?`, `#` and `@`.
    """
    user = _user(text)
    if user and re.search(r"[:/].", text[user[0] : user[1]], re.DOTALL):
        return True
    return has_secret_parameter(text) or ("%" in text and has_secret_parameter(unquote(text)))


def masked(text: str) -> str:
    """A text of whatever form with auth information replaced by `***`: user, password, secret parameters."""
    user = _user(text)
    text = f"{text[: user[0]]}{MASK}{text[user[1] :]}" if user else text
    text = _ITEM.sub(lambda item: f"{item[1]}={MASK}" if is_secret_key(item[1]) else item[0], text)
    # Where one is hidden by percent-encoding, or cut short by a separator, nothing less than all is safe.
    return MASK if seems_to_carry_password(text.replace(MASK, "")) else text


def masked_query(query: str) -> str:
    """A query with the values of its secret parameters, up to the next `&`, replaced by `***`."""
    return "&".join(_masked_item(item) for item in query.split("&"))


def _masked_item(item: str) -> str:
    key, _, value = item.partition("=")
    return f"{key}={MASK}" if value and is_secret_key(key) else item


def has_colon(authority: str) -> bool:
    """Whether a `:` stands in an authority, other than in an IPv6 address: a password or a port may follow.

    If an `@` comes after such an authority, it may be the end of the password, which can hold / ? and #.
    """
    return ":" in authority and ":" in _ADDRESS.sub("", authority)


def _user(text: str) -> tuple[int, int] | None:
    """Where user and password stand, or seem to stand."""
    last = text.rfind("@")
    if last < 0:
        return None
    oracle = _ORACLE(text)
    if oracle:
        return oracle.span(oracle.lastindex or 0)
    # Addresses are blanked, so that positions stay; and no attempt looks for an @ in vain.
    loose = _LOOSE(_ANY_ADDRESS.sub(lambda found: "x" * len(found[0]), text[: last + 1]))
    if loose and not _NO_USER(text):
        return loose.start(), last
    started = _START(text)
    return _user_of_authority(text, started.end()) if started else None


def _user_of_authority(text: str, start: int) -> tuple[int, int] | None:
    end = min((at for at in map(text.find, "/?#", (start,) * 3) if at >= 0), default=len(text))
    at = text.rfind("@", start, len(text) if has_colon(text[start:end]) else end)
    return None if at < 0 else (start, at)
