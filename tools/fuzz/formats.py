"""Targets of the other file formats."""


def format_targets():
    return []
