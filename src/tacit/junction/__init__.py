"""Latent graphs with loops: `LatentJunctionTree`, `HigherOrderHMM`, `FactorialHMM`.

* `latent_junction_tree`, `structured_hmms`: the estimators; their queries are those of `tacit.trees`.
* `files`: graphs from text. `structure`: a graph becomes a junction tree, whose hidden nodes are sets of
  variables, so that `tacit.messages` runs on it as on any tree.
* `moments`: moments of homogeneous chains. `model`: tables whose parameters are shared.
* `learn/learners`: the learners by name (spectral, EM, online EM, "auto"); `learn/start`: the moment start;
  `learn/separators`: bases of spectral learning; `learn/plan`: treewidth and cost beforehand.
"""
