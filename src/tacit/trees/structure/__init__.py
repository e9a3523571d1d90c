"""Trees over named variables, and how they are learnt from distances."""
