"""Experiments with parsers and grammars (thesis, chapter 8; slides)."""
