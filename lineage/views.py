"""Pages of `lineage`: pipelines and runs, and the panels that show a dataset's lineage and accesses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from lineage.filters import RunFilter
from lineage.live import live_context
from lineage.models import Pipeline, Run, RunState, TaskRun
from lineage.pictures import lineage_drawing, pipeline_rows, version_drawing
from lineage.services.graph import lineage_of
from lineage.services.pipelines import get_pipeline
from lineage.services.runs import cancel_run, get_run, start_run
from lineage.source import numbered_source
from namespaces.faces import hide_programs, principal
from namespaces.models import AuditEvent, Level, Namespace
from namespaces.paging import page_of
from namespaces.services.grants import levels_held
from registry.services.datasets import get_dataset

LEVELS = 2
RUN_TABS = ("graph", "code", "datasets", "attempts")
PIPELINE_TABS = ("graph", "runs", "code", "versions")


@require_GET
def dataset_lineage(request: HttpRequest, namespace: str, dataset: str) -> HttpResponse:
    """The lineage of a dataset: a panel of its page, or a page of its own."""
    who = principal(request)
    found = get_dataset(who, namespace, dataset)
    graph = lineage_of(who, found, LEVELS)
    labels = {node.id: node for node in graph.nodes}
    context = {
        "dataset": found,
        "graph": graph,
        "drawing": lineage_drawing(graph) if graph.edges else None,
        "edges": [(labels[a], labels[b]) for a, b in graph.edges],
    }
    return render(request, _panel(request, "lineage"), context)


@require_GET
def dataset_accesses(request: HttpRequest, namespace: str, dataset: str) -> HttpResponse:
    """Who read and wrote a dataset: a panel of its page, or a page of its own."""
    who = principal(request)
    found = get_dataset(who, namespace, dataset)
    events = AuditEvent.objects.of_dataset(namespace, dataset, found.created_at).accesses()
    brief = "brief" in request.GET
    page = page_of(events, request, size=10 if brief else 50)
    hide_programs(who, found.namespace, page.rows)
    context = {"dataset": found, "brief": brief, "page": page}
    return render(request, _panel(request, "accesses"), context)


def _panel(request: HttpRequest, name: str) -> str:
    is_panel = request.htmx  # type: ignore[attr-defined]  # set by django_htmx's middleware
    return f"lineage/_{name}.html" if is_panel else f"lineage/{name}.html"


@require_GET
def pipelines(request: HttpRequest) -> HttpResponse:
    """Pipelines by name, with their last runs."""
    who = principal(request)
    visible = Pipeline.objects.visible_to(who).with_facts()
    if namespace := request.GET.get("namespace", ""):
        visible = visible.filter(namespace__name=namespace)
    page = page_of(visible, request, ("namespace__name", "name"))
    context = {
        "page": page,
        "rows": pipeline_rows(page.rows),
        "chosen": request.GET,
        "namespaces": Namespace.objects.visible_to(who).values_list("name", flat=True)[:200],
    }
    return render(request, "lineage/pipelines.html", context)


@require_GET
def pipeline(request: HttpRequest, namespace: str, pipeline: str) -> HttpResponse:
    """One pipeline: its graph, its runs, its source and its versions."""
    who = principal(request)
    found = get_pipeline(who, namespace, pipeline)
    tab = request.GET.get("tab", "")
    tab = tab if tab in PIPELINE_TABS else "graph"
    context = {
        "pipeline": found,
        "version": found.current_version,
        "tab": tab,
        "may_write": Level.WRITE in levels_held(who, found.namespace),
        **_pipeline_tab(request, found, tab),
    }
    return render(request, f"lineage/pipeline_{tab}.html", context)


def _pipeline_tab(request: HttpRequest, pipeline: Pipeline, tab: str) -> dict[str, Any]:
    version = pipeline.current_version
    if tab == "versions":
        return {"page": page_of(pipeline.versions.defer("source", "graph"), request)}
    if tab == "code":
        return {"source": numbered_source(version) if version else []}
    runs = Run.objects.filter(pipeline=pipeline).with_facts()
    shown: dict[str, Any] = {"page": page_of(runs, request, size=50 if tab == "runs" else 6)}
    if tab == "graph" and version:
        shown["drawing"] = version_drawing(pipeline, version.parsed_graph())
    return shown


@require_POST
def pipeline_run(request: HttpRequest, namespace: str, pipeline: str) -> HttpResponse:
    """Start a run and go to its page."""
    who = principal(request)
    run = start_run(who, get_pipeline(who, namespace, pipeline))
    return redirect("admin:run", namespace, pipeline, run.number)


@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """Runs of all pipelines, newest first."""
    who = principal(request)
    chosen = RunFilter(request.GET, Run.objects.visible_to(who).with_facts())
    context = {
        "page": page_of(chosen.qs, request),
        "chosen": request.GET,
        "filtered": any(request.GET.get(name) for name in chosen.filters),
        "states": RunState.values,
        "namespaces": Namespace.objects.visible_to(who).values_list("name", flat=True)[:200],
    }
    return render(request, "lineage/runs.html", context)


@require_GET
def run(request: HttpRequest, namespace: str, pipeline: str, run: int) -> HttpResponse:
    """One run: graph, times and log while it happens and after, its code, datasets and attempts."""
    who = principal(request)
    found = get_run(who, namespace, pipeline, run)
    tab = request.GET.get("tab", "")
    tab = tab if tab in RUN_TABS else "graph"
    context = {
        "run": found,
        "tab": tab,
        "may_write": Level.WRITE in levels_held(who, found.pipeline.namespace),
        "live": not found.ended,
        **_run_tab(request, found, tab),
    }
    return render(request, f"lineage/run_{tab}.html", context)


def _run_tab(request: HttpRequest, run: Run, tab: str) -> dict[str, Any]:
    if tab == "code":
        return {"source": numbered_source(run.version)}
    if tab == "attempts":
        return {"tasks": TaskRun.objects.filter(run=run).order_by("-attempt", "started_at", "pk")}
    if tab == "datasets":
        path = f"{run.pipeline.namespace.name}/{run.pipeline.name}"
        events = AuditEvent.objects.filter(pipeline=path, run=run.number, target_kind="dataset").accesses()
        return {"page": page_of(events, request)}
    return live_context(run)


@require_GET
def run_live(request: HttpRequest, namespace: str, pipeline: str, run: int) -> HttpResponse:
    """What changes while a run is active; asked for every second until it has ended."""
    who = principal(request)
    found = get_run(who, namespace, pipeline, run)
    after = request.GET.get("after", "")
    context = {
        "run": found,
        "tab": "graph",
        "may_write": Level.WRITE in levels_held(who, found.pipeline.namespace),
        "changed": request.GET.get("seen")
        != found.state + ("-stopping" if found.cancel_requested_at else ""),
        **live_context(found, int(after) if after.isdecimal() and len(after) < 19 else 0),
    }
    return render(request, "lineage/run_live.html", context)


@require_POST
def run_cancel(request: HttpRequest, namespace: str, pipeline: str, run: int) -> HttpResponse:
    """Cancel a run and go back to its page."""
    who = principal(request)
    cancel_run(who, get_run(who, namespace, pipeline, run))
    return redirect("admin:run", namespace, pipeline, run)
