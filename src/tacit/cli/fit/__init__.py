"""`tacit fit`: a module per model."""
