"""What needs attention: failed and lost runs, refusals, failed operations, processes in trouble."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone

from console import health
from lineage.models import Run
from lineage.queries import troubled_runs
from namespaces.models import AuditEvent, Operation, OperationState
from namespaces.principals import Principal
from namespaces.queries import denials

HOURS = 24
MOST = 8


@dataclass(frozen=True)
class Item:
    """One line of "Needs attention": a state, a sentence around one link, where, when and what to open."""

    state: str
    subject: str
    url: str
    text: str
    namespace: str
    at: datetime.datetime | None
    action: str


def items(principal: Principal) -> list[Item]:
    """Everything of the last 24 hours, worst first. Three queries and the supervisor's record."""
    since = timezone.now() - datetime.timedelta(hours=HOURS)
    failed = Operation.objects.visible_to(principal).filter(
        state=OperationState.FAILED, finished_at__gte=since
    )
    refused = denials(AuditEvent.objects.visible_to(principal), since)
    return [
        *map(_process, health.troubled_processes() if principal.sees_everything else ()),
        *map(_run, troubled_runs(principal, since)[:MOST]),
        *map(_operation, failed.defer("input", "result")[:MOST]),
        *(_denied(*row) for row in refused[:MOST]),
    ]


def _process(process: health.Health) -> Item:
    return Item(
        process.state, process.name, reverse("admin:processes"), process.note, "", process.since, "Processes"
    )


def _run(run: Run) -> Item:
    namespace, name = run.pipeline.namespace.name, run.pipeline.name
    state = "failed" if run.ended else "retrying"
    verb = "failed" if run.ended else "is tried again"
    reason = first_line(run.error)
    return Item(
        state,
        f"{name} {run.number}",
        reverse("admin:run", args=[namespace, name, run.number]),
        f"{verb}: {reason}" if reason else verb,
        namespace,
        run.finished_at or run.woken_at,
        "Open run",
    )


def _operation(operation: Operation) -> Item:
    kind = operation.kind.replace("_", " ")
    reason = str(operation.error.get("detail", ""))
    text = f"failed: {first_line(reason)}" if reason else "failed"
    url = reverse("admin:operation", args=[operation.pk])
    return Item(
        "failed",
        f"{kind} {operation.target}",
        url,
        text,
        operation.namespace,
        operation.finished_at,
        "See reason",
    )


def _denied(actor: str, namespace: str, target: str, access: str, times: int, at: datetime.datetime) -> Item:
    what = {"read": "read", "write": "write to", "read_write": "read and write"}.get(access, "use")
    often = "" if times == 1 else f", {times:,} times"
    url = reverse("admin:dataset", args=[namespace, target])
    return Item(
        "denied",
        target,
        url,
        f"was refused to {actor}, who wanted to {what} it{often}",
        namespace,
        at,
        "Open dataset",
    )


def first_line(text: str, limit: int = 160) -> str:
    """The line of an error that says most: the last of a traceback, the first of anything else."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return ""
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return line if len(line) <= limit else line[: limit - 1] + "…"
