"""Major earthquakes, year by year: times that are calm and times that are not.

The counts of earthquakes of magnitude 7 and above in the years 1900 to 2006 (US Geological Survey) vary more
than one Poisson rate allows, and busy years follow busy years. Each hidden state has a rate of its own. The
same series is in Zucchini and MacDonald, *Hidden Markov Models for Time Series*, and in hmmlearn's gallery.
"""

import numpy as np

import tacit

COUNTS = np.fromstring(
    "13 14 8 10 16 26 32 27 18 32 36 24 22 23 22 18 25 21 21 14 8 11 14 23 18 17 19 20 22 19 13 26 13 14 22 "
    "24 21 22 26 21 23 24 27 41 31 27 35 26 28 36 39 21 17 22 17 19 15 34 10 15 22 18 15 20 15 22 19 16 30 "
    "27 29 23 20 16 21 21 25 16 18 15 18 14 10 15 8 15 6 11 8 7 18 16 13 12 13 20 15 16 12 18 15 16 13 15 "
    "16 11 11",
    dtype=int,
    sep=" ",
)
FIRST = 1900

print(f"{len(COUNTS)} years: mean {COUNTS.mean():.1f}, variance {COUNTS.var():.1f}")
models = []
for n_states in (1, 2, 3, 4):  # stationary: 1900 is a year like any other
    models.append(tacit.HMM(n_states, emissions="poisson", stationary=True).fit([COUNTS]))
    score, bic = models[-1].score([COUNTS]), models[-1].bic([COUNTS])
    print(f"  {n_states} states: log-likelihood {score:.1f}, BIC {bic:.1f}")
model = min(models, key=lambda model: model.bic([COUNTS]))
held_out = tacit.HMM(emissions="poisson", stationary=True).fit([COUNTS])
print(f"HMM() finds that {held_out.n_states_} predict held-out years as well as more do")
print(f"the least BIC is that of {model.n_states_} states:")

for state in np.argsort(model.rates_[:, 0]):
    rate, stays = model.rates_[state, 0], model.transitions_[state, state]
    print(
        f"  state {state}: {rate:.1f} earthquakes a year, lasts {1 / (1 - stays):.0f} years on average"
    )

print("\nchanges on the most likely path, with P(a change in just that year):")
for change in model.change_points(COUNTS):
    year = FIRST + change.position
    print(f"  {year}: state {change.before} to {change.after}, {change.probability:.2f}")

low, high = model.quantiles(COUNTS, [0.05, 0.95])
print(
    f"\n2007: {model.expectation(COUNTS):.1f} expected, nine times of ten {low:.0f} to {high:.0f}"
)

try:
    axes = tacit.plot.states(model, COUNTS)
except tacit.errors.DependencyError as error:
    print(f"no picture: {error}")
else:
    axes.set_xticks(range(0, len(COUNTS), 20), range(FIRST, FIRST + len(COUNTS), 20))
    axes.set_xlabel("year")
    axes.figure.savefig("earthquakes.png", dpi=150)
    print("picture of the states: earthquakes.png")
