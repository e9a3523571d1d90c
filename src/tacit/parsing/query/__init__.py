"""Parses, posteriors of spans, F1 of brackets."""
