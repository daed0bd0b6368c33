"""A small client of the console's REST API, with the standard library alone.

    client = Client("https://tenure.example.org", token)
    operation = client.put("namespaces/flights/pipelines/flight_delays", {"source": text})
    client.wait_for_operation(operation["id"])

Failures are raised as the `TenureError` that the console answered with.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from tenure.errors import InvalidInput, TenureError, Unavailable

API = "/api/v1/"
OPERATION_ENDS = frozenset({"succeeded", "failed", "cancelled"})
RUN_ENDS = frozenset({"succeeded", "failed", "cancelled"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Listener = Callable[[dict[str, Any]], None]


class _RefuseRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another address."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Client:
    """One console, as one principal sees it. Paths are relative to `/api/v1/`."""

    def __init__(self, url: str, token: str, *, timeout_seconds: float = 30.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"{url!r} is no address of a console: use http:// or https:// and a host.")
        self.url = url.rstrip("/")
        self.token = token
        self.timeout_seconds = timeout_seconds
        handlers: list[urllib.request.BaseHandler] = [_RefuseRedirects()]
        if parts.hostname in _LOOPBACK:
            # A proxy would look for the console on its own machine.
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str) -> Any:
        """What is there."""
        return self._send("GET", path)

    def put(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Make it so: create or update."""
        return self._send("PUT", path, body or {})

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Add one, or do something."""
        return self._send("POST", path, body or {})

    def delete(self, path: str) -> Any:
        """Remove it."""
        return self._send("DELETE", path)

    def results(self, path: str) -> Iterator[dict[str, Any]]:
        """All entries of a list, page by page."""
        page = self.get(path)
        while True:
            yield from page["results"]
            if not page.get("next"):
                return
            page = self.get(page["next"])

    def wait_for_operation(
        self, operation: str | int, *, timeout_seconds: float = 600.0, listener: Listener | None = None
    ) -> dict[str, Any]:
        """The operation after it has ended well.

        Raises `TenureError` with its reason when it failed or was cancelled, `Unavailable` after the timeout.
        """
        path = f"operations/{quote(str(operation), safe='')}"
        ended = self._wait(path, OPERATION_ENDS, timeout_seconds, listener)
        if ended["state"] != "succeeded":
            raise _failure(ended, f"Operation {operation}")
        return ended

    def wait_for_run(
        self,
        namespace: str,
        pipeline: str,
        number: int,
        *,
        timeout_seconds: float = 3600.0,
        listener: Listener | None = None,
    ) -> dict[str, Any]:
        """The run after it has ended well; `listener` hears of it at each look. Raises as for operations."""
        path = f"namespaces/{namespace}/pipelines/{pipeline}/runs/{number}"
        ended = self._wait(path, RUN_ENDS, timeout_seconds, listener)
        if ended["state"] != "succeeded":
            raise _failure(ended, f"Run {namespace}/{pipeline}/{number}")
        return ended

    def _wait(
        self, path: str, ends: frozenset[str], timeout_seconds: float, listener: Listener | None
    ) -> dict[str, Any]:
        deadline = time.monotonic() + timeout_seconds
        pause = 0.05
        while True:
            seen: dict[str, Any] = self.get(path)
            if listener:
                listener(seen)
            if seen["state"] in ends:
                return seen
            if time.monotonic() > deadline:
                raise Unavailable(f"{path} is still {seen['state']} after {timeout_seconds:.0f} s.")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        address = self._address(path)
        request = urllib.request.Request(address, data, headers, method=method)  # noqa: S310  # http(s), see __init__
        try:
            with self._opener.open(request, timeout=self.timeout_seconds) as response:
                content = response.read()
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise Unavailable(f"The console at {self.url} does not answer: {reason}") from error
        return json.loads(content) if content else None

    def _address(self, path: str) -> str:
        address = urljoin(f"{self.url}{API}", path)
        if urlsplit(address)[:2] != urlsplit(self.url)[:2]:
            raise InvalidInput(f"{address} is not on {self.url}: the token stays there.")
        return address


def _refusal(error: urllib.error.HTTPError) -> TenureError:
    """The console's problem document as the error that it stands for."""
    content = error.read()
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": f"HTTP {error.code} from {error.url}"}
    return TenureError.from_problem(problem, error.code)


def _failure(ended: Mapping[str, Any], what: str) -> TenureError:
    reason = ended.get("error")
    if isinstance(reason, Mapping):
        return TenureError.from_problem(reason, int(reason.get("status") or 500))
    return TenureError(f"{what} {ended['state']}: {reason or 'no reason was given'}")
