"""What was learnt: frozen tensors and tables."""
