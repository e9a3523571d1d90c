"""Joint tables of columns, and moments of features: planned, counted, added."""
