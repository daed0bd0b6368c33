"""The client of the console's Iceberg catalog: pyiceberg's own, with patience.

The console, or its database, may be away for some seconds. It then says so (503) or refuses the
connection, and in both cases has changed nothing: asking again is safe, also for a commit.
"""

from __future__ import annotations

from typing import Any

from pyiceberg.catalog.rest import RestCatalog
from requests import Session
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

PATIENCE = Retry(
    total=10,
    connect=10,
    status=10,
    # A request whose answer was lost may have been carried out: that is for the caller to decide.
    read=0,
    other=0,
    status_forcelist=(503,),
    allowed_methods=None,
    backoff_factor=0.25,
    backoff_max=5.0,
    raise_on_status=False,
)
"""About half a minute in all."""


class PatientCatalog(RestCatalog):
    """A REST catalog that waits for a console that is being restarted."""

    def _create_session(self) -> Session:
        session = super()._create_session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=PATIENCE))
        return session


def open_catalog(url: str, token: str) -> RestCatalog:
    """The catalog at `url` for the holder of `token`; raises pyiceberg's error if it does not answer."""
    properties: dict[str, Any] = {"uri": url, "token": token}
    return PatientCatalog("tenure", **properties)
