"""Model files: atomic writing, JSON values, headers, loading by class name."""
