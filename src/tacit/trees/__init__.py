"""Latent trees over columns of categories: `LatentTree`, `LatentClass`, `ChowLiuTree`.

Which tree? `structure` (topologies, distances, neighbour joining) and `learn/structures`. What is counted?
`moments`. How are parameters learnt? `learn`: `starts`, `spectral` and `em`, by name in `learn/learners`;
structure, number of states and number of trees are chosen in `learn/selection`. What can be asked?
`tree_model`, on the passes of `tacit.messages`. BIF files are in `files`.
"""
