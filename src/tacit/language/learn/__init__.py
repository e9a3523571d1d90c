"""Low rank factors, ensemble weights, word classes, counting."""
