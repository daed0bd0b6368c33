"""Every page: what it costs, who sees it, and that no script or style is inside it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

Browse = Callable[[User], Client]
MOST_QUERIES = 12

PAGES = [
    "/",
    "/datasets/",
    "/datasets/?q=carrier&type=table&namespace=flights&owner=alice",
    "/datasets/flights/table_000/",
    "/datasets/flights/table_000/?tab=schema",
    "/datasets/flights/table_000/?tab=snapshots",
    "/datasets/flights/table_000/?tab=accesses",
    "/datasets/flights/table_000/?tab=history",
    "/datasets/flights/table_000/lineage",
    "/datasets/flights/table_000/accesses",
    "/datasets/flights/table_000/accesses?brief",
    "/pipelines/",
    "/pipelines/?namespace=flights",
    "/pipelines/flights/delays/",
    "/pipelines/flights/delays/?tab=runs",
    "/pipelines/flights/delays/?tab=code",
    "/pipelines/flights/delays/?tab=versions",
    "/runs/",
    "/runs/?state=failed&namespace=flights&pipeline=delays",
    "/runs/flights/delays/1/",
    "/runs/flights/delays/3/",
    "/runs/flights/delays/1/?tab=code",
    "/runs/flights/delays/1/?tab=datasets",
    "/runs/flights/delays/1/?tab=attempts",
    "/runs/flights/delays/3/live?after=1&seen=queued",
    "/audit/",
    "/audit/?outcome=denied&access=read&namespace=flights",
    "/operations/",
    "/operations/?state=failed",
    "/namespaces/",
    "/namespaces/flights/",
    "/health/processes",
    "/password_change/",
]
OF_A_NAMESPACE = [page for page in PAGES if re.match(r"/\w+/flights/", page)]
STOCK = [
    "/admin/",
    "/admin/auth/user/",
    "/admin/auth/user/add/",
    "/admin/auth/group/add/",
    "/admin/namespaces/grant/",
    "/admin/namespaces/grant/add/",
    "/admin/namespaces/namespace/add/",
    "/admin/namespaces/operation/",
    "/admin/namespaces/auditevent/",
    "/admin/registry/dataset/",
    "/admin/lineage/pipeline/",
    "/admin/lineage/run/",
]
INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>|<style\b|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)


def cost(client: Client, page: str) -> int:
    """How many queries the page takes, the session's and the user's included."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        response = client.get(page)
    assert response.status_code == 200, (page, response.status_code)
    return len([each for each in queries if "SAVEPOINT" not in each["sql"]])


def test_a_page_costs_few_queries_whatever_the_number_of_rows(many: int, alice: User, browse: Browse) -> None:
    client = browse(alice)
    costs = {page: cost(client, page) for page in PAGES}
    assert {page: queries for page, queries in costs.items() if queries > MOST_QUERIES} == {}


def test_a_stranger_is_told_that_there_is_nothing(many: int, mallory: User, browse: Browse) -> None:
    client = browse(mallory)
    for page in OF_A_NAMESPACE:
        response = client.get(page)
        assert response.status_code == 404, page
        assert "There is no" in response.content.decode()


def test_a_stranger_finds_no_row_of_another_namespace(many: int, mallory: User, browse: Browse) -> None:
    client = browse(mallory)
    for page in ("/datasets/", "/pipelines/", "/runs/", "/audit/", "/operations/", "/namespaces/"):
        assert "flights" not in client.get(page).content.decode().partition("<main")[2], page


@pytest.mark.parametrize("page", PAGES)
def test_anonymous_is_asked_to_sign_in(page: str, db: None) -> None:
    response = Client().get(page)
    assert response.status_code == 302
    assert response["Location"].startswith("/login/")


def test_no_page_holds_a_script_or_a_style_and_each_says_so(many: int, admin: User, browse: Browse) -> None:
    client = browse(admin)
    for page in (*PAGES, *STOCK, "/api/docs/", "/datasets/flights/raw_001/delete"):
        response = client.get(page)
        assert response.status_code == 200, page
        assert INLINE.search(response.content.decode()) is None, page
        policy = response["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy


def test_pages_of_a_list_follow_one_another_and_lose_no_row(many: int, alice: User, browse: Browse) -> None:
    client, seen, page = browse(alice), [], "/datasets/"
    while page:
        content = client.get(page).content.decode()
        seen += re.findall(r'<td><a href="/datasets/flights/(\w+)/">', content)
        following = re.search(r'rel="next" href="([^"]+)"', content)
        page = f"/datasets/{following[1].replace('&amp;', '&')}" if following else ""
    assert seen == sorted(seen)
    assert len(seen) == 2 * many


def test_the_previous_page_is_the_one_that_was_left(many: int, alice: User, browse: Browse) -> None:
    client = browse(alice)
    first = client.get("/runs/").context["page"]
    second = client.get(f"/runs/{first.next}").context["page"]
    assert client.get(f"/runs/{second.previous}").context["page"].rows == first.rows
    assert not first.previous


def test_a_damaged_link_to_a_page_is_refused_with_a_reason(alice: User, browse: Browse) -> None:
    response = browse(alice).get("/runs/?after=nonsense")
    assert response.status_code == 400
    assert "damaged" in response.content.decode()


def test_deleting_wants_the_name_typed(many: int, alice: User, browse: Browse) -> None:
    client = browse(alice)
    response = client.post("/datasets/flights/raw_001/delete", {"name": "raw_002"})
    assert "nothing was deleted" in response.content.decode()
    response = client.post("/datasets/flights/raw_001/delete", {"name": "raw_001"})
    assert response.status_code == 302
    assert client.get("/datasets/flights/raw_001/").status_code == 404


def test_a_reader_may_not_start_a_run(many: int, bob: User, browse: Browse) -> None:
    client = browse(bob)
    assert "Run now" not in client.get("/pipelines/flights/delays/").content.decode()
    assert client.post("/pipelines/flights/delays/run").status_code == 403


def test_a_grant_is_added_and_taken_back_by_its_verb(
    many: int, bob: User, admin: User, browse: Browse
) -> None:
    from namespaces.models import AuditEvent, Grant, Namespace

    client, flights = browse(admin), Namespace.objects.get(name="flights")
    form = {"namespace": flights.pk, "dataset": "", "user_name": "bob", "group_name": "", "level": "WRITE"}
    assert client.post("/admin/namespaces/grant/add/", form).status_code == 302
    grant = Grant.objects.get(user=bob, level="WRITE")
    assert client.post(f"/admin/namespaces/grant/{grant.pk}/delete/", {"post": "yes"}).status_code == 302
    actions = AuditEvent.objects.filter(target_kind="grant").values_list("action", flat=True)
    assert set(actions) == {"namespaces:grant:added", "namespaces:grant:removed"}
