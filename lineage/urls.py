"""URLs of `lineage`: its REST paths and its pages."""

from django.urls import path

from lineage import api, views

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

_RUN = "runs/<str:namespace>/<str:pipeline>/<int:run>"

page_urlpatterns = [
    path("datasets/<str:namespace>/<str:dataset>/lineage", views.dataset_lineage, name="dataset-lineage"),
    path("datasets/<str:namespace>/<str:dataset>/accesses", views.dataset_accesses, name="dataset-accesses"),
    path("pipelines/", views.pipelines, name="pipelines"),
    path("pipelines/<str:namespace>/<str:pipeline>/", views.pipeline, name="pipeline"),
    path("pipelines/<str:namespace>/<str:pipeline>/run", views.pipeline_run, name="pipeline-run"),
    path("runs/", views.runs, name="runs"),
    path(f"{_RUN}/", views.run, name="run"),
    path(f"{_RUN}/live", views.run_live, name="run-live"),
    path(f"{_RUN}/cancel", views.run_cancel, name="run-cancel"),
]
