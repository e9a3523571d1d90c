"""Models of columns of numbers: `KernelTree`, `GaussianTree`, `GaussianMixtureMoments`.

`KernelTree` hangs numbers and categories on a latent tree, seen through kernels or bins (`learn/bins`,
`learn/kernel_moments`) and blended with a Gaussian copula and nearest neighbours. `GaussianTree` is a
Gaussian along a tree, of normal scores. `query` answers densities, means, quantiles and conditionals.
"""
