"""Message passing on a rooted tree, for all tree models.

`rooted_tree` numbers the nodes, `network` holds tensors or probability tables at them (`mixture`: several
networks with weights), `evidence` says what was observed of each row. `passes` runs up and down;
`conditionals`, `joint`, `hidden_states` and `sampling` answer from the two passes. `patterns` finds the
distinct subtrees of the rows, over which `em` and `online_em` compute expected counts.
"""
