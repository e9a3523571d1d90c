"""Values noted in the properties of a BIF file, in a form that other programs preserve.

Such programs remove quotes, cut at semicolons and equal signs, and change spaces; so a note has none
of these: a letter for the type, a colon, and the value with every unusual byte of its UTF-8 as %XX.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes

from tacit.errors import FileFormatError

_NOTE = re.compile(r"([sifb]):([A-Za-z0-9_.%+-]*)")


def value_note(value: str | float) -> str:
    """The note of a text, integer, float or boolean.

    Examples
    --------
    >>> value_note("a; b"), value_note(3), value_note(False)
    ('s:a%3B%20b', 'i:3', 'b:False')
    """
    if isinstance(value, str):
        return "s:" + quote_from_bytes(value.encode("utf-8", "surrogatepass"), safe="").replace(
            "~", "%7E"
        )
    kind = "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "f"
    return f"{kind}:{value!r}"


def noted_value(note: str) -> Any:
    """The value of a note; a `FileFormatError` where it is none.

    Examples
    --------
    >>> noted_value("s:a%3B%20b"), noted_value("f:0.5")
    ('a; b', 0.5)
    """
    match = _NOTE.fullmatch(note.strip())
    if match is None:
        raise FileFormatError(f"{note.strip()!r} is not the note of a value")
    kind, text = match.groups()
    try:
        if kind == "s":
            return unquote_to_bytes(text).decode("utf-8", "surrogatepass")
        if kind == "b":
            return {"True": True, "False": False}[text]
        return int(text) if kind == "i" else float(text)
    except (KeyError, ValueError) as error:
        raise FileFormatError(f"{note.strip()!r} is not the note of a value") from error
