"""Audit events as sentences: who did what to what, for pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from namespaces.models import Action, AuditEvent, Outcome

_VERBS: dict[str, str] = {
    Action.NAMESPACE_CREATED: "created namespace",
    Action.NAMESPACE_UPDATED: "changed namespace",
    Action.OPERATION_CANCELLED: "cancelled operation",
    Action.OPERATION_FAILED: "saw the failure of operation",
    Action.DATASET_CREATED: "registered dataset",
    Action.DATASET_UPDATED: "changed dataset",
    Action.DATASET_DELETED: "deleted dataset",
    Action.DATASET_FILES_REMOVED: "removed the files of",
    Action.TABLE_CREATED: "created table",
    Action.TABLE_COMMITTED: "committed to",
    Action.PIPELINE_VERSION_CREATED: "deployed pipeline",
    Action.RUN_STARTED: "started run",
    Action.RUN_CANCELLED: "cancelled run",
    Action.RUN_LOST: "lost sight of run",
    Action.RUN_FINISHED: "saw the end of run",
}
_ACCESSES = {"read": "read", "write": "wrote", "read_write": "read and wrote", "unknown": "used"}
_INFINITIVES = {"read": "read", "write": "write", "read_write": "read and write", "unknown": "use"}
_URL_NAMES = {"dataset": "dataset", "pipeline": "pipeline"}


@dataclass(frozen=True)
class Sentence:
    """The parts of a sentence; `url` is where its object is, if it has a page, `program_url` the run's."""

    subject: str
    program: str
    program_url: str
    verb: str
    object: str
    url: str
    place: str
    details: list[tuple[str, str]]


def describe(event: AuditEvent) -> Sentence:
    """The sentence of an event. It links to pages by name, whether the thing still exists or not."""
    return Sentence(
        subject=event.actor,
        program=f"run {event.run} of {event.pipeline}" if event.pipeline and event.run else "",
        program_url=_run_url(event.pipeline, event.run),
        verb=_verb(event),
        object=_object(event),
        url=_url(event),
        place=f"in task {event.task}" if event.task else "",
        details=[
            (_word(key), _text(value)) for key, value in event.detail.items() if value not in ("", None, [])
        ],
    )


def _verb(event: AuditEvent) -> str:
    if event.access:
        if event.outcome == Outcome.DENIED:
            return f"was not allowed to {_INFINITIVES.get(event.access, 'use')}"
        return _ACCESSES.get(event.access, "used")
    if event.action == Action.GRANT_ADDED:
        return f"granted {event.detail.get('level', 'a level')} {_grant_place(event)} to"
    if event.action == Action.GRANT_REMOVED:
        return f"took {event.detail.get('level', 'a level')} {_grant_place(event)} from"
    return _VERBS.get(event.action, event.action.replace(":", " "))


def _grant_place(event: AuditEvent) -> str:
    dataset = event.detail.get("dataset")
    return f"on {event.namespace}/{dataset}" if dataset else f"on {event.namespace}"


def _object(event: AuditEvent) -> str:
    if event.target_kind in ("dataset", "pipeline", "run"):
        return f"{event.namespace}/{event.target}"
    return event.target


def _url(event: AuditEvent) -> str:
    if event.target_kind in _URL_NAMES and event.action != Action.DATASET_DELETED:
        return reverse(f"admin:{_URL_NAMES[event.target_kind]}", args=[event.namespace, event.target])
    if event.target_kind == "run":
        pipeline, _, number = event.target.rpartition("/")
        return _run_url(f"{event.namespace}/{pipeline}", int(number)) if number.isdecimal() else ""
    if event.target_kind == "namespace":
        return reverse("admin:namespace", args=[event.target])
    if event.target_kind == "operation" and event.target.isdecimal():
        return reverse("admin:operation", args=[event.target])
    return ""


def _run_url(pipeline: str, number: int | None) -> str:
    namespace, _, name = pipeline.partition("/")
    return reverse("admin:run", args=[namespace, name, number]) if name and number else ""


def _word(key: str) -> str:
    return key.replace("_", " ")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_word(str(key))} {_text(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    # Ids of snapshots are numbers without magnitude: only counts get separators.
    return f"{value:,}" if isinstance(value, int) and value < 10**15 else str(value)
