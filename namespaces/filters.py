"""Filters of the lists of `namespaces`, the same for API and pages."""

from __future__ import annotations

import django_filters

from namespaces.models import AuditEvent, Operation, OperationState, Outcome
from namespaces.models.audit import AccessKind


class AuditFilter(django_filters.FilterSet):
    """By namespace, actor, action, target, outcome, access, run and time."""

    action = django_filters.CharFilter(lookup_expr="startswith")
    outcome = django_filters.ChoiceFilter(choices=Outcome.choices)
    access = django_filters.ChoiceFilter(choices=AccessKind.choices)
    since = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="gte")
    until = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="lt")

    class Meta:
        model = AuditEvent
        fields = ("namespace", "actor", "target_kind", "target", "pipeline", "run", "task")


class OperationFilter(django_filters.FilterSet):
    """By namespace, kind and state."""

    state = django_filters.ChoiceFilter(choices=OperationState.choices)

    class Meta:
        model = Operation
        fields = ("namespace", "kind", "target")
