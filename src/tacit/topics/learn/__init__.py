"""Learning topics."""
