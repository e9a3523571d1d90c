"""`tacit lm`: language models."""
