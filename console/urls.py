"""All URLs: pages, REST, the Iceberg catalog, OpenAPI and health."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path
from django.views.decorators.http import require_GET
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from lineage.urls import api_urlpatterns as lineage_api
from namespaces.urls import api_urlpatterns as namespaces_api
from registry.urls import api_urlpatterns as registry_api
from registry.urls import iceberg_urlpatterns


@require_GET
def ready(request: HttpRequest) -> HttpResponse:
    """Answers once the process can serve pages."""
    return JsonResponse({"status": "ok"})


urlpatterns = [
    path("health/ready", ready, name="ready"),
    path("api/v1/", include([*namespaces_api, *registry_api, *lineage_api])),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("iceberg/", include(iceberg_urlpatterns)),
    path("", admin.site.urls),
]
