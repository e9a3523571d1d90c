"""Arrays of chains, symbols as JSON, hmmlearn."""
