"""The one settings file: everything comes from the environment (`docs/settings.md` lists it all).

`manage.py up` writes what it chose (ports, passwords, the address of each embedded part) to
`$TENURE_HOME/runtime.env`; other commands on the same machine read it from there, and a real
environment variable always wins. Without `DATABASE_URL` there is no database at all: Django's
dummy backend raises at the first use of the ORM, which is what isolation mode promises.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from psycopg.conninfo import conninfo_to_dict

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
TENURE_HOME = Path(env.str("TENURE_HOME", default="") or BASE_DIR / ".tenure").resolve()
environ.Env.read_env(TENURE_HOME / "runtime.env", overwrite=False)

# --- Who we are -------------------------------------------------------------------------------
TENURE_PROCESS = env.str("TENURE_PROCESS", default="web")
TENURE_PORT = env.int("TENURE_PORT", default=8000)
TENURE_URL = env.str("TENURE_URL", default=f"http://127.0.0.1:{TENURE_PORT}").rstrip("/")
TENURE_DATABASE_API_URL = env.str("TENURE_DATABASE_API_URL", default="").rstrip("/")
TENURE_CATALOG_URL = env.str("TENURE_CATALOG_URL", default=f"{TENURE_URL}/iceberg").rstrip("/")
TENURE_WAREHOUSE = env.str("TENURE_WAREHOUSE", default=f"file://{TENURE_HOME}/warehouse").rstrip("/")
SPARK_REMOTE = env.str("SPARK_REMOTE", default="")

# --- Limits, in seconds, bytes and counts -----------------------------------------------------
TENURE_TOKEN_DAYS = env.int("TENURE_TOKEN_DAYS", default=90)
TENURE_HEARTBEAT_SECONDS = env.float("TENURE_HEARTBEAT_SECONDS", default=1.0)
TENURE_LOST_AFTER_SECONDS = env.float("TENURE_LOST_AFTER_SECONDS", default=20.0)
TENURE_SWEEP_SECONDS = env.float("TENURE_SWEEP_SECONDS", default=5.0)
TENURE_RUN_TIMEOUT_SECONDS = env.float("TENURE_RUN_TIMEOUT_SECONDS", default=6 * 3600.0)
TENURE_MAX_SOURCE_BYTES = env.int("TENURE_MAX_SOURCE_BYTES", default=1024 * 1024)
TENURE_MAX_LOG_LINES = env.int("TENURE_MAX_LOG_LINES", default=10_000)

# --- Django -----------------------------------------------------------------------------------
DEBUG = env.bool("TENURE_DEBUG", default=False)
SECRET_KEY = env.str("TENURE_SECRET_KEY", default="")
TENURE_HTTPS = env.bool("TENURE_HTTPS", default=False)
ALLOWED_HOSTS = env.list("TENURE_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("TENURE_CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "console.apps.ConsoleConfig",
    "console.apps.TenureAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "pgtrigger",
    "axes",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "namespaces",
    "registry",
    "lineage",
]

_WEB_MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "console.middleware.PrincipalMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "console.middleware.ErrorPageMiddleware",
    "axes.middleware.AxesMiddleware",
]
_IS_DATABASE_API = TENURE_PROCESS == "database-api"
# The database API serves the contract alone: no sessions, no pages, no cookies.
MIDDLEWARE: list[str] = [] if _IS_DATABASE_API else _WEB_MIDDLEWARE
ROOT_URLCONF = "console.database_api" if _IS_DATABASE_API else "console.urls"
WSGI_APPLICATION = "console.wsgi.application"
APPEND_SLASH = False


def _database(url: str) -> dict[str, Any]:
    """A Django database from a libpq URL, whatever libpq understands in it."""
    if not url:
        return {}
    parts = conninfo_to_dict(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", "tenure"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "CONN_MAX_AGE": 300,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": parts,
    }


DATABASE_URL = env.str("DATABASE_URL", default="")
DATABASES = {"default": _database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="")

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "locked_out.html"
AXES_ENABLE_ADMIN = False
AXES_DISABLE_ACCESS_LOG = True
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["console.templatetags.tenure"],
        },
    }
]

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
# Stock admin pages: ISO 8601, like everything else.
FORMAT_MODULE_PATH = ["console.formats"]

STATIC_URL = "/static/"
STATIC_ROOT = TENURE_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_KEEP_ONLY_HASHED_FILES = False

# --- What browsers are told -------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = TENURE_HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = TENURE_HTTPS
# For programs, which this machine's own reach without the proxy: a redirect would come after a token
# had travelled in clear text already. Pages, HSTS and secure cookies stay as they are.
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^iceberg/", r"^api/v1/"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if TENURE_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = TENURE_HTTPS
SECURE_REFERRER_POLICY = "same-origin"
if env.bool("TENURE_BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
DJANGO_HTMX_ALLOW_EVAL = False
SILENCED_SYSTEM_CHECKS: list[str] = []
if not TENURE_HTTPS:
    # Loopback without TLS is the default; console.checks warns where that is wrong.
    SILENCED_SYSTEM_CHECKS += ["security.W004", "security.W008", "security.W012", "security.W016"]

# --- API --------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "console.authentication.BearerAuthentication",
        "console.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PAGINATION_CLASS": "namespaces.pagination.CursorPages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["console.parsers.BoundedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "console.errors.problem_handler",
    "PAGE_SIZE": 50,
    "COERCE_DECIMAL_TO_STRING": True,
}
REST_KNOX = {"TOKEN_TTL": None, "AUTH_HEADER_PREFIX": "Bearer", "MIN_REFRESH_INTERVAL": 3600}
SPECTACULAR_SETTINGS = {
    "TITLE": "Tenure",
    "DESCRIPTION": "The control plane for the datasets of a shared Spark platform.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "/static/tenure/mark.svg",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SCHEMA_PATH_PREFIX_INSERT": "",
    "PREPROCESSING_HOOKS": ["console.openapi.only_v1"],
    # Runs and operations have the same states.
    "ENUM_NAME_OVERRIDES": {
        "StateEnum": "namespaces.models.OperationState",
        "TaskStateEnum": "lineage.models.TaskState",
    },
}

# --- Celery: the alarm clock ------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL
if TENURE_PROCESS in ("web", "database-api"):
    # A request does not wait for a broker that is away: the sweep sends again. Workers are patient.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"max_retries": 0, "socket_connect_timeout": 1.0}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "control"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "sweep-operations": {"task": "namespaces.sweep_operations", "schedule": TENURE_SWEEP_SECONDS},
    "sweep-runs": {"task": "lineage.sweep_runs", "schedule": TENURE_SWEEP_SECONDS},
    "start-scheduled-runs": {"task": "lineage.start_scheduled_runs", "schedule": 15.0},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"without_query": {"()": "console.weblog.WithoutQuery"}},
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("TENURE_LOG_LEVEL", default="INFO")},
    "loggers": {
        "axes": {"level": "WARNING"},
        "django.server": {"level": "WARNING", "filters": ["without_query"]},
        # The layout of one graph writes forty lines.
        "rust-sugiyama": {"level": "WARNING"},
        "connected_components": {"level": "WARNING"},
    },
}
