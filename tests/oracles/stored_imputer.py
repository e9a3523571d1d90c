"""Writes the stored file of an imputer, and what it fills before it is saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from tacit import TableImputer

FOLDER = Path(__file__).parents[1] / "files" / "stored"
NAME = "table-imputer-3"


def rows(n_rows=80, seed=0):
    """Numbers, counts, dates and categories that all lean on one number; a column without a value."""
    rng = np.random.default_rng(seed)
    z = rng.choice([-1.0, 1.0], size=n_rows)
    noise = rng.normal(size=(n_rows, 3))
    there = rng.random((n_rows, 3)) < 0.8
    days = np.datetime64("2024-01-01") + (20 * (z + noise[:, 1])).round().astype(int)
    return {
        "x": np.where(there[:, 0], (z + noise[:, 0]).round(6), np.nan).tolist(),
        "day": [
            day if is_there else None
            for day, is_there in zip(days.tolist(), there[:, 1], strict=True)
        ],
        "empty": [None] * n_rows,
        "size": np.where(
            there[:, 2], np.array(["s", "m", "l"])[np.digitize(z, [-0.5, 0.5])], None
        ).tolist(),
        "calls": rng.poisson(30 + 10 * z).tolist(),
    }


def answers(imputer):
    """What depends on everything that is stored; without forests, which follow scikit-learn's version."""
    queries = {name: column[:20] for name, column in rows(seed=1).items()}
    filled = imputer.model_.impute({name: queries[name] for name in imputer.schema_.names})
    forests = imputer.forests_
    return {
        "columns": list(imputer.columns_),
        "names out": imputer.get_feature_names_out().tolist(),
        "schema": imputer.schema_.to_json(),
        "filled": {name: [str(value) for value in filled[name]] for name in ("day", "size")},
        "numbers": [round(value, 9) for value in filled["x"]],
        "shares": None if forests is None else forests.shares.tolist(),
        "observed": None if forests is None else forests.observed.sum(axis=0).tolist(),
        "summary": str(imputer.summary()),
    }


def fitted():
    """The imputer of the file."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableImputer(columns={"calls": "count"}, add_indicator=True).fit(rows())


if __name__ == "__main__":
    imputer = fitted()
    imputer.save(FOLDER / f"{NAME}.tacit")
    text = json.dumps(answers(imputer), indent=1)
    (FOLDER / f"{NAME}.json").write_text(text + "\n", encoding="utf-8")
