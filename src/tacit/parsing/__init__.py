"""Parsing: `SpanParser` and `ConstituentContextModel` without trees, `LatentPCFG` from a treebank.

Treebanks and tagged sentences are read in `data`. Brackets without trees: `structure` (branching, shortest
trees, groups of tags) and `learn/tag_metric`. Grammars: rules in `structure`, inside and outside features in
`moments`, learners joined in `learn/fit`, parsing and marginals in `query`.
"""
