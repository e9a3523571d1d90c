"""Models of sequences: `HMM`, `KernelHMM`, `WeightedAutomaton`, `ProbabilisticAutomaton`.

Sequences are read in `data`, windows and prefixes of them counted in `moments`. `learn/fit` lists the steps
of fitting an HMM; starts, spectral learning and EM are in folders of their own beside it. `model` has the
parameter types, `query` filtering, smoothing, Viterbi paths, forecasts and sampling.
"""
