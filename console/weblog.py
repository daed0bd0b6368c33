"""What web servers may write down of a request: its path, and not what it asks for."""

from __future__ import annotations

import logging
import re

_ASKED = re.compile(r"\?.*|: ['\"].*")


class WithoutQuery(logging.Filter):
    """Cuts what follows a question mark: `?uri=…` may name a URI with a password in it.

    And what a server quotes of a request that it cannot read, which may begin anywhere in that.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record, and let it through."""
        record.msg, record.args = _ASKED.sub("…", record.getMessage()), ()
        return True
