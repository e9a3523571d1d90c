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
