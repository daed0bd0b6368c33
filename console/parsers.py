"""Reading the bodies of API requests: JSON of a stated size, and a clear refusal of everything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from tenure.errors import TooLarge


class BoundedJSONParser(JSONParser):
    """JSON up to `DATA_UPLOAD_MAX_MEMORY_SIZE` bytes: Django's own limit does not hold for streams."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The parsed body; raises `TooLarge` or `ParseError`."""
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        request = (parser_context or {})["request"]
        if int(request.META.get("CONTENT_LENGTH") or 0) > limit:
            raise TooLarge(f"A request's body holds up to {limit:,} bytes.")
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("JSON parse error - it is nested too deeply") from None
        except LookupError as error:
            raise ParseError(f"JSON parse error - {error}") from None
