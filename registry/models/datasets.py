"""Datasets and their versioned specifications."""

from __future__ import annotations

import hashlib
from functools import cached_property

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, OuterRef, Q
from django.db.models.functions import MD5
from django.utils import timezone

from namespaces.models import Grant, Namespace
from namespaces.principals import Principal
from tenure.errors import InvalidURI
from tenure.names import NAME_PATTERN
from tenure.uri import DatasetURI, parse


class DatasetType(models.TextChoices):
    """The built-in types."""

    TABLE = "table", "table"
    FILE_SET = "file_set", "file set"
    EXTERNAL = "external", "external"


class DatasetQuerySet(models.QuerySet["Dataset"]):
    """Lookups of datasets."""

    def visible_to(self, principal: Principal) -> DatasetQuerySet:
        """Datasets with any grant on them or on their namespace; a run sees those of its graph alone."""
        if principal.sees_everything:
            return self.all()
        visible = self
        if principal.scope is not None:
            scope = principal.scope
            visible = visible.filter(namespace__name=scope.namespace, name__in=scope.datasets)
            if principal.is_admin or principal.is_auditor:
                return visible
        held = Grant.objects.held_by(principal).filter(
            Q(dataset="") | Q(dataset=OuterRef("name")), namespace=OuterRef("namespace")
        )
        return visible.filter(models.Exists(held))

    def at_uri(self, uri: str | DatasetURI) -> DatasetQuerySet:
        """Datasets that stand for a URI, by any of its spellings; raises `InvalidURI`.

        A literal that was registered before a plug-in taught Tenure its scheme is found as it was typed.
        """
        found = parse(uri)
        if found.carries_password:
            # None was ever registered, and what looks like a password does not go into a statement.
            return self.none()
        texts = {found.canonical, found.typed}
        digests = [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
        return self.alias(uri_digest=MD5("uri")).filter(uri_digest__in=digests, uri__in=texts)

    def with_facts(self) -> DatasetQuerySet:
        """With the rows that lists and pages show: namespace, owner, specification and table.

        The table's metadata grows with each snapshot; what needs it loads it.
        """
        related = self.select_related("namespace", "owner", "specification", "table")
        return related.defer("table__metadata")


class Dataset(models.Model):
    """A named thing in a namespace with a type and a canonical URI. Its configuration is `specification`.

    `typed_uri` is the URI as it was sent, auth information masked; empty where Tenure chose it.
    `location` is where a table's files lie; empty for what is not Tenure's.
    """

    namespace = models.ForeignKey(Namespace, on_delete=models.PROTECT, related_name="datasets")
    name = models.CharField(max_length=63)
    type = models.CharField(max_length=16, choices=DatasetType.choices)
    uri = models.TextField()
    typed_uri = models.TextField(blank=True)
    location = models.TextField(blank=True)
    description = models.TextField(blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    specification = models.ForeignKey("Specification", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ("namespace__name", "name")
        constraints = (
            models.UniqueConstraint(fields=("namespace", "name"), name="dataset_name_once"),
            # A row of a B-tree holds 2,700 bytes, a URI up to 4,096. The digest comes first, so that
            # the index also finds a URI in all namespaces.
            models.UniqueConstraint(MD5("uri"), F("namespace"), name="dataset_uri_once_a_namespace"),
            models.CheckConstraint(condition=Q(name__regex=f"^{NAME_PATTERN}$"), name="dataset_name_rule"),
        )
        indexes = (models.Index(F("updated_at").desc(), name="dataset_updated"),)

    def __str__(self) -> str:
        return f"{self.namespace.name}/{self.name}"

    @cached_property
    def meaning(self) -> DatasetURI:
        """What the URI denotes, and what there is to say of the way that it was typed."""
        try:
            return parse(self.typed_uri or self.uri)
        except InvalidURI as error:
            # A literal that the rules of today, or of a new plug-in, refuse is still what it was.
            return DatasetURI(self.uri, reason=error.detail, typed=self.uri)


class Specification(models.Model):
    """What a dataset was configured to be, one row for each version; never changed afterwards.

    `schema` is a list of fields `{"id", "name", "type", "required", "doc"}` in Iceberg's type names.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="specifications")
    version = models.PositiveIntegerField()
    properties = models.JSONField(default=dict, blank=True)
    schema = models.JSONField(default=list, blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("dataset", "-version")
        constraints = (
            models.UniqueConstraint(fields=("dataset", "version"), name="specification_version_once"),
        )
        triggers = (pgtrigger.Protect(name="immutable", operation=pgtrigger.Update),)

    def __str__(self) -> str:
        return f"{self.dataset} version {self.version}"
