"""`tacit grammar`: grammars learnt from a treebank."""
