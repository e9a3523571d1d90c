"""`tacit parse`: brackets without a treebank."""
