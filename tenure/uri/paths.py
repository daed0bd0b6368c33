"""What a scheme's path is: a tree of any depth, a fixed number of names, or one after the other."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tenure.errors import InvalidURI
from tenure.uri.authorities import Fields
from tenure.uri.escapes import hide, reveal
from tenure.uri.text import PLAIN, NotOfForm, canonical_path, encode

# What may have to do with a password is looked at more closely than by an expression.
_PLAINEST = f"[{re.escape(''.join(sorted(PLAIN - set('@;&'))))}]"


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

    def __post_init__(self) -> None:
        re.compile(self.pattern)  # A pattern that is none shows where it is written.

    def canonical(self, path: str) -> str:
        """The canonical path; raises `NotOfForm` with the reason."""
        path = canonical_path(path)
        if self.names and (path.count("/") != len(self.names) or self.tree or self.pattern or "//" in path):
            self._check(path)
        return path

    def _check(self, path: str) -> None:
        depth, least = path.count("/"), len(self.names) + bool(self.tree)
        if depth < least or (depth > least and not self.tree):
            raise NotOfForm(f"its path is not of the form {self.form}")
        names = path.rsplit("/", len(self.names))[1:]
        if "" in names:
            raise NotOfForm("a name in its path is empty")
        if self.pattern and not all(re.fullmatch(self.pattern, name) for name in names):
            raise NotOfForm(f"a name in its path does not match {self.pattern}")

    @property
    def form(self) -> str:
        """The path's form for people, as in `/{database}/{table}`."""
        return "".join(f"/{{{name}}}" for name in ((self.tree,) if self.tree else ()) + self.names)

    def fields(self, parts: tuple[str, ...]) -> dict[str, str]:
        """What the decoded parts of a canonical path denote."""
        below = len(parts) - len(self.names)
        named = dict(zip(self.names, parts[below:], strict=True))
        if not self.tree:
            return named
        text = "/".join(hide(part, "/") for part in parts[:below])
        return {self.tree: f"/{text}" if self.rooted else text, **named}

    def write(self, fields: Fields) -> str:
        """The path of what `fields` denotes, each part percent-encoded.

        Raises `InvalidURI` for a path that is not absolute.
        """
        parts = [fields[name] for name in self.names]
        if self.tree:
            parts = [reveal(part, "/") for part in self._tree(fields[self.tree]).split("/")] + parts
        return "".join(f"/{encode(part)}" for part in parts)

    def _tree(self, text: str) -> str:
        if self.rooted and not text.startswith("/"):
            raise InvalidURI(f"This {self.tree} is not absolute: it does not begin with a slash.")
        text = text[1:] if self.rooted else text
        return text if self.names else text.rstrip("/")

    def plain(self) -> str:
        """For speed: a pattern of one group, for canonical paths alone; empty where there is none."""
        if self.pattern:
            return ""
        part = f"/{_PLAINEST}++"
        names = part * len(self.names)
        return f"((?:{part}){'+' if names else '++'}{names})" if self.tree else f"({names})"
