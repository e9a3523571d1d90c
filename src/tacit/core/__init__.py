"""What several families share; it knows no model."""
