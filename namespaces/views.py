"""Pages of `namespaces`: namespaces, the audit log and operations."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from namespaces.faces import principal
from namespaces.filters import AuditFilter, OperationFilter
from namespaces.models import AuditEvent, Grant, Namespace, Operation, OperationState, Outcome
from namespaces.models.audit import AccessKind
from namespaces.paging import page_of
from namespaces.services.grants import levels_held
from namespaces.services.operations import cancel_operation, get_operation
from namespaces.services.tenancy import get_namespace


@require_GET
def namespaces(request: HttpRequest) -> HttpResponse:
    """Namespaces, by name."""
    visible = Namespace.objects.visible_to(principal(request))
    return render(request, "namespaces/namespaces.html", {"page": page_of(visible, request, ("name",))})


@require_GET
def namespace(request: HttpRequest, namespace: str) -> HttpResponse:
    """One namespace: what is in it, and who may do what there."""
    who = principal(request)
    found = get_namespace(who, namespace)
    grants = Grant.objects.visible_to(who).filter(namespace=found).select_related("user", "group")
    context = {
        "namespace": found,
        "grants": grants.order_by("dataset", "user__username", "group__name", "level"),
        "levels": sorted(levels_held(who, found)),
    }
    return render(request, "namespaces/namespace.html", context)


@require_GET
def audit(request: HttpRequest) -> HttpResponse:
    """The audit log, as sentences."""
    chosen = AuditFilter(request.GET, AuditEvent.objects.visible_to(principal(request)))
    context = {
        "page": page_of(chosen.qs, request),
        "chosen": request.GET,
        "filtered": any(request.GET.get(name) for name in chosen.filters),
        "outcomes": Outcome.values,
        "accesses": AccessKind.choices,
        "errors": chosen.errors,
    }
    return render(request, "namespaces/audit.html", context)


@require_GET
def operations(request: HttpRequest) -> HttpResponse:
    """Operations, newest first."""
    visible = Operation.objects.visible_to(principal(request)).defer("input", "result")
    chosen = OperationFilter(request.GET, visible)
    context = {
        "page": page_of(chosen.qs, request),
        "chosen": request.GET,
        "filtered": any(request.GET.get(name) for name in chosen.filters),
        "states": OperationState.values,
    }
    return render(request, "namespaces/operations.html", context)


@require_GET
def operation(request: HttpRequest, operation: int) -> HttpResponse:
    """One operation: how far it is, or why it failed. While it runs, its panel asks again."""
    who = principal(request)
    found = get_operation(who, operation)
    is_panel = request.htmx  # type: ignore[attr-defined]  # set by django_htmx's middleware
    context = {
        "operation": found,
        "result": {key.replace("_", " "): value for key, value in found.result.items()},
        "may_cancel": not found.ended and (who.is_admin or found.owner_id == who.user_id),
        "live": not found.ended,
    }
    return render(request, "namespaces/_operation.html" if is_panel else "namespaces/operation.html", context)


@require_POST
def operation_cancel(request: HttpRequest, operation: int) -> HttpResponse:
    """Cancel an operation."""
    who = principal(request)
    found = cancel_operation(who, get_operation(who, operation))
    messages.success(request, f"Operation {found.pk} was cancelled.")
    return redirect("admin:operation", found.pk)
