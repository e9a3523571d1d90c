"""Numbers as features: bins, kernels, bases of densities, marginal distributions."""
