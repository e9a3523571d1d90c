"""Language models: `KneserNeyLM`, `PowerLowRankLM`, `ClassLM`, `MixedLM`, `BackoffLM`.

- `data`: text as word numbers, vocabularies;
- `moments`: counts of n-grams, which add; `learn/counting` counts texts larger than memory;
- `model`: n-grams with back-off weights, discounts, power low rank ensembles;
- `learn`: Kneser-Ney smoothing, the steps of `PowerLowRankLM.fit` (`fit`), word classes, weights;
- `query`: scores of words and lines, next words, summaries; `language_queries` has what all models answer;
- `files`: ARPA files and folders of counts; `kenlm`: the interface of the module `kenlm`.
"""
