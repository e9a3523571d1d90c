"""Latent graphs with loops: `LatentJunctionTree`, `HigherOrderHMM`, `FactorialHMM`.

`structure` makes a junction tree of a graph; its hidden nodes stand for sets of variables, and the engine of
`tacit.messages` runs on it as on any tree. `learn` has the learners by name, `learn/plan` says what they
would cost, `model` the tables that several nodes share.
"""
