"""Filters of the list of datasets, the same for API and pages."""

from __future__ import annotations

import django_filters
from django.db.models import Q, QuerySet

from registry.models import Dataset, DatasetType


class DatasetFilter(django_filters.FilterSet):
    """By namespace, type, owner, and words in name or description."""

    q = django_filters.CharFilter(method="search", label="Search")
    namespace = django_filters.CharFilter(field_name="namespace__name")
    type = django_filters.ChoiceFilter(choices=DatasetType.choices)
    owner = django_filters.CharFilter(field_name="owner__username")

    class Meta:
        model = Dataset
        fields = ("q", "namespace", "type", "owner")

    def search(self, queryset: QuerySet[Dataset], name: str, value: str) -> QuerySet[Dataset]:
        """Each word must occur in the name, the description or a column's name."""
        for word in value.split():
            queryset = queryset.filter(
                Q(name__icontains=word)
                | Q(description__icontains=word)
                | Q(specification__schema__contains=[{"name": word}])
            )
        return queryset
