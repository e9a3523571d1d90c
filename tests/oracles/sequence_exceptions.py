"""Checks of scikit-learn that do not hold for models of sequences of symbols, and why."""

# By the name of the check.
EXPECTED_FAILURES_OF_SYMBOLS = {
    "check_n_features_in_after_fitting": (
        "The check wants tables of other widths refused. Each row of a table is a sequence here, and "
        "sequences of other lengths are what such a model is asked about: prefixes above all."
    ),
    "check_fit1d": (
        "The check wants an array with one axis refused. Here that is one sequence of symbols."
    ),
}

# Of models that predict paths of hidden states.
EXPECTED_FAILURES_OF_PATHS = {
    **EXPECTED_FAILURES_OF_SYMBOLS,
    "check_fit2d_predict1d": (
        "The check wants an array with one axis refused. Here that is one sequence of symbols."
    ),
    "check_fit_idempotent": (
        "The check predicts rows of floats that were not in training. With categorical emissions these are "
        "symbols that nobody has seen, an error unless unknown='missing'."
    ),
}
