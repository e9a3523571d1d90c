"""Rules of a grammar, bracketings that need no learning."""
