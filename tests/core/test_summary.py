"""Summaries: the same facts as text and as HTML."""

import numpy as np

from tacit.core.summary import Section, Summary, profile


def test_a_summary_is_text_with_aligned_columns_and_html_with_the_same_cells():
    page = Summary(
        "Model: 2 states",
        [
            Section("fit", facts={"score": -1.5, "converged": True}),
            Section("states", columns=["state", "weight"], rows=[["a<b", 0.25], ["c", 0.75]]),
        ],
    )
    lines = str(page).splitlines()
    assert lines[0] == "Model: 2 states"
    assert "  state  weight" in lines
    assert "  a<b      0.25" in lines
    shown = page._repr_html_()
    assert "<h3>Model: 2 states</h3>" in shown
    assert "<td>a&lt;b</td><td>0.25</td>" in shown
    assert "<td>converged</td><td>yes</td>" in shown


def test_a_profile_tells_what_is_more_likely_in_a_state_than_overall():
    tables = {"x": np.array([[0.9, 0.1], [0.2, 0.8]]), "y": np.array([[0.5, 0.5], [0.5, 0.5]])}
    overall = {"x": np.array([0.55, 0.45]), "y": np.array([0.5, 0.5])}
    names = {"x": ("a", "b"), "y": ("c", "d")}
    actual = profile(tables, overall, names, 2)
    assert actual == [[("x", "a", 0.9, 0.55)], [("x", "b", 0.8, 0.45)]]
