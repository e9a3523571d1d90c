"""BIF, and networks as arrays."""
