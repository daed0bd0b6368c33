"""What parsing a text gives: a `DatasetURI`, equal for every spelling of one resource."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from tenure.errors import InvalidURI
from tenure.uri.secrets import masked, seems_to_carry_password


class Naming(Protocol):
    """What gives a URI its OpenLineage name; a scheme has one."""

    def to_openlineage(self, uri: DatasetURI) -> tuple[str, str]: ...


@dataclass(frozen=True, slots=True)
class DatasetURI:
    """One resource. Two are equal, and hash alike, when their canonical texts are equal.

    A literal, a text without a meaning that Tenure knows, has its text alone, byte for byte, and
    `reason` says why it is one. `parts` is the decoded path; `named` holds what `denotes` says.
    `typed` is the text as it came, with `***` for auth information.
    """

    canonical: str
    scheme: str = field(default="", compare=False)
    authority: str = field(default="", compare=False)
    parts: tuple[str, ...] = field(default=(), compare=False)
    query: str = field(default="", compare=False)
    named: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    reason: str = field(default="", compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    typed: str = field(default="", compare=False)
    naming: Naming | None = field(default=None, compare=False)

    @property
    def denotes(self) -> dict[str, str]:
        """What the URI names, in its store's terms: `bucket` and `key`, or `host`, `port`, `database`, …"""
        return dict(self.named)

    @property
    def is_literal(self) -> bool:
        """Whether the text means nothing but itself."""
        return self.naming is None

    @property
    def carries_password(self) -> bool:
        """Whether this is a literal that seems to hold a password, which would be kept byte for byte."""
        return self.is_literal and seems_to_carry_password(self.canonical)

    @property
    def openlineage(self) -> tuple[str, str]:
        """OpenLineage's namespace and name of the resource; raises `InvalidURI` for a literal."""
        if self.naming is None:
            raise InvalidURI(f"A literal has no OpenLineage name; this is one because {self.reason}.")
        return self.naming.to_openlineage(self)

    def __str__(self) -> str:
        return self.canonical

    def __repr__(self) -> str:
        # A literal is kept as typed, and may hold a password: what is printed must not.
        return (
            f"<DatasetURI literal {masked(self.canonical)!r}>"
            if self.is_literal
            else f"<DatasetURI {self.canonical!r}>"
        )
