"""Where the nodes of a graph stand and how its edges run: positions by fast-sugiyama, left to right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import fast_sugiyama

NODE_WIDTH, NODE_HEIGHT = 160.0, 40.0
COLUMN_GAP, ROW_GAP, MARGIN = 36.0, 20.0, 16.0
SPACING = 72.0

Point = tuple[float, float]
Edge = tuple[str, str]


@dataclass
class Picture:
    """A drawn graph: the size, the top left corner of each node, and the paths of the edges."""

    width: float
    height: float
    places: dict[str, Point] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)


def lay_out(nodes: Sequence[str], edges: Iterable[Edge]) -> Picture:
    """Place the nodes in columns by what feeds what; parts without a connection stand below one another."""
    known = set(nodes)
    kept = sorted({(a, b) for a, b in edges if a in known and b in known and a != b})
    picture = Picture(width=0.0, height=MARGIN)
    linked = [name for name in nodes if any(name in edge for edge in kept)]
    for layout in _layouts(linked, kept):
        _add_part(picture, linked, layout)
    _add_alone(picture, [name for name in nodes if name not in picture.places])
    picture.height += MARGIN - ROW_GAP
    return picture


def _layouts(linked: list[str], edges: list[Edge]) -> list[tuple[dict[int, Point], list[tuple[int, int]]]]:
    """Positions and routed edges of each connected part. Numbers, since names would be laid out differently
    in each process; numbers past the last node are bends of edges that span several columns."""
    if not edges:
        return []
    number = {name: index for index, name in enumerate(linked)}
    layouts = fast_sugiyama.from_edges(
        [(number[a], number[b]) for a, b in edges], vertex_spacing=SPACING, dummy_vertices=True
    )
    # The library's types allow names as well; here all are numbers.
    parts: list[Any] = [(dict(positions), list(routed or ())) for positions, _, _, routed in layouts]
    return sorted(parts, key=lambda part: (-len(part[0]), min(part[0])))


def _add_part(
    picture: Picture, linked: list[str], layout: tuple[dict[int, Point], list[tuple[int, int]]]
) -> None:
    positions, routed = layout
    first = max(y for _, y in positions.values())
    leftmost = min(x for x, _ in positions.values())
    corners = {
        node: (
            MARGIN + (first - y) / SPACING * (NODE_WIDTH + COLUMN_GAP),
            picture.height + (x - leftmost) / SPACING * (NODE_HEIGHT + ROW_GAP),
        )
        for node, (x, y) in positions.items()
    }
    picture.places |= {linked[node]: corner for node, corner in corners.items() if node < len(linked)}
    picture.paths += [_path([corners[node] for node in route]) for route in _routes(routed, len(linked))]
    picture.width = max(picture.width, *(x + NODE_WIDTH + MARGIN for x, _ in corners.values()))
    picture.height = max(y for _, y in corners.values()) + NODE_HEIGHT + ROW_GAP


def _routes(routed: list[tuple[int, int]], real: int) -> list[list[int]]:
    """Each edge as the nodes and bends that it passes."""
    after_bend = {a: b for a, b in routed if a >= real}
    routes = []
    for start, node in routed:
        if start >= real:
            continue
        route = [start, node]
        while route[-1] >= real and route[-1] in after_bend and len(route) <= len(routed) + 2:
            route.append(after_bend[route[-1]])
        routes.append(route)
    return routes


def _add_alone(picture: Picture, names: list[str]) -> None:
    """Nodes without edges, in rows of four."""
    for index, name in enumerate(names):
        x = MARGIN + index % 4 * (NODE_WIDTH + COLUMN_GAP)
        y = picture.height + index // 4 * (NODE_HEIGHT + ROW_GAP)
        picture.places[name] = (x, y)
        picture.width = max(picture.width, x + NODE_WIDTH + MARGIN)
    rows = -(-len(names) // 4)
    picture.height += rows * (NODE_HEIGHT + ROW_GAP)


def _path(corners: list[Point]) -> str:
    """A curve from the right side of the first node to the left side of the last, straight through bends."""
    half = NODE_HEIGHT / 2
    x, y = corners[0][0] + NODE_WIDTH, corners[0][1] + half
    path = [f"M{x:.1f} {y:.1f}"]
    for position, (left, top) in enumerate(corners[1:], 2):
        to_x, to_y = left, top + half
        # An edge that runs back leaves to the right all the same, and comes from the left.
        pull = max((to_x - x) / 2, 24.0)
        path.append(f"C{x + pull:.1f} {y:.1f} {to_x - pull:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
        if position < len(corners):
            x += NODE_WIDTH
            path.append(f"H{x:.1f}")
    return "".join(path)
