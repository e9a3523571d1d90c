"""Model selection on held-out rows: structure, number of states, number of trees."""
