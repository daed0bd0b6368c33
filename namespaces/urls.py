"""URLs of `namespaces`: its REST paths and its pages."""

from django.urls import path

from namespaces import api, views

api_urlpatterns = [
    path("namespaces", api.NamespaceList.as_view(), name="api-namespaces"),
    path("namespaces/<str:namespace>", api.NamespaceDetail.as_view(), name="api-namespace"),
    path("namespaces/<str:namespace>/grants", api.GrantList.as_view(), name="api-grants"),
    path("namespaces/<str:namespace>/grants/<int:grant>", api.GrantDetail.as_view(), name="api-grant"),
    path("operations", api.OperationList.as_view(), name="api-operations"),
    path("operations/<int:operation>", api.OperationDetail.as_view(), name="api-operation"),
    path("operations/<int:operation>/cancel", api.OperationCancel.as_view(), name="api-operation-cancel"),
    path("audit", api.AuditList.as_view(), name="api-audit"),
]

page_urlpatterns = [
    path("namespaces/", views.namespaces, name="namespaces"),
    path("namespaces/<str:namespace>/", views.namespace, name="namespace"),
    path("audit/", views.audit, name="audit"),
    path("operations/", views.operations, name="operations"),
    path("operations/<int:operation>/", views.operation, name="operation"),
    path("operations/<int:operation>/cancel", views.operation_cancel, name="operation-cancel"),
]
