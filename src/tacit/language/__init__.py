"""Language models: `KneserNeyLM`, `PowerLowRankLM`, `ClassLM`, `MixedLM`, `BackoffLM`.

Text becomes word numbers in `data`, n-grams are counted in `moments` (on disk: `learn/counting`). `model` has
back-off models, Kneser-Ney smoothing and power low rank ensembles, `learn` the low rank factors, ensemble
weights and word classes. `query` scores words and lines. ARPA and counts folders are in `files`.
"""
