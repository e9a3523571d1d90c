"""The lower half of a handwritten digit from its upper half.

Thirty kinds of pictures, over 64 pixels (white, grey or black) and the digit itself, are learnt from 1,200
pictures. Of others the model sees the upper half only; it fills in the lower half, and says which digit it
takes it for. (Quick and simple. `tacit.LatentTree()` takes ten times as long, learns a mixture of trees, and
finds pictures that it has not seen far likelier.)
"""

import numpy as np

import tacit

SHADES = {"white": "  ", "grey": "░░", "black": "██"}
UPPER = [f"r{row}c{column}" for row in range(4) for column in range(8)]
LOWER = [f"r{row}c{column}" for row in range(4, 8) for column in range(8)]


def lines(cells):
    """A picture of eight lines, from pixels by name."""
    return ["".join(SHADES[cells[f"r{r}c{c}"]] for c in range(8)) for r in range(8)]


table = tacit.datasets.digits_table()
train = {name: column[:1200] for name, column in table.items()}
test = {name: column[1200:] for name, column in table.items()}
model = tacit.LatentClass(n_states=30).fit(train)

halves = {name: test[name] for name in UPPER}
filled = model.impute(halves)  # columns that are absent are filled in too
right = np.mean([np.mean(np.array(filled[name]) == test[name]) for name in LOWER])
usual = []
for name in LOWER:
    values, counts = np.unique(train[name], return_counts=True)
    usual.append(np.mean(test[name] == values[counts.argmax()]))
print(
    f"pixels of the lower halves that are right: {right:.0%} (most frequent shade: {np.mean(usual):.0%})"
)
digits = np.array(filled["digit"], dtype=int)
print(
    f"digits recognised from the upper half alone: {np.mean(digits == test['digit']):.0%} (chance: 10%)"
)

for row in (0, 4, 12):
    true = lines({name: test[name][row] for name in UPPER + LOWER})
    guess = lines({name: filled[name][row] for name in UPPER + LOWER})
    print(
        f"\na {test['digit'][row]}, taken for a {digits[row]}: the picture, and its lower half filled in"
    )
    for number, (left, other) in enumerate(zip(true, guess, strict=True)):
        print(f"  |{left}|   |{other}|{'' if number < 4 else ' <-'}")
