"""Documents as word counts."""
