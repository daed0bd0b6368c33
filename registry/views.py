"""Pages of `registry`: datasets, one dataset, and deleting it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from namespaces.faces import hide_programs, principal
from namespaces.models import Level, Namespace
from namespaces.paging import page_of
from namespaces.services.grants import levels_held
from registry.filters import DatasetFilter, hide_passwords
from registry.models import Dataset, DatasetType
from registry.queries import last_read
from registry.services.datasets import get_dataset
from registry.services.deletion import delete_dataset, preview_deletion

TABS = ("lineage", "schema", "snapshots", "accesses", "history")


@require_GET
def datasets(request: HttpRequest) -> HttpResponse:
    """Datasets by name, searched and filtered."""
    who = principal(request)
    hide_passwords(request)
    chosen = DatasetFilter(request.GET, Dataset.objects.visible_to(who).with_facts())
    context = {
        "page": page_of(chosen.qs, request, ("namespace__name", "name")),
        "chosen": request.GET,
        "search": request.GET.get("q", ""),
        "filtered": any(request.GET.get(name) for name in chosen.filters),
        "types": DatasetType.choices,
        "namespaces": Namespace.objects.visible_to(who).values_list("name", flat=True)[:200],
    }
    return render(request, "registry/datasets.html", context)


@require_GET
def dataset(request: HttpRequest, namespace: str, dataset: str) -> HttpResponse:
    """One dataset: its facts, and what the chosen tab shows."""
    who = principal(request)
    found = get_dataset(who, namespace, dataset)
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else "lineage"
    levels = levels_held(who, found.namespace, found.name)
    context = {
        "dataset": found,
        "table": getattr(found, "table", None),
        "tab": tab,
        "levels": [level.label for level in Level if level in levels],
        "may_delete": Level.ADMIN in levels,
        "reading": last_read(found),
        "live": True,
        **_tab(request, found, tab),
    }
    return render(request, f"registry/dataset_{tab}.html", context)


def _tab(request: HttpRequest, dataset: Dataset, tab: str) -> dict[str, Any]:
    """The rows of the tabs that this app can fill; the others are panels of `lineage`."""
    rows: dict[str, QuerySet[Any]] = {
        "snapshots": dataset.snapshots.all(),
        "history": dataset.specifications.all(),
    }
    if tab not in rows:
        return {}
    page = page_of(rows[tab], request)
    if tab == "snapshots":
        hide_programs(principal(request), dataset.namespace, page.rows)
    return {"page": page}


@require_http_methods(["GET", "POST"])
def dataset_delete(request: HttpRequest, namespace: str, dataset: str) -> HttpResponse:
    """What deleting would remove; with the dataset's name typed, the deletion."""
    who = principal(request)
    found = get_dataset(who, namespace, dataset)
    wrong = request.method == "POST" and request.POST.get("name", "").strip() != found.name
    if request.method == "POST" and not wrong:
        operation = delete_dataset(who, found)
        rest = "this operation removes its files" if found.location else "its data stays where it is"
        messages.success(request, f"{namespace}/{dataset} is deleted; {rest}.")
        return redirect("admin:operation", operation.pk)
    preview = preview_deletion(who, found)
    return render(
        request, "registry/dataset_delete.html", {"dataset": found, "preview": preview, "wrong": wrong}
    )
