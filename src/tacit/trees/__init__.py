"""Latent trees over columns of categories: `LatentTree`, `LatentClass`, `ChowLiuTree`.

Which tree? `structure`: topologies, distances, neighbour joining. What is counted? `moments`. How are
parameters learnt? `learn`: `starts`, `spectral` and `em`, by name in `learn/learners`; structure, number of
states and number of trees are selected in `learn/selection`. Which queries? `tree_model`, on the passes of
`tacit.messages`. BIF files are in `files`.
"""
