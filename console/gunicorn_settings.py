"""What every gunicorn of this console keeps to: `gunicorn --config python:console.gunicorn_settings`."""

from __future__ import annotations

from gunicorn.config import Config
from gunicorn.glogging import Logger

from console.weblog import WithoutQuery

# A URI of the full length is asked for as `?uri=…`.
limit_request_line = 8190

# gunicorn's own format, where the log is wanted, without the query and the page that one came from.
access_log_format = '%(h)s %(l)s %(u)s %(t)s "%(m)s %(U)s %(H)s" %(s)s %(b)s "%(a)s"'


class _Logger(Logger):
    def setup(self, cfg: Config) -> None:
        """Also requests that gunicorn cannot read are logged, as they came."""
        super().setup(cfg)
        self.error_log.addFilter(WithoutQuery())


logger_class = _Logger
