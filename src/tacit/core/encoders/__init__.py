"""Numbers as vectors: bins, kernels, bumps, smooth margins."""
