"""Writing text in which one character separates and may yet be data, changing as little as can be.

Percent-decoded keys are joined by slashes; a slash inside a part is then written `%2F`, and a `%2F`
that was there already `%252F`, one `25` more for each level. All other text stays as it is, so that
names look as they do in the store, and the two functions undo each other for every text.
"""

from __future__ import annotations

import re


def hide(text: str, character: str) -> str:
    """The text without `character`."""
    code = f"{ord(character):02X}"
    if code in text:
        text = re.sub(f"%((?:25)*{code})", r"%25\1", text)
    return text.replace(character, f"%{code}")


def reveal(text: str, character: str) -> str:
    """The text that `hide` was given."""
    code = f"{ord(character):02X}"
    if f"%{code}" not in text and f"25{code}" not in text:
        return text
    return re.sub(
        f"%((?:25)*){code}", lambda found: f"%{found[1][2:]}{code}" if found[1] else character, text
    )
