"""The tags by which scikit-learn knows estimators of text."""

from __future__ import annotations

from typing import Any


class TakesText:
    """A base of estimators that lines, sentences or trees go into, as into `CountVectorizer`; no tables."""

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: text goes in, no tables."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
