"""Models of sequences: `HMM`, `KernelHMM`, `WeightedAutomaton`, `ProbabilisticAutomaton`.

Sequences are read in `data`; their windows and prefixes are counted in `moments`. `learn/fit` lists the steps
of fitting an HMM; starts, spectral learning and EM have folders beside it. `model` has the parameter types,
`emissions` what states emit, `query` filtering, smoothing, Viterbi paths, forecasts and sampling.
"""
