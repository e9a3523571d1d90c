"""Text as word numbers."""
