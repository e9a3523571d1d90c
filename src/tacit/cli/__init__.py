"""The command line: one module per sub-command; heavy imports happen when a command runs."""

from tacit.cli.program import app, main

__all__ = ["app", "main"]
