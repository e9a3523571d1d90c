"""Any column given any others, from one model of a real table.

The table: 569 breast tumours, thirty measurements of their cells cut into low, middle and high, and the
diagnosis. A classifier answers one query; this model answers several, given whatever is known.
"""

import numpy as np

import tacit

table = tacit.datasets.breast_cancer_table()
train = {name: column[::2] for name, column in table.items()}
test = {name: column[1::2] for name, column in table.items()}
model = tacit.LatentTree().fit(train)
print(f"mean log-likelihood of a held-out row: {model.score(test):.2f} nats")

print("\nP(diagnosis = malignant), the more is known:")
known = {}
for name, value in {"worst_area": "high", "worst_texture": "low", "mean_symmetry": "low"}.items():
    known[name] = value
    chance = model.query("diagnosis", given=known)["malignant"]
    said = ", ".join(f"{column}={cell}" for column, cell in known.items())
    print(f"  {chance:.2f}  given {said}")

print("\nIn the other direction, and with uncertain evidence:")
for evidence in (
    {"diagnosis": "malignant"},
    {"diagnosis": "malignant", "worst_texture": {"low", "middle"}},  # one of two
    {"diagnosis": [0.1, 0.9]},  # P(what was seen | benign), P(what was seen | malignant)
):
    chance = model.query("worst_area", given=evidence)["high"]
    print(f"  P(worst_area = high) = {chance:.2f}  given {evidence}")

print("\nThe diagnosis from ever fewer of the thirty measurements:")
rng = np.random.default_rng(0)
truth = np.array(test["diagnosis"])
measured = [name for name in table if name != "diagnosis"]
for n_columns in (30, 10, 3, 1):
    cells = {name: test[name] for name in rng.permutation(measured)[:n_columns]}
    chances = model.predict_proba(cells, target="diagnosis")
    said = np.array(model.categories_["diagnosis"])[chances.argmax(axis=1)]
    print(f"  {n_columns:2} columns: {np.mean(said == truth):.0%} right")
