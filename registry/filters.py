"""Filters of the list of datasets, the same for API and pages."""

from __future__ import annotations

import django_filters
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from registry.models import Dataset, DatasetType
from registry.models.datasets import DatasetQuerySet
from tenure.errors import InvalidURI
from tenure.uri import masked, parse


class DatasetFilter(django_filters.FilterSet):
    """By namespace, type, owner, any spelling of the URI, and words in name or description."""

    q = django_filters.CharFilter(method="search", label="Search")
    namespace = django_filters.CharFilter(field_name="namespace__name")
    type = django_filters.ChoiceFilter(choices=DatasetType.choices)
    owner = django_filters.CharFilter(field_name="owner__username")
    uri = django_filters.CharFilter(method="find", label="Any spelling of a URI", strip=False)

    class Meta:
        model = Dataset
        fields = ("q", "namespace", "type", "owner", "uri")

    def find(self, queryset: DatasetQuerySet, name: str, value: str) -> QuerySet[Dataset]:
        """The URI's datasets; raises `InvalidURI`."""
        return queryset.at_uri(value)

    def search(self, queryset: QuerySet[Dataset], name: str, value: str) -> QuerySet[Dataset]:
        """Each word must occur in the name, the description or a column's name; or it is the URI."""
        words = Q()
        for word in value.split():
            words &= (
                Q(name__icontains=word)
                | Q(description__icontains=word)
                | Q(specification__schema__contains=[{"name": word}])
            )
        return queryset.filter(words | _is_uri(value))


def _is_uri(text: str) -> Q:
    try:
        found = Dataset.objects.at_uri(text) if "://" in text else Dataset.objects.none()
    except InvalidURI:
        found = Dataset.objects.none()
    return Q(pk__in=found.order_by().values("pk"))


def hide_passwords(request: HttpRequest) -> None:
    """Mask what is asked for, before it is shown again in a form or in the link to the next page.

    Finds the same as before. Raises `InvalidURI` for a `uri` that cannot be one.
    """
    asked = request.GET.copy()
    if asked.get("uri"):
        asked["uri"] = _shown(str(asked["uri"]))
    if "://" in asked.get("q", ""):
        asked["q"] = _shown_words(str(asked["q"]))
    request.GET = asked  # type: ignore[assignment]  # a copy can be changed, and nobody does


def _shown(text: str) -> str:
    found = parse(text)
    return masked(text) if found.is_literal else found.typed


def _shown_words(text: str) -> str:
    try:
        return _shown(text)
    except InvalidURI:
        return masked(text)
