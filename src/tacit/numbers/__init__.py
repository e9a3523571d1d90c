"""Models of tables with columns of numbers: `KernelTree`, `GaussianTree`, mixtures, `TableImputer`.

* `kernel_tree`, `gaussian_tree`, `gaussian_mixture`: the estimators; `kernel_queries`, `gaussian_queries`:
  their queries; `summary`: what was learnt on a page; `model_files`: what files hold.
* `data`: normal scores, masked cells. `model`: frozen Gaussians and mixtures. `moments`: third moments.
* `learn/bins`, `learn/kernels`: latent trees of bins or of kernel features, with numbers of bins, bandwidths
  and ranks chosen by held-out rows. `learn/blend`: averaging with a Gaussian copula and nearest neighbours.
* `learn/gaussian_tree`: the steps of a Gaussian tree. `learn/mixture_fit`: the steps of a mixture.
* `fit_table`: the right model of a table. `table_imputer`, `imputer_files`, `learn/imputer`: gaps filled.
* `query`: densities, conditionals, quantiles and samples.
"""
