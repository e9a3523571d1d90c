"""Numbers and words in one table, with gaps: what thirteen measurements say of 178 wines.

The measurements stay numbers, with whatever densities they have; the grower is a word; a tenth of the
measurements is erased before anything is learnt. One model then tells densities, means, quantiles and
chances, and fills the gaps.
"""

import numpy as np
from sklearn.datasets import load_wine

import tacit

wine = load_wine()
names = [name.replace("od280/od315_of_diluted_wines", "dilution") for name in wine.feature_names]
rng = np.random.default_rng(0)
hidden = rng.random(wine.data.shape) < 0.1
table = dict(zip(names, np.where(hidden, np.nan, wine.data).T, strict=True))
table["grower"] = np.array(["Aldo", "Bice", "Ciro"])[wine.target]
tested = np.arange(len(wine.target)) % 4 == 0
train = {name: column[~tested] for name, column in table.items()}
test = {name: column[tested] for name, column in table.items()}

model = tacit.KernelTree().fit(train)
gaussian = tacit.GaussianTree().fit(train)
print("log density of a wine that was not learnt from:")
for fitted in (model, gaussian):
    print(f"  {fitted.score(test):.2f}  {fitted}")

print("\nalcohol in a wine of each grower, as a density from 11 % to 15 %:")
growers = {"grower": ["Aldo", "Bice", "Ciro"]}
_, densities = model.conditional_density(growers, "alcohol", np.linspace(11, 15, 41))
means, quantiles = model.expectation(growers, "alcohol"), model.quantiles(growers, "alcohol")
for name, density, mean, (low, _, high) in zip(
    growers["grower"], densities, means, quantiles, strict=True
):
    curve = "".join(" ▁▂▃▄▅▆▇█"[round(8 * value)] for value in density / density.max())
    print(f"  {name} |{curve}| mean {mean:.1f}, nine of ten from {low:.1f} to {high:.1f}")

print("\nthe grower, the more is measured:")
known = {}
for name, value in {"alcohol": 12.2, "color_intensity": 6.0, "hue": 0.6}.items():
    known[name] = value
    said = ", ".join(f"{column} {number}" for column, number in known.items())
    chances = " ".join(
        f"{who} {chance:.2f}" for who, chance in model.query("grower", known).items()
    )
    print(f"  {chances}  given {said}")

filled = model.impute(test)
errors, usual = [], []
for name, truth in zip(names, wine.data[tested].T, strict=True):
    gap, unit = np.isnan(test[name]), np.std(truth)
    errors.extend(np.abs(filled[name] - truth)[gap] / unit)
    usual.extend(np.abs(np.nanmean(train[name]) - truth)[gap] / unit)
print(f"\nmean error in the gaps: {np.mean(errors):.2f} standard deviations")
print(f"  (where they are filled with their columns' means: {np.mean(usual):.2f})")
