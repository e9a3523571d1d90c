"""Checks of scikit-learn that do not hold here, and why; the only place where any is excepted."""

# By the name of the check.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "The check gives the weight zero to rows of floats that all differ, and asks about them afterwards. "
        "A row of weight zero teaches nothing, so its values are unknown categories, which are an error "
        "unless unknown='missing' (the check passes then). That weights count like repeated rows is tested "
        "in test_tables.py."
    ),
}

# Of models whose structure is chosen by held-out rows.
EXPECTED_FAILURES_OF_SELECTION = {
    "check_sample_weight_equivalence_on_dense_data": (
        "The check wants equal predictions from weighted and from repeated rows. Held-out rows are drawn "
        "among the rows as given, so that they differ, and so may the structure chosen. That weights "
        "count like repeated rows where nothing is chosen is tested in test_gaussian_tree.py."
    ),
}

# Of models of sequences, for which an array with two axes is one sequence: its rows are positions.
EXPECTED_FAILURES_OF_SEQUENCES = {
    "check_methods_sample_order_invariance": (
        "The check shuffles rows and wants each answer to go with its row. Rows are the positions of one "
        "sequence here: their order is what is learnt, and score_samples has one answer for the sequence."
    ),
    "check_methods_subset_invariance": (
        "The check asks about batches of rows and wants the answers of all rows at once. A batch is a "
        "sequence of its own here, without what came before it. That a list of sequences is answered like "
        "each of them alone is tested in test_kernel_hmm.py."
    ),
    "check_fit1d": (
        "The check wants an array with one axis refused. Here that is one sequence of numbers."
    ),
}

# Of classifiers by likelihood.
EXPECTED_FAILURES_OF_CLASSIFIERS: dict[str, str] = {}
