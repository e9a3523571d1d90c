"""Learning models of numbers: bins, kernels, Gaussians, mixtures."""
