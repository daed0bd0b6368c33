"""REST of `registry`: datasets and their snapshots."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from namespaces.faces import etag, expected_version, hide_programs, principal
from namespaces.serializers import OperationSerializer
from namespaces.services.tenancy import get_namespace
from registry.filters import DatasetFilter, hide_passwords
from registry.models import Dataset, Snapshot
from registry.serializers import (
    DatasetInputSerializer,
    DatasetSerializer,
    DeletionPreviewSerializer,
    SnapshotSerializer,
)
from registry.services import datasets
from registry.services.deletion import delete_dataset, preview_deletion


class DatasetList(generics.ListAPIView[Dataset]):
    """Datasets of a namespace, or of all that one may see, by name."""

    serializer_class = DatasetSerializer
    filterset_class = DatasetFilter
    ordering = ("namespace__name", "name")
    queryset = Dataset.objects.none()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate; then no password that was asked for goes any further."""
        super().initial(request, *args, **kwargs)
        hide_passwords(request._request)

    def get_queryset(self) -> QuerySet[Dataset]:
        """What the principal may see."""
        who = principal(self.request)
        visible = Dataset.objects.visible_to(who).with_facts()
        if "namespace" in self.kwargs:
            visible = visible.filter(namespace=get_namespace(who, self.kwargs["namespace"]))
        return visible


class DatasetDetail(APIView):
    """One dataset, by name."""

    @extend_schema(responses=DatasetSerializer)
    def get(self, request: Request, namespace: str, dataset: str) -> Response:
        """The dataset, with its specification's version as ETag."""
        return _answer(datasets.get_dataset(principal(request), namespace, dataset))

    @extend_schema(request=DatasetInputSerializer, responses={200: DatasetSerializer, 201: DatasetSerializer})
    def put(self, request: Request, namespace: str, dataset: str) -> Response:
        """Register the dataset, or update its description and properties."""
        who = principal(request)
        found = get_namespace(who, namespace)
        body = DatasetInputSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        values = body.validated_data
        _, created = datasets.put_dataset(
            who, namespace=found, name=dataset, expected_version=expected_version(request), **values
        )
        return _answer(datasets.get_dataset(who, namespace, dataset), 201 if created else 200)

    @extend_schema(
        parameters=[OpenApiParameter("dry_run", bool, description="Only say what would be removed.")],
        responses={200: DeletionPreviewSerializer, 202: OperationSerializer},
    )
    def delete(self, request: Request, namespace: str, dataset: str) -> Response:
        """Delete the dataset: its rows now, a table's files by the operation that is returned."""
        who = principal(request)
        found = datasets.get_dataset(who, namespace, dataset)
        if request.query_params.get("dry_run", "").lower() in ("1", "true", "yes"):
            return Response(DeletionPreviewSerializer(preview_deletion(who, found)).data)
        return Response(OperationSerializer(delete_dataset(who, found)).data, 202)


def _answer(dataset: Dataset, status: int = 200) -> Response:
    version = dataset.specification.version if dataset.specification else 0
    return Response(DatasetSerializer(dataset).data, status, headers=etag(version))


class SnapshotList(generics.ListAPIView[Snapshot]):
    """Snapshots of a table, newest first."""

    serializer_class = SnapshotSerializer
    queryset = Snapshot.objects.none()

    def get_queryset(self) -> QuerySet[Snapshot]:
        """Those of one dataset that the principal may see."""
        path = (self.kwargs["namespace"], self.kwargs["dataset"])
        self.dataset = datasets.get_dataset(principal(self.request), *path)
        return Snapshot.objects.filter(dataset=self.dataset)

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """One page, without runs that the principal may not see."""
        rows = list(super().paginate_queryset(queryset) or ())
        return hide_programs(principal(self.request), self.dataset.namespace, rows)
