"""In and out: model files, BIF, text formats."""
