"""All patterns that match a URI, found without trying each.

One tree for each scheme: below it the pieces of the authority, then the parts of the path. A look-up
goes down part by part and holds every node that can be reached by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from operator import attrgetter
from typing import TypeVar

from tenure.uri.model import DatasetURI
from tenure.uri.patterns import Piece, URIPattern, Wild, uri_pieces
from tenure.uri.registry import SCHEMES

Key = TypeVar("Key", bound=Hashable)

_Group = tuple[str, str, str]


class URIPatternIndex:
    """A set of patterns, in the order in which they came, that knows which of them match a URI.

    What a look-up costs depends on how many patterns begin as the URI does, not on how many there are.
    """

    def __init__(self, patterns: Iterable[URIPattern] = ()) -> None:
        self._patterns: dict[URIPattern, None] = {}
        self._roots: dict[str, _Node] = {}
        for pattern in patterns:
            self.add(pattern)

    def add(self, pattern: URIPattern) -> None:
        """Put a pattern into the set, if it is not there."""
        if pattern in self._patterns:
            return
        self._patterns[pattern] = None
        node = self._roots.setdefault(pattern.scheme, _Node())
        for piece in pattern.steps():
            node = node.child(piece) or node.grow(piece)
        node.patterns[pattern] = None

    def discard(self, pattern: URIPattern) -> None:
        """Take a pattern out of the set, if it is there."""
        if pattern not in self._patterns:
            return
        del self._patterns[pattern]
        root = self._roots[pattern.scheme]
        _remove(root, pattern)
        if root.is_empty:
            del self._roots[pattern.scheme]

    def matching(self, uri: str | DatasetURI) -> list[URIPattern]:
        """The patterns that match, sorted by their texts; none for a literal.

        Raises `InvalidURI` for a text that `tenure.uri.parse` refuses.
        """
        parsed = SCHEMES.parse(uri)
        root = self._roots.get(parsed.scheme)
        if root is None:
            return []
        nodes = {root}
        for text in uri_pieces(parsed):
            nodes = _step(nodes, text)
        return sorted((pattern for node in nodes for pattern in node.patterns), key=attrgetter("text"))

    def __len__(self) -> int:
        return len(self._patterns)

    def __contains__(self, pattern: object) -> bool:
        return pattern in self._patterns

    def __iter__(self) -> Iterator[URIPattern]:
        return iter(self._patterns)


class _Node:
    """What may follow the pieces that lead here, and the patterns that end here."""

    __slots__ = ("deep", "exact", "patterns", "repeats", "wild")

    def __init__(self, repeats: bool = False) -> None:
        self.exact: dict[str, _Node] = {}
        self.wild: _WildChildren | None = None
        self.deep: _Node | None = None
        self.repeats = repeats
        self.patterns: dict[URIPattern, None] = {}

    def child(self, piece: Piece | None) -> _Node | None:
        """The node that follows by this piece of a pattern, None standing for `**`."""
        if piece is None:
            return self.deep
        if isinstance(piece, str):
            return self.exact.get(piece)
        return self.wild.get(piece) if self.wild else None

    def grow(self, piece: Piece | None) -> _Node:
        """Make that node."""
        node = _Node(repeats=piece is None)
        if piece is None:
            self.deep = node
        elif isinstance(piece, str):
            self.exact[piece] = node
        else:
            self.wild = self.wild or _WildChildren()
            self.wild.add(piece, node)
        return node

    def prune(self, piece: Piece | None) -> None:
        """Drop that node."""
        if piece is None:
            self.deep = None
        elif isinstance(piece, str):
            del self.exact[piece]
        elif self.wild:
            self.wild.discard(piece)
            self.wild = self.wild if self.wild.groups else None

    @property
    def is_empty(self) -> bool:
        """Whether no pattern ends here or below."""
        return not (self.patterns or self.exact or self.wild or self.deep)


class _WildChildren:
    """The children by pieces with wildcards, grouped by three texts: how they begin, hold, and end.

    A look-up cuts the groups' names out of the text that it has, in each of the sizes that occur. How
    pieces begin goes first: sizes of the rest only count where a piece begins like the text.
    """

    __slots__ = ("groups", "heads", "sizes")

    def __init__(self) -> None:
        self.groups: dict[_Group, dict[Wild, _Node]] = {}
        self.heads: Counter[str] = Counter()
        self.sizes: dict[int, Counter[tuple[int, int]]] = {}

    def get(self, piece: Wild) -> _Node | None:
        """The child by this piece."""
        return self.groups.get(_group(piece), {}).get(piece)

    def add(self, piece: Wild, node: _Node) -> None:
        """Add a child."""
        head, core, tail = group = _group(piece)
        self.groups.setdefault(group, {})[piece] = node
        self.heads[head] += 1
        self.sizes.setdefault(len(head), Counter())[len(core), len(tail)] += 1

    def discard(self, piece: Wild) -> None:
        """Drop the child by this piece."""
        head, core, tail = group = _group(piece)
        del self.groups[group][piece]
        if not self.groups[group]:
            del self.groups[group]
        _decrease(self.heads, head)
        _decrease(self.sizes[len(head)], (len(core), len(tail)))
        if not self.sizes[len(head)]:
            del self.sizes[len(head)]

    def reached(self, text: str) -> Iterator[_Node]:
        """The children by pieces that match a text."""
        for group in self._candidates(text):
            for piece, node in self.groups.get(group, {}).items():
                if piece.matches(text):
                    yield node

    def _candidates(self, text: str) -> Iterator[_Group]:
        for head, rest in self.sizes.items():
            if text[:head] in self.heads:
                for core, tail in rest:
                    yield from _groups(text, head, core, tail)


def _group(piece: Wild) -> _Group:
    return piece.tokens[0], piece.core, piece.tokens[-1]


def _groups(text: str, head: int, core: int, tail: int) -> Iterable[_Group]:
    """The groups with names of these sizes whose pieces could match a text."""
    end = len(text) - tail
    if head + core > end:
        return ()
    if not core:
        return ((text[:head], "", text[end:]),)
    return {(text[:head], text[at : at + core], text[end:]) for at in range(head, end - core + 1)}


def _decrease(counts: Counter[Key], key: Key) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def _step(nodes: set[_Node], text: str) -> set[_Node]:
    """The nodes that are reached from these by one more part."""
    reached = {node for node in nodes if node.repeats}
    for node in nodes:
        exact = node.exact.get(text)
        if exact:
            reached.add(exact)
        if node.wild:
            reached.update(node.wild.reached(text))
    # A `**` may stand for no part at all.
    reached.update([node.deep for node in reached if node.deep])
    return reached


def _remove(root: _Node, pattern: URIPattern) -> None:
    """Take a pattern out of a tree, with all nodes that then lead to none."""
    trail: list[tuple[_Node, Piece | None]] = []
    node = root
    for piece in pattern.steps():
        trail.append((node, piece))
        child = node.child(piece)
        assert child is not None
        node = child
    del node.patterns[pattern]
    for parent, piece in reversed(trail):
        if not node.is_empty:
            return
        parent.prune(piece)
        node = parent
