"""Parameters of chains and automata."""
