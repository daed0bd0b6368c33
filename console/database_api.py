"""The database API: the contract of `tenure.database` over HTTP, run in direct mode. Its own process."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from console.errors import PROBLEM, as_tenure_error
from lineage.database import DirectDatabase
from namespaces.tokens import WorkToken, read_token
from tenure.database import CALLS, PROTOCOL_VERSION, decode, encode
from tenure.errors import InvalidInput, NotAuthenticated, NotFound, TenureError, TooLarge

MAX_BODY = 8 * 1024 * 1024


@csrf_exempt
@require_POST
def call(request: HttpRequest, version: int, name: str) -> HttpResponse:
    """One call of the contract. Errors are problem documents; a traceback never leaves the process."""
    try:
        return JsonResponse(_answer(request, version, name))
    except Exception as error:  # noqa: BLE001  # the last line: an untrusted caller gets an id, no traceback
        return _problem(as_tenure_error(error))


def _answer(request: HttpRequest, version: int, name: str) -> object:
    work = _work(request)
    contract = CALLS.get(name)
    if version != PROTOCOL_VERSION or contract is None:
        raise NotFound(
            f"There is no call {name!r} in version {version}; this server speaks {PROTOCOL_VERSION}."
        )
    body = _body(request)
    return encode(DirectDatabase(work).call(contract, decode(contract.params, body)))


def _body(request: HttpRequest) -> object:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal():
        raise InvalidInput(f"Content-Length {length[:20]!r} is no number.")
    if int(length[:20]) > MAX_BODY:
        raise TooLarge(f"A call's body holds up to {MAX_BODY} bytes.")
    try:
        return json.loads(request.body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InvalidInput("The body is no JSON.") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _work(request: HttpRequest) -> WorkToken:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise NotAuthenticated("Send 'Authorization: Bearer TOKEN'.")
    return read_token(token.strip())


def _problem(error: TenureError) -> JsonResponse:
    response = JsonResponse(error.problem(), status=error.status, content_type=PROBLEM)
    if error.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """Answers when the process does."""
    return JsonResponse({"status": "ok"})


def no_such_address(request: HttpRequest, exception: Exception) -> HttpResponse:
    """This process has no pages, so also what it does not have is told as a problem document."""
    return _problem(NotFound(f"The database API has nothing at {request.path}."))


handler404 = no_such_address
urlpatterns = [path("health", health), path("v<int:version>/<str:name>", call)]
