"""What web servers log of a request: never what it asks for."""

from __future__ import annotations

import logging

import pytest
from gunicorn.config import Config

from console import gunicorn_settings
from console.weblog import WithoutQuery


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ('"%s" %s %s', ("GET /api/v1/datasets?uri=postgres://me:hunter2@db HTTP/1.1", "400", "7")),
        ("Error handling request %s %s", ("GET", "/api/v1/datasets?uri=postgres://me:hunter2@db")),
        ("Invalid request from ip=127.0.0.1: Invalid HTTP Version: 'hunter2@db HTTP/1.1'", ()),
        ("Invalid request from ip=127.0.0.1: Invalid HTTP request line: 'GET /?uri=a hunter2 b'", ()),
    ],
)
def test_a_query_is_not_logged(message: str, arguments: tuple[str, ...]) -> None:
    record = logging.LogRecord("gunicorn.error", logging.WARNING, "", 1, message, arguments, None)
    assert WithoutQuery().filter(record)
    assert "hunter2" not in record.getMessage()


def test_other_messages_stay_as_they_are() -> None:
    record = logging.LogRecord("gunicorn.error", logging.INFO, "", 1, "Listening at: %s (%s)", ("x", 7), None)
    assert WithoutQuery().filter(record)
    assert record.getMessage() == "Listening at: x (7)"


def test_gunicorns_access_log_names_the_path_alone() -> None:
    with_a_query = ("%(r)s", "%(q)s", "%(f)s", "%({raw_uri}e)s")
    assert not [each for each in with_a_query if each in gunicorn_settings.access_log_format]
    logger = gunicorn_settings.logger_class(Config())
    assert any(isinstance(each, WithoutQuery) for each in logger.error_log.filters)
