"""The Iceberg REST catalog's routes: thin faces on the catalog's verbs, in Iceberg's own words.

Source: the Iceberg REST catalog OpenAPI specification. Errors have its shape, so that every
Iceberg client understands them.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from pyiceberg.catalog.rest import CreateTableRequest
from pyiceberg.table import CommitTableRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from namespaces.faces import principal
from namespaces.models import Namespace
from namespaces.services.tenancy import get_namespace
from registry.models import Dataset, DatasetType, IcebergTable
from registry.services import catalog
from tenure.errors import InvalidInput

KINDS: dict[int, str] = {
    400: "BadRequestException",
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    404: "NoSuchTableException",
    409: "CommitFailedException",
    500: "InternalServerError",
    503: "ServiceUnavailableException",
}


def iceberg_error(status: int, kind: str, message: str) -> Response:
    """An error as the catalog specification has it."""
    return Response({"error": {"message": message, "type": kind, "code": status}}, status)


@extend_schema(exclude=True)
class CatalogView(APIView):
    """Base of the catalog's routes: turns errors into the specification's shape."""

    def handle_exception(self, exc: Exception) -> Response:
        """Answer the common way, told in Iceberg's words."""
        if isinstance(exc, ValidationError):
            first = exc.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            exc = InvalidInput(f"{where}: {first['msg']}")
        problem = super().handle_exception(exc)
        status, message = problem.status_code, str(problem.data["detail"])
        response = iceberg_error(status, KINDS.get(status, "RESTException"), message)
        for header in ("WWW-Authenticate", "Retry-After"):
            if header in problem:
                response[header] = problem[header]
        response.exception = True
        return response


class Config(CatalogView):
    """`GET /v1/config`."""

    def get(self, request: Request) -> Response:
        """Which routes there are."""
        return Response(catalog.catalog_config())


class Namespaces(CatalogView):
    """`GET /v1/namespaces`."""

    def get(self, request: Request) -> Response:
        """Namespaces that the principal may see; Tenure's are flat."""
        if request.query_params.get("parent"):
            return Response({"namespaces": []})
        names = Namespace.objects.visible_to(principal(request)).values_list("name", flat=True)
        return Response({"namespaces": [[name] for name in names]})


class NamespaceDetail(CatalogView):
    """`GET /v1/namespaces/{namespace}`."""

    def get(self, request: Request, namespace: str) -> Response:
        """The namespace and its properties."""
        found = get_namespace(principal(request), namespace)
        return Response({"namespace": [found.name], "properties": {"comment": found.description}})


class Tables(CatalogView):
    """`/v1/namespaces/{namespace}/tables`."""

    def get(self, request: Request, namespace: str) -> Response:
        """Tables that the principal may see."""
        who = principal(request)
        found = get_namespace(who, namespace)
        tables = Dataset.objects.visible_to(who).filter(
            namespace=found, type=DatasetType.TABLE, table__isnull=False
        )
        names = tables.order_by("name").values_list("name", flat=True)
        return Response({"identifiers": [{"namespace": [namespace], "name": name} for name in names]})

    def post(self, request: Request, namespace: str) -> Response:
        """Create a table."""
        who = principal(request)
        found = get_namespace(who, namespace)
        body = CreateTableRequest.model_validate(
            {"location": None, "partition-spec": None, "write-order": None} | _object(request.data)
        )
        table, _ = catalog.create_table(who, found, body)
        return _loaded(table)


class TableDetail(CatalogView):
    """`/v1/namespaces/{namespace}/tables/{table}`."""

    def get(self, request: Request, namespace: str, table: str) -> Response:
        """Load a table."""
        return _loaded(catalog.load_table(principal(request), namespace, table))

    def post(self, request: Request, namespace: str, table: str) -> Response:
        """Commit to a table."""
        identifier = {"namespace": [namespace], "name": table}
        body = CommitTableRequest.model_validate(_object(request.data) | {"identifier": identifier})
        committed = catalog.commit_table(principal(request), namespace, table, body)
        return Response({"metadata-location": committed.metadata_location, "metadata": committed.metadata})


def _loaded(table: IcebergTable) -> Response:
    return Response({"metadata-location": table.metadata_location, "metadata": table.metadata, "config": {}})


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InvalidInput("The body must be a JSON object.")
    return data
