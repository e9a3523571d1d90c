"""Numbers as features: bins, kernels, bumps, marginal distributions."""
