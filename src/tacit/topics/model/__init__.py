"""Topics and their weights."""
