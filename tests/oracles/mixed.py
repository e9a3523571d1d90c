"""Mixed tables, and somebody who knows them but for some noise."""

import numpy as np


def made_rows(n=1200, seed=0, n_columns=6):
    """Numbers that hang together by straight lines, and a category that goes with them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    numbers = hidden @ np.random.default_rng(99).normal(size=(2, n_columns))
    numbers += 0.3 * rng.normal(size=numbers.shape)
    group = np.where(hidden[:, 0] > 0, "up", "down")
    return {**{f"x{j}": column for j, column in enumerate(numbers.T)}, "group": group}


def answering(truth, noise, seed=0):
    """A tree that knows the truth of all rows, but for noise in numbers and doubt in categories."""
    rng = np.random.default_rng(seed)

    def ask(table):
        answers = {}
        for column in range(len(table.schema)):
            values = truth.column(column)
            if column in table.schema.continuous:
                answers[column] = values + noise * rng.normal(size=len(values))
            else:
                sure = 1 - 0.5 * min(noise, 1)
                n = table.schema.cards[column]
                right = values[:, None] == np.arange(n)
                answers[column] = np.where(right, sure, (1 - sure) / (n - 1))
        return answers

    return ask
