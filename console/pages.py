"""Pages that know every app: home, and the health of the house."""

from __future__ import annotations

import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.http import require_GET

from console import attention, health, words
from lineage.models import Pipeline
from lineage.pictures import pipeline_rows
from lineage.queries import run_totals
from namespaces.faces import principal
from namespaces.models import AuditEvent
from namespaces.queries import access_totals
from registry.models import Dataset
from registry.queries import stored

PIPELINES = 12


def page_urlpatterns() -> list[URLPattern]:
    """The pages of the console itself; made anew on each call, since the admin site wraps them."""
    return [path("health/processes", processes, name="processes")]


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """What needs attention, today in numbers, and the pipelines."""
    who, today = principal(request), _midnight()
    items = attention.items(who)
    totals = stored(Dataset.objects.visible_to(who))
    pipelines = pipeline_rows(Pipeline.objects.visible_to(who).with_facts()[:PIPELINES])
    context = {
        "live": True,
        "items": items,
        "lead": _lead(len(items)),
        "greeting": _greeting(),
        "runs": run_totals(who, today),
        "accesses": access_totals(AuditEvent.objects.visible_to(who), today),
        "stored": totals,
        "pipelines": pipelines,
    }
    empty = not pipelines and not totals["datasets"]
    return render(request, "empty_home.html" if empty else "home.html", context)


@require_GET
def processes(request: HttpRequest) -> HttpResponse:
    """The house: a panel for home, or a page of its own."""
    template = "parts/house.html" if request.htmx else "processes.html"  # type: ignore[attr-defined]
    return render(request, template, {"processes": health.check_processes(), "live": True})


def _midnight() -> datetime.datetime:
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)


def _greeting() -> str:
    hour = timezone.now().hour
    return "Good morning" if 4 <= hour < 12 else "Good afternoon" if 12 <= hour < 18 else "Good evening"


def _lead(number: int) -> str:
    if not number:
        return "Nothing needs you: everything is as it should be."
    verb = "thing needs" if number == 1 else "things need"
    return f"{words.spelled(number)} {verb} you; everything else is as it should be."
