"""Filters of the lists of `lineage`, the same for API and pages."""

from __future__ import annotations

import django_filters

from lineage.models import Run, RunState


class RunFilter(django_filters.FilterSet):
    """By namespace, pipeline and state."""

    namespace = django_filters.CharFilter(field_name="pipeline__namespace__name")
    pipeline = django_filters.CharFilter(field_name="pipeline__name")
    state = django_filters.ChoiceFilter(choices=RunState.choices)

    class Meta:
        model = Run
        fields = ("namespace", "pipeline", "state")
