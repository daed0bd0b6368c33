"""The Django project: settings, URLs, Celery, the admin site, the database API's server and `up`."""
