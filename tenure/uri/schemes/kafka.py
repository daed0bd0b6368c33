"""Topics of Apache Kafka: `kafka://{bootstrap host}[:{port}]/{topic}`.

Source: OpenLineage's naming; the port is Kafka's own, and topics are named as Kafka allows it.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "kafka",
    Host(9092),
    Path(("topic",), pattern=r"[A-Za-z0-9._-]{1,249}"),
    Names("kafka://{authority}", "{topic}"),
)


def kafka(*, host: str, port: int = 9092, topic: str) -> DatasetURI:
    """A topic; `host` is one bootstrap server."""
    return SCHEME.build({"host": host, "port": port, "topic": topic})
