"""What hangs on what: trees over named variables."""
