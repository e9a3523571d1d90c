"""Commands that ask a fitted model."""
