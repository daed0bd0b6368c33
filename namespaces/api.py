"""REST of `namespaces`: namespaces, grants, operations and the audit log."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from namespaces.faces import etag, expected_version, principal
from namespaces.filters import AuditFilter, OperationFilter
from namespaces.models import AuditEvent, Grant, Namespace, Operation
from namespaces.serializers import (
    AuditEventSerializer,
    GrantSerializer,
    NamespaceSerializer,
    OperationSerializer,
)
from namespaces.services import grants, operations, tenancy
from tenure.errors import NotFound


class NamespaceList(generics.ListAPIView[Namespace]):
    """Namespaces that one may see, by name."""

    serializer_class = NamespaceSerializer
    ordering = "name"
    queryset = Namespace.objects.none()

    def get_queryset(self) -> QuerySet[Namespace]:
        """What the principal may see."""
        return Namespace.objects.visible_to(principal(self.request))


class NamespaceDetail(APIView):
    """One namespace, by name."""

    @extend_schema(responses=NamespaceSerializer)
    def get(self, request: Request, namespace: str) -> Response:
        """The namespace, with its version as ETag."""
        found = tenancy.get_namespace(principal(request), namespace)
        return Response(NamespaceSerializer(found).data, headers=etag(found.version))

    @extend_schema(
        request=NamespaceSerializer, responses={200: NamespaceSerializer, 201: NamespaceSerializer}
    )
    def put(self, request: Request, namespace: str) -> Response:
        """Create the namespace (platform admins) or update its description (its admins)."""
        body = NamespaceSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        found, created = tenancy.put_namespace(
            principal(request),
            name=namespace,
            description=body.validated_data.get("description"),
            expected_version=expected_version(request),
        )
        return Response(NamespaceSerializer(found).data, 201 if created else 200, headers=etag(found.version))


class GrantList(generics.ListAPIView[Grant]):
    """Grants of a namespace: all of them for its admins, one's own for others."""

    serializer_class = GrantSerializer
    queryset = Grant.objects.none()

    def get_queryset(self) -> QuerySet[Grant]:
        """What the principal may see in this namespace."""
        who = principal(self.request)
        namespace = tenancy.get_namespace(who, self.kwargs["namespace"])
        visible = Grant.objects.visible_to(who).filter(namespace=namespace)
        return visible.select_related("namespace", "user", "group")

    @extend_schema(request=GrantSerializer, responses={200: GrantSerializer, 201: GrantSerializer})
    def post(self, request: Request, namespace: str) -> Response:
        """Grant a level on the namespace, or on one dataset of it, to a user or a group."""
        who = principal(request)
        found = tenancy.get_namespace(who, namespace)
        body = GrantSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        values = body.validated_data
        grant, created = grants.add_grant(
            who,
            namespace=found,
            level=values["level"],
            dataset=values["dataset"],
            user=values.get("user", {}).get("username", ""),
            group=values.get("group", {}).get("name", ""),
        )
        return Response(GrantSerializer(grant).data, 201 if created else 200)


class GrantDetail(APIView):
    """One grant, by id."""

    @extend_schema(responses={204: OpenApiResponse(description="The grant is gone.")})
    def delete(self, request: Request, namespace: str, grant: int) -> Response:
        """Take the grant back."""
        who = principal(request)
        visible = Grant.objects.visible_to(who).filter(namespace__name=namespace, pk=grant)
        found = visible.select_related("namespace", "user", "group").first()
        if found is None:
            raise NotFound(f"There is no grant {grant} in namespace {namespace!r}.")
        grants.remove_grant(who, found)
        return Response(status=204)


class OperationList(generics.ListAPIView[Operation]):
    """Operations, newest first."""

    serializer_class = OperationSerializer
    filterset_class = OperationFilter
    queryset = Operation.objects.none()

    def get_queryset(self) -> QuerySet[Operation]:
        """What the principal may see."""
        return Operation.objects.visible_to(principal(self.request))


class OperationDetail(APIView):
    """One operation, by id."""

    @extend_schema(responses=OperationSerializer)
    def get(self, request: Request, operation: int) -> Response:
        """Its state, progress, result and error."""
        return Response(OperationSerializer(operations.get_operation(principal(request), operation)).data)


class OperationCancel(APIView):
    """Cancelling of one operation."""

    @extend_schema(request=None, responses=OperationSerializer)
    def post(self, request: Request, operation: int) -> Response:
        """Cancel it; 409 when it has ended."""
        who = principal(request)
        found = operations.cancel_operation(who, operations.get_operation(who, operation))
        return Response(OperationSerializer(found).data)


class AuditList(generics.ListAPIView[AuditEvent]):
    """The audit log, newest first: everything for auditors, a namespace's events for its admins."""

    serializer_class = AuditEventSerializer
    filterset_class = AuditFilter
    queryset = AuditEvent.objects.none()

    def get_queryset(self) -> QuerySet[AuditEvent]:
        """What the principal may see."""
        return AuditEvent.objects.visible_to(principal(self.request))
