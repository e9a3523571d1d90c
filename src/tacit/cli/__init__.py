"""The command line: one module per sub-command; what is heavy is imported when a command runs."""

from tacit.cli.program import app, main

__all__ = ["app", "main"]
