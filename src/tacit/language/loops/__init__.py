"""Compiled loops of language models: tokens, counting, look-ups."""
