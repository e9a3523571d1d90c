"""Calm and restless markets: daily returns of stocks, and what the state of today says of tomorrow.

A state has a mean and a variance of the day's return. Two states, learnt from the returns alone, are
calm and restless times; the model says when they changed, and how wide the returns to come will spread.
"""

from itertools import pairwise

import numpy as np

import tacit


def drawn(n_days, rng):
    """Days and returns of no market at all: calm and restless times drawn by lot."""
    restless = np.zeros(n_days, dtype=bool)
    for t in range(1, n_days):
        restless[t] = restless[t - 1] ^ (rng.random() < (0.04 if restless[t - 1] else 0.01))
    days = np.datetime64("2000-01-01") + np.arange(n_days)
    return days, rng.normal(np.where(restless, -0.1, 0.1), np.where(restless, 2.5, 0.8))


try:
    closes = tacit.datasets.load_sp500()
    days = closes.pop("date")[1:]
    returns = 100 * np.diff(np.log(np.column_stack(list(closes.values()))), axis=0).mean(axis=1)
    print(f"{len(closes)} stocks of the S&P 500, the mean of their daily returns in percent")
except tacit.errors.MissingDataError as error:
    days, returns = drawn(4000, np.random.default_rng(0))
    print(f"DRAWN returns, of no market: {error}")
past = days < days[-250]  # the last 250 days are not learnt from

model = tacit.HMM(n_states=2).fit(returns[past])
spreads = np.sqrt(model.covariances_[:, 0, 0])
restless = spreads.argmax()
for state in range(2):
    name = "restless" if state == restless else "calm"
    mean, stays = model.means_[state, 0], model.transitions_[state, state]
    print(
        f"  {name:8} days: {mean:+.2f} ± {spreads[state]:.2f} %, {1 / (1 - stays):.0f} days in a row"
    )

print("\nrestless for more than 60 days, with P(a change on just that day):")
changes = model.change_points(returns[past])
for begin, end in pairwise(changes):
    if begin.after == restless and end.position - begin.position > 60:
        first, after = (f"{days[c.position]} ({c.probability:.2f})" for c in (begin, end))
        print(f"  from {first}, calm from {after}")

print("\nthe next return, nine times of ten, after the calmest and the most restless day:")
chances = model.filter(returns[past])[:, restless]  # given the returns up to that day
for t in (chances.argmin(), chances.argmax()):
    for steps in (1, 20):
        low, high = model.quantiles(returns[: t + 1], [0.05, 0.95], steps=steps)
        print(f"  {days[t]}, {steps:2} days ahead: {low:+.1f} to {high:+.1f} %")

low, high = model.quantiles(returns, [0.05, 0.95], all_positions=True)[~past].T
inside = np.mean((low < returns[~past]) & (returns[~past] < high))
print(f"\nof the last {np.sum(~past)} returns, {inside:.0%} were in the interval of the day before")
