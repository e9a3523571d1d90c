"""Texts as sequences of characters."""


def letters(texts):
    """A list of characters for each text."""
    return [list(text) for text in texts]
