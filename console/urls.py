"""All URLs: pages, REST, the Iceberg catalog, OpenAPI and health."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path, re_path
from django.views.decorators.http import require_GET
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.views import APIView

from lineage.urls import api_urlpatterns as lineage_api
from namespaces.urls import api_urlpatterns as namespaces_api
from registry.urls import api_urlpatterns as registry_api
from registry.urls import iceberg_urlpatterns
from tenure.errors import NotFound


@require_GET
def ready(request: HttpRequest) -> HttpResponse:
    """Answers once the process can serve pages."""
    return JsonResponse({"status": "ok"})


class NoSuchAddress(APIView):
    """What the API answers where it has no route: a problem document, never the pages' login form."""

    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse every method alike."""
        raise NotFound(f"The API has nothing at {request.path}.")


urlpatterns = [
    path("health/ready", ready, name="ready"),
    path("api/v1/", include([*namespaces_api, *registry_api, *lineage_api])),
    re_path("^api/v1/", NoSuchAddress.as_view(schema=None)),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("iceberg/", include(iceberg_urlpatterns)),
    path("", admin.site.urls),
]
