"""REST of `lineage`: pipelines, versions, runs, accesses and lineage."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lineage.filters import RunFilter
from lineage.models import LogLine, Pipeline, PipelineVersion, Run
from lineage.serializers import (
    AccessSerializer,
    LineageSerializer,
    LogLineSerializer,
    PipelineInputSerializer,
    PipelineSerializer,
    RunSerializer,
    RunSummarySerializer,
    VersionSerializer,
    VersionSummarySerializer,
)
from lineage.services import pipelines, runs
from lineage.services.graph import MAX_LEVELS, lineage_of
from namespaces.faces import hide_programs, principal
from namespaces.models import AuditEvent
from namespaces.serializers import OperationSerializer
from namespaces.services.tenancy import get_namespace
from registry.services.datasets import get_dataset
from tenure.errors import InvalidInput, NotFound


class PipelineList(generics.ListAPIView[Pipeline]):
    """Pipelines of a namespace, or of all that one may see, by name."""

    serializer_class = PipelineSerializer
    ordering = ("namespace__name", "name")
    queryset = Pipeline.objects.none()

    def get_queryset(self) -> QuerySet[Pipeline]:
        """What the principal may see."""
        who = principal(self.request)
        visible = Pipeline.objects.visible_to(who).with_facts()
        if "namespace" in self.kwargs:
            visible = visible.filter(namespace=get_namespace(who, self.kwargs["namespace"]))
        return visible


class PipelineDetail(APIView):
    """One pipeline, by name."""

    @extend_schema(responses=PipelineSerializer)
    def get(self, request: Request, namespace: str, pipeline: str) -> Response:
        """The pipeline and its current version."""
        return Response(
            PipelineSerializer(pipelines.get_pipeline(principal(request), namespace, pipeline)).data
        )

    @extend_schema(request=PipelineInputSerializer, responses={202: OperationSerializer})
    def put(self, request: Request, namespace: str, pipeline: str) -> Response:
        """Deploy a file's text: an operation parses it and, if it is valid, makes it current."""
        who = principal(request)
        found = get_namespace(who, namespace)
        body = PipelineInputSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        operation = pipelines.deploy_pipeline(
            who, namespace=found, name=pipeline, source=body.validated_data["source"]
        )
        return Response(OperationSerializer(operation).data, 202)


class VersionList(generics.ListAPIView[PipelineVersion]):
    """Versions of a pipeline, newest first, without their text."""

    serializer_class = VersionSummarySerializer
    queryset = PipelineVersion.objects.none()

    def get_queryset(self) -> QuerySet[PipelineVersion]:
        """Those of one pipeline that the principal may see."""
        pipeline = pipelines.get_pipeline(
            principal(self.request), self.kwargs["namespace"], self.kwargs["pipeline"]
        )
        return pipeline.versions.defer("source", "graph")


class VersionDetail(APIView):
    """One version of a pipeline, by number."""

    @extend_schema(responses=VersionSerializer)
    def get(self, request: Request, namespace: str, pipeline: str, version: int) -> Response:
        """Its text and graph."""
        found = pipelines.get_pipeline(principal(request), namespace, pipeline)
        row = found.versions.filter(number=version).first()
        if row is None:
            raise NotFound(f"Pipeline {pipeline!r} in namespace {namespace!r} has no version {version}.")
        return Response(VersionSerializer(row).data)


class RunList(generics.ListAPIView[Run]):
    """Runs of a pipeline, newest first."""

    serializer_class = RunSummarySerializer
    filterset_class = RunFilter
    queryset = Run.objects.none()

    def get_queryset(self) -> QuerySet[Run]:
        """Those of one pipeline that the principal may see."""
        who = principal(self.request)
        pipeline = pipelines.get_pipeline(who, self.kwargs["namespace"], self.kwargs["pipeline"])
        return Run.objects.filter(pipeline=pipeline).with_facts()

    @extend_schema(request=None, responses={201: RunSerializer})
    def post(self, request: Request, namespace: str, pipeline: str) -> Response:
        """Start a run of the current version."""
        who = principal(request)
        run = runs.start_run(who, pipelines.get_pipeline(who, namespace, pipeline))
        return Response(RunSerializer(run).data, 201, headers={"Location": f"{request.path}/{run.number}"})


class AllRuns(generics.ListAPIView[Run]):
    """Runs of all pipelines that one may see, newest first."""

    serializer_class = RunSummarySerializer
    filterset_class = RunFilter
    queryset = Run.objects.none()

    def get_queryset(self) -> QuerySet[Run]:
        """What the principal may see."""
        return Run.objects.visible_to(principal(self.request)).with_facts()


class RunDetail(APIView):
    """One run, by number."""

    @extend_schema(responses=RunSerializer)
    def get(self, request: Request, namespace: str, pipeline: str, run: int) -> Response:
        """The run and the newest state of each task."""
        return Response(RunSerializer(runs.get_run(principal(request), namespace, pipeline, run)).data)


class RunCancel(APIView):
    """Cancelling of one run."""

    @extend_schema(request=None, responses={202: RunSerializer})
    def post(self, request: Request, namespace: str, pipeline: str, run: int) -> Response:
        """Ask the run to stop; it does so within seconds. 409 when it has ended."""
        who = principal(request)
        found = runs.cancel_run(who, runs.get_run(who, namespace, pipeline, run))
        return Response(RunSerializer(found).data, 202)


class RunLog(generics.ListAPIView[LogLine]):
    """The log of a run, oldest line first."""

    serializer_class = LogLineSerializer
    ordering = "pk"
    queryset = LogLine.objects.none()

    def get_queryset(self) -> QuerySet[LogLine]:
        """The lines of one run that the principal may see."""
        path = (self.kwargs["namespace"], self.kwargs["pipeline"], self.kwargs["run"])
        return LogLine.objects.filter(run=runs.get_run(principal(self.request), *path))


class AccessList(generics.ListAPIView[AuditEvent]):
    """Data operations on a dataset, newest first."""

    serializer_class = AccessSerializer
    queryset = AuditEvent.objects.none()

    def get_queryset(self) -> QuerySet[AuditEvent]:
        """Those of one dataset that the principal may see."""
        path = (self.kwargs["namespace"], self.kwargs["dataset"])
        self.dataset = get_dataset(principal(self.request), *path)
        return AuditEvent.objects.of_dataset(*path, self.dataset.created_at).accesses()

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """One page, without runs that the principal may not see."""
        rows = list(super().paginate_queryset(queryset) or ())
        return hide_programs(principal(self.request), self.dataset.namespace, rows)


class LineageDetail(APIView):
    """The lineage of a dataset."""

    @extend_schema(
        parameters=[
            OpenApiParameter("levels", int, description=f"Hops each way, 1 to {MAX_LEVELS}; 1 by default.")
        ],
        responses=LineageSerializer,
    )
    def get(self, request: Request, namespace: str, dataset: str) -> Response:
        """What fed it and what it fed, seen in the accesses of runs."""
        who = principal(request)
        levels = request.query_params.get("levels", "1")
        if not levels.isdecimal():
            raise InvalidInput(f"levels={levels!r} is no number.")
        graph = lineage_of(who, get_dataset(who, namespace, dataset), int(levels[:9]))
        return Response(LineageSerializer(graph).data)
