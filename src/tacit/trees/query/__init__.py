"""Evidence from the arguments of a query, and the summary of a model."""
