"""EM for HMMs and automata."""
