"""Learning HMMs and automata."""
