"""Grammars, distances and chunks of tags."""
