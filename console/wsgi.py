"""The WSGI entry of both HTTP processes: `TENURE_PROCESS` says whether it is `web` or `database-api`."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
application = get_wsgi_application()
