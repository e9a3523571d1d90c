"""Graphs from text."""
