"""The admin site: Tenure's pages are in it, and everybody who may sign in may enter."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path


class TenureSite(admin.AdminSite):
    """Stock admin in Tenure's look. Pages decide by grants; model lists stay with platform admins."""

    site_header = "Tenure"
    site_title = "Tenure"
    index_title = "Administration"
    enable_nav_sidebar = False
    # The stock form lets staff in alone; here `visible_to` decides what a user finds.
    login_form = AuthenticationForm

    def register(self, model_or_iterable: Any, *args: Any, **options: Any) -> None:
        """Everything but API tokens: `create_token` makes them, and shows each once."""
        if getattr(model_or_iterable, "__name__", "") != "AuthToken":
            super().register(model_or_iterable, *args, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Any active user: what is shown is filtered by `visible_to`."""
        return request.user.is_active and request.user.is_authenticated

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """What stock pages need. The list of all models costs queries: only its page makes it."""
        return {
            "site_title": self.site_title,
            "site_header": self.site_header,
            "has_permission": self.has_permission(request),
            "is_popup": False,
            "is_nav_sidebar_enabled": False,
        }

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Tenure's pages, then the stock ones: model lists under `admin/`, so that names cannot clash."""
        stock = super().get_urls()
        models = [each for each in stock if isinstance(each, URLResolver) or each.name == "app_list"]
        general = [each for each in stock if each not in models]
        administration = path("", self.admin_view(super().index), name="administration")
        return [*self._pages(), path("admin/", include([administration, *models])), *general]

    def _pages(self) -> list[URLPattern | URLResolver]:
        # Imported here: views need loaded apps, and the site is made before they are.
        from console import pages
        from lineage.urls import page_urlpatterns as lineage_pages
        from namespaces.urls import page_urlpatterns as namespaces_pages
        from registry.urls import page_urlpatterns as registry_pages

        patterns: list[URLPattern] = [
            *pages.page_urlpatterns(),
            *namespaces_pages,
            *registry_pages,
            *lineage_pages,
        ]
        for pattern in patterns:
            pattern.callback = self.admin_view(pattern.callback)
        return [*patterns]

    def index(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:  # type: ignore[override]
        """Home."""
        from console import pages

        return pages.home(request)
