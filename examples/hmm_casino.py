"""The casino that is sometimes unfair: when was the loaded die in play?

The dealer swaps a fair die for a loaded one now and then, and only the rolls are seen. A hidden Markov model
learns both dice and how often they are swapped from one run of rolls, and tells of other rolls which die
each came from. hmmlearn's gallery has the same casino.
"""

import numpy as np

import tacit

TRANSITIONS = np.array([[0.95, 0.05], [0.1, 0.9]])  # P(next die | die): fair, loaded
DICE = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])  # P(roll | die)


def play(n_rolls, rng):
    """Which die each roll came from (0 fair, 1 loaded), and the rolls."""
    dice, die = np.zeros(n_rolls, dtype=int), 0
    for t in range(1, n_rolls):
        die = dice[t] = rng.choice(2, p=TRANSITIONS[die])
    return dice, np.array([rng.choice(6, p=DICE[die]) + 1 for die in dice])


rng = np.random.default_rng(0)
_, train = play(15_000, rng)
dice, rolls = play(15_000, rng)

model = tacit.HMM().fit([train])  # a list of sequences: here of one
print(f"{model.n_states_} dice, the number that predicts held-out rolls best:")
loaded = model.emissions_[:, model.symbols_.index(6)].argmax()
for state, (probabilities, stays) in enumerate(
    zip(model.emissions_, np.diag(model.transitions_), strict=True)
):
    name = "loaded" if state == loaded else "fair"
    shown = " ".join(f"{probability:.2f}" for probability in probabilities)
    print(f"  {name:6} P(1 to 6) = {shown}, stays in play with {stays:.2f}")

path = model.predict(rolls)  # Viterbi
chances = model.posterior(rolls)[:, loaded]  # P(loaded | all rolls) of each roll
print("\nrolls that were not learnt from, decoded right:")
print(f"  {np.mean((path == loaded) == dice):.1%} by the most likely path (Viterbi)")
print(f"  {np.mean((chances > 0.5) == dice):.1%} by the posterior of each roll")
print(f"  {np.mean(dice == 0):.1%} if all were called fair")

marks = np.array(list(".L"))
print("\nthe first of them, the dice that were in play (L loaded), and the path:")
for line in (rolls.astype(str), marks[dice], marks[(path == loaded).astype(int)]):
    print("  " + "".join(line[:90]))
