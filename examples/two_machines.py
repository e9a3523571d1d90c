"""Two machines on one meter: who was running when?

Each machine is switched on and off by its own habits. All that is recorded is one meter, at ten times a day,
which shows whether none, the small one, the large one or both are running, and is wrong one time in eight. A
factorial hidden Markov model has one hidden chain for each machine. Its chains meet in every reading, so that
the graph is no tree, and learning and asking run over a junction tree.
"""

import numpy as np

import tacit

SHOWS = np.array(["nothing", "little", "much", "most"])


def days(n_days, rng):
    """Which machines run (day, time, machine), and the readings as a table."""
    stays = np.array([0.9, 0.7])  # the small machine is switched less often
    running = rng.random((n_days, 10, 2)) < 0.5
    for time in range(1, 10):
        same = rng.random((n_days, 2)) < stays
        running[:, time] = np.where(same, running[:, time - 1], ~running[:, time - 1])
    readings = running[..., 0] + 2 * running[..., 1]
    wrong = rng.random(readings.shape) < 1 / 8
    readings[wrong] = rng.integers(4, size=wrong.sum())
    return running, {f"time{time}": SHOWS[readings[:, time]] for time in range(10)}


rng = np.random.default_rng(0)
_, train = days(2000, rng)
running, test = days(2000, rng)

model = tacit.FactorialHMM(n_chains=2, n_states=2, homogeneous=True)
print(model.plan(train))
try:
    tacit.FactorialHMM(n_chains=12, n_states=4).plan(train)
except tacit.TacitError as error:
    print(f"\nTwelve machines of four settings would be too many:\n  {error}")

print("\nnats per day that was not learnt from:")
chain = tacit.HigherOrderHMM(order=1, n_states=2, homogeneous=True)
for name, candidate in {
    "one chain of two states": chain,
    "two chains of two states": model,
}.items():
    print(f"  {candidate.fit(train).score(test):.3f}  {name}")

print("\naccuracy for each machine (chains and states are matched, because they have no names):")
chances = model.posterior(test)
for machine, size in enumerate(("small", "large")):
    agreements = []
    for letter in "ab":
        said = np.stack([chances[f"{letter}{time}"][:, 1] for time in range(10)], axis=1) > 0.5
        right = np.mean(said == running[..., machine])
        agreements.append(max(right, 1 - right))
    print(f"  the {size} machine: {max(agreements):.0%}")
