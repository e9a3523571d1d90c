"""Commands that take a fitted model of any kind, one module each; `tacit.cli.answers` has what they print."""
