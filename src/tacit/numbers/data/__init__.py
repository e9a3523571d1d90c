"""Normal scores, and cells masked for cross-validation."""
