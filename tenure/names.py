"""The rule for names: namespaces, datasets, pipelines and tasks are identifiers that fit in URLs."""

from __future__ import annotations

import re

from tenure.errors import InvalidInput

NAME_PATTERN = r"[a-z][a-z0-9_]{0,62}"
NAME_RULE = "a name starts with a small letter and has up to 63 small letters, digits and underscores"
_NAME = re.compile(NAME_PATTERN)


def check_name(kind: str, name: object) -> str:
    """Return `name`, or raise `InvalidInput` with the rule. `kind` is what is being named."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} cannot name a {kind}: {NAME_RULE}.")
    return name
