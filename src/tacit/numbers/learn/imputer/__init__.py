"""Which model for which table, and what else fills its gaps."""
