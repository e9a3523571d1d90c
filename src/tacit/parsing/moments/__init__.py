"""Inside and outside features, pairs and runs of tags."""
