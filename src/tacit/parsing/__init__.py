"""Parsing: `SpanParser` and `ConstituentContextModel` without trees, `LatentPCFG` from a treebank.

- Reading treebanks, tagged sentences, tags and word vectors: `data`.
- Brackets without learning, the shortest tree over words, rules of grammars: `structure`.
- What is counted (pairs, runs and spans of tags, inside and outside features of nodes): `moments`.
- Learnt values (distances and chunks of tags, ratios of spans, grammars): `model`; files: `model_files`.
- Trees of sentences, posteriors of spans, F1 of brackets, summaries: `query`.
- The steps of `LatentPCFG.fit` in order: `learn/fit`. `SpanParser`: the metric in `learn/tag_metric`, groups
  in `learn/tag_chunks`. EM of `ConstituentContextModel`: `learn/constituent_context`.
"""
