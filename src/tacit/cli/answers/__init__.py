"""Answers of models as commands print them, one module for each kind of data."""
