"""What is fitted: one tree, or several with weights."""
