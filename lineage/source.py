"""The source of a version, line by line, for pages."""

from __future__ import annotations

from dataclasses import dataclass

from lineage.models import PipelineVersion


@dataclass(frozen=True)
class SourceLine:
    """One line; `anchor` is set where a task begins."""

    text: str
    anchor: str
    is_comment: bool


def numbered_source(version: PipelineVersion) -> list[SourceLine]:
    """The lines of the file, with an anchor for each task."""
    anchors = {line: f"task-{task}" for task, line in version.lines.items()}
    return [
        SourceLine(text, anchors.get(number, ""), text.lstrip().startswith("#"))
        for number, text in enumerate(version.source.splitlines(), 1)
    ]
