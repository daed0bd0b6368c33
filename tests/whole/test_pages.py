"""The pages in Chromium, as a person clicks through them."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.consoles import PASSWORD, Console, eventually
from tests.whole.conftest import Workshop

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium"),
]

PAGES = (
    "/",
    "/datasets/",
    "/datasets/?q=delays",
    "/datasets/flights/flights/",
    "/datasets/flights/flights/?tab=schema",
    "/datasets/flights/flights/?tab=snapshots",
    "/datasets/flights/flights/?tab=accesses",
    "/datasets/flights/flights/?tab=history",
    "/datasets/flights/flights_file/",
    "/pipelines/",
    "/pipelines/flights/flight_delays/",
    "/runs/",
    "/runs/flights/flight_delays/1/",
    "/runs/flights/flight_delays/1/?tab=code",
    "/runs/flights/flight_delays/1/?tab=datasets",
    "/runs/flights/flight_delays/1/?tab=attempts",
    "/audit/",
    "/operations/",
    "/namespaces/",
    "/namespaces/flights/",
    "/admin/auth/user/",
    "/admin/auth/user/add/",
    "/admin/namespaces/grant/",
    "/admin/namespaces/grant/add/",
    "/api/docs/",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def page(browser: Any, console: Console) -> Iterator[Any]:
    """A signed-in page that remembers what its console complained of."""
    context = browser.new_context(base_url=console.url)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: _note(page, message))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto("/")
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{console.url}/")
    yield page
    context.close()


def _note(page: Any, message: Any) -> None:
    if message.type in ("error", "warning"):
        page.complaints.append(f"{page.url}: {message.text}")


def test_one_clicks_from_home_to_the_lineage_of_a_dataset(page: Any) -> None:
    page.get_by_role("link", name="Datasets").first.click()
    page.get_by_role("link", name="delays_by_carrier").first.click()
    picture = page.locator("svg").filter(has_text="delays_by_carrier").first
    picture.wait_for()
    for name in ("airlines_file", "flights_file", "airlines", "flights", "delays_by_carrier"):
        assert picture.get_by_text(name, exact=True).first.is_visible()
    page.get_by_role("link", name="flights", exact=True).last.wait_for()
    assert page.complaints == []


def test_a_node_of_the_picture_leads_to_its_dataset(page: Any, console: Console) -> None:
    page.goto("/datasets/flights/delays_by_carrier/")
    page.locator("svg a[href='/datasets/flights/airlines/']").first.click()
    page.wait_for_url(f"{console.url}/datasets/flights/airlines/")
    assert page.locator("h1").inner_text().startswith("airlines")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_breaks_the_content_security_policy_or_its_script(page: Any, path: str) -> None:
    answer = page.goto(path)
    page.wait_for_load_state("networkidle")
    assert answer.status == 200
    assert page.complaints == []


@pytest.mark.parametrize("path", PAGES[:-1])
def test_no_page_is_wider_than_a_telephone(browser: Any, page: Any, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_run_is_started_watched_and_cancelled_by_hand(
    page: Any, console: Console, workshop: Workshop
) -> None:
    source = (
        "import time\nfrom tenure import Pipeline\npipeline = Pipeline('slow')\n"
        "@pipeline.task()\ndef wait():\n    print('waiting for nothing')\n    time.sleep(120)\n"
    )
    workshop.deploy("slow", source)
    page.goto(f"/pipelines/{workshop.namespace}/slow/")
    page.get_by_role("button", name="Run now").click()
    page.wait_for_url(f"{console.url}/runs/{workshop.namespace}/slow/1/")
    # Nothing is reloaded by hand: the page follows the run.
    page.get_by_text("waiting for nothing").wait_for(timeout=30_000)
    page.get_by_role("button", name="Cancel").click()
    page.locator("h1").get_by_text("cancelled").wait_for(timeout=15_000)
    assert page.complaints == []


def test_an_unknown_dataset_is_a_page_that_names_it(page: Any) -> None:
    answer = page.goto("/datasets/flights/nowhere/")
    assert answer.status == 404
    assert page.get_by_text("nowhere").first.is_visible()
    assert page.get_by_role("link", name="Home").first.is_visible()


def test_the_home_page_says_how_each_process_is(page: Any) -> None:
    for name in ("web", "database API", "control worker", "beat", "spark worker", "Spark Connect"):
        page.get_by_text(name, exact=True).first.wait_for(timeout=10_000)
    assert page.complaints == []


def test_a_process_that_died_is_said_to_have_been_restarted(page: Any, console: Console) -> None:
    os.kill(console.processes()["beat"]["pid"], signal.SIGKILL)
    eventually(lambda: console.processes()["beat"]["restarts"] > 0, 20, console)
    eventually(lambda: console.processes()["beat"]["state"] == "running", 20, console)
    page.goto("/health/processes")
    row = page.get_by_role("row").filter(has_text="beat")
    assert "restarted" in row.inner_text() and "SIGKILL" in row.inner_text()


def test_a_slash_goes_to_the_search(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("weather")
    page.keyboard.press("Enter")
    page.wait_for_url("**/datasets/?q=weather**")
    assert page.get_by_role("link", name="delays_by_weather").first.is_visible()
