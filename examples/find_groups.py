"""Groups that nobody wrote down: three growers of wine, from chemistry alone.

Thirteen measurements of 178 wines, cut into low, middle and high, some of them erased. Latent classes are
learnt without the growers' names; afterwards the classes are compared with the growers.
"""

import numpy as np
from sklearn.datasets import load_wine

import tacit

wine = load_wine()
words = np.array(["low", "middle", "high"], dtype=object)
table = {}
rng = np.random.default_rng(0)
for name, values in zip(wine.feature_names, wine.data.T, strict=True):
    column = words[np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values)]
    column[rng.random(len(column)) < 0.1] = None  # a tenth of the cells is missing
    table[name] = column

chosen = tacit.LatentClass().fit(table)  # tries several numbers of classes on rows set aside
for candidate in chosen.diagnostics_["candidates"]:
    print(f"{candidate['n_states']} classes: {candidate['score']:.2f} nats per row set aside")

# Most is gained up to three; more classes would divide these further.
model = tacit.LatentClass(3).fit(table)
chances = model.posterior(table)["h"]
groups = chances.argmax(axis=1)
print("\n3 classes; how many wines of each grower are in each:")
for label in range(3):
    counts = np.bincount(wine.target[groups == label], minlength=3)
    print(f"  class {label}: {counts.tolist()}")

print("\nWhat each class looks like, by the columns that tell them apart most:")
tables = {name: model.tables_.table(place) for place, name in enumerate(table)}
spread = {name: np.ptp(rows, axis=0).sum() for name, rows in tables.items()}
for name in sorted(spread, key=spread.get, reverse=True)[:4]:
    likely = [model.categories_[name][code] for code in tables[name].argmax(axis=1)]
    print(f"  {name}: {', '.join(likely)}")
