"""Exchange with hmmlearn."""
