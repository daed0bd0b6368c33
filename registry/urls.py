"""URLs of `registry`: its REST paths, the Iceberg catalog's, and its pages."""

from django.urls import path

from registry import api, iceberg_api, views

api_urlpatterns = [
    path("datasets", api.DatasetList.as_view(), name="api-all-datasets"),
    path("namespaces/<str:namespace>/datasets", api.DatasetList.as_view(), name="api-datasets"),
    path(
        "namespaces/<str:namespace>/datasets/<str:dataset>", api.DatasetDetail.as_view(), name="api-dataset"
    ),
    path(
        "namespaces/<str:namespace>/datasets/<str:dataset>/snapshots",
        api.SnapshotList.as_view(),
        name="api-snapshots",
    ),
]

iceberg_urlpatterns = [
    path("v1/config", iceberg_api.Config.as_view(), name="iceberg-config"),
    path("v1/namespaces", iceberg_api.Namespaces.as_view(), name="iceberg-namespaces"),
    path("v1/namespaces/<str:namespace>", iceberg_api.NamespaceDetail.as_view(), name="iceberg-namespace"),
    path("v1/namespaces/<str:namespace>/tables", iceberg_api.Tables.as_view(), name="iceberg-tables"),
    path(
        "v1/namespaces/<str:namespace>/tables/<str:table>",
        iceberg_api.TableDetail.as_view(),
        name="iceberg-table",
    ),
]

page_urlpatterns = [
    path("datasets/", views.datasets, name="datasets"),
    path("datasets/<str:namespace>/<str:dataset>/", views.dataset, name="dataset"),
    path("datasets/<str:namespace>/<str:dataset>/delete", views.dataset_delete, name="dataset-delete"),
]
