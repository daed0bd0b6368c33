"""URLs of `lineage`: its REST paths."""

from django.urls import path

from lineage import api

_PIPELINE = "namespaces/<str:namespace>/pipelines/<str:pipeline>"
_DATASET = "namespaces/<str:namespace>/datasets/<str:dataset>"

api_urlpatterns = [
    path("pipelines", api.PipelineList.as_view(), name="api-all-pipelines"),
    path("runs", api.AllRuns.as_view(), name="api-all-runs"),
    path("namespaces/<str:namespace>/pipelines", api.PipelineList.as_view(), name="api-pipelines"),
    path(_PIPELINE, api.PipelineDetail.as_view(), name="api-pipeline"),
    path(f"{_PIPELINE}/versions", api.VersionList.as_view(), name="api-versions"),
    path(f"{_PIPELINE}/versions/<int:version>", api.VersionDetail.as_view(), name="api-version"),
    path(f"{_PIPELINE}/runs", api.RunList.as_view(), name="api-runs"),
    path(f"{_PIPELINE}/runs/<int:run>", api.RunDetail.as_view(), name="api-run"),
    path(f"{_PIPELINE}/runs/<int:run>/cancel", api.RunCancel.as_view(), name="api-run-cancel"),
    path(f"{_PIPELINE}/runs/<int:run>/log", api.RunLog.as_view(), name="api-run-log"),
    path(f"{_DATASET}/accesses", api.AccessList.as_view(), name="api-accesses"),
    path(f"{_DATASET}/lineage", api.LineageDetail.as_view(), name="api-lineage"),
]
