"""Learning grammars and parsers."""
