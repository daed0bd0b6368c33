"""Where auth information hides in a URI, and how to show a URI without it."""

from __future__ import annotations

import re
from urllib.parse import unquote

MASK = "***"

# fmt: off
SECRET_KEYS = frozenset((
    "access_key", "access_token", "accesskey", "account_key", "accountkey", "api_key", "apikey", "auth",
    "auth_token", "authorization", "aws_access_key_id", "aws_secret_access_key", "aws_session_token",
    "awsaccesskeyid", "client_secret", "passphrase", "passwd", "password", "private_key", "pwd",
    "refresh_token", "sas_token", "secret", "secret_key", "secretkey", "session_token", "sig",
    "signature", "sslpassword", "token", "x_amz_credential", "x_amz_security_token", "x_amz_signature",
    "x_goog_credential", "x_goog_signature",
))
# fmt: on
"""Names of query parameters whose values are auth information in some store's URLs.

In lower case, and with underscores for hyphens: `X-Amz-Signature` is `x_amz_signature`.
"""

_START = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)*//").match
_ADDRESS = re.compile(r"(?:^|(?<=@))\[[^\]@]*\]")
_ITEM = re.compile(r"(?:^|(?<=[?&;#\s]))([^?&;#=\s]+)=([^&;#\s]+)")
_ORACLE_THIN = re.compile(r"jdbc:oracle:\w+:([^/@]+/.+)@", re.IGNORECASE | re.DOTALL)


def is_secret_key(key: str) -> bool:
    """Whether a query parameter of this name carries auth information."""
    key = unquote(key) if "%" in key else key
    return key.lower().replace("-", "_") in SECRET_KEYS


def seems_to_carry_password(text: str) -> bool:
    """Whether a text, of whatever form, looks as if it held a password.

    It rather says yes too often: a `:` in what stands where the authority would be and an `@`
    anywhere after it are enough, since a password may hold `/`, `?` and `#`.
    """
    user = _userinfo(text)
    if user and re.search(r":.|/.", text[user[0] : user[1]], re.DOTALL):
        return True
    return any(is_secret_key(item[1]) for item in _ITEM.finditer(text))


def masked(text: str) -> str:
    """A text of whatever form with auth information replaced by `***`: user, password, secret parameters."""
    user = _userinfo(text)
    return masked_parameters(f"{text[: user[0]]}{MASK}{text[user[1] :]}" if user else text)


def masked_parameters(text: str) -> str:
    """The text with the values of its secret parameters replaced by `***`."""
    return _ITEM.sub(_masked_item, text)


def _masked_item(item: re.Match[str]) -> str:
    return f"{item[1]}={MASK}" if is_secret_key(item[1]) else item[0]


def _userinfo(text: str) -> tuple[int, int] | None:
    """Where user and password stand, or seem to stand."""
    thin = _ORACLE_THIN.match(text)
    if thin:
        return thin.span(1)
    started = _START(text)
    if started is None:
        return None
    start = started.end()
    end = min((at for at in map(text.find, "/?#", (start,) * 3) if at >= 0), default=len(text))
    at = text.rfind("@", start, len(text) if has_colon(text[start:end]) else end)
    return None if at < 0 else (start, at)


def has_colon(authority: str) -> bool:
    """Whether a `:` stands in an authority, other than in an IPv6 address: a password or a port may follow.

    If an `@` comes after such an authority, it may be the end of the password, which can hold / ? and #.
    """
    return ":" in authority and ":" in _ADDRESS.sub("", authority)
