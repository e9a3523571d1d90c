"""Splice junctions in genes: a chain for each class and Bayes' rule, beside logistic regression.

A window holds the border where an intron begins (EI) or ends (IE), or neither (N). The chain of each class is
learnt from its own windows alone; held-out rows choose how many states before it a state depends on, none
(independent positions) included. Nothing is learnt from, or chosen by, the windows that are judged.
"""

import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tacit

PLACES = [f"p{place}" for place in range(20, 41)]  # the junction is between p29 and p30


def report(name, model, train, answers, test, truth):
    """Accuracy and log-loss on windows that were not learnt from, each with its standard error."""
    begun = time.process_time()
    chances = model.fit(train, answers).predict_proba(test)
    right = (chances.argmax(axis=1) == truth).astype(float)
    losses = -np.log(np.maximum(chances[np.arange(len(truth)), truth], 1e-6))
    shown = [f"{v.mean():.3f} ± {v.std() / len(v) ** 0.5:.3f}" for v in (right, losses)]
    print(f"{name:24}{shown[0]:>16}{shown[1]:>16}{time.process_time() - begun:9.1f}")


def main():
    print("splice junctions, by the letters of 21 places")
    try:
        data = tacit.datasets.load_splice(ambiguous="letter")
    except tacit.errors.MissingDataError as error:
        print(f"nothing to show: {error}")
        return
    windows = np.column_stack([data[place] for place in PLACES]).astype(str)
    windows, first = np.unique(windows, axis=0, return_index=True)  # none is on both sides
    known = np.isin(windows, list("ACGT")).all(axis=1)
    windows, first = windows[known], first[known]
    classes, answers = np.unique(data["class"][first], return_inverse=True)
    tested = np.random.default_rng(0).random(len(windows)) < 0.3
    split = windows[~tested], answers[~tested], windows[tested], answers[tested]
    print(f"{len(split[0])} windows to learn from, {len(split[2])} to judge on\n")
    print(f"{'':24}{'accuracy':>16}{'log-loss':>16}{'CPU s':>9}")
    chains = tacit.LikelihoodClassifier(tacit.HigherOrderHMM())
    penalties = {"logisticregression__C": [0.01, 0.1, 1.0]}
    letters = make_pipeline(OneHotEncoder(), LogisticRegression(max_iter=1000))
    regression = GridSearchCV(letters, penalties, scoring="neg_log_loss")
    report("independent positions", tacit.LikelihoodClassifier(tacit.HigherOrderHMM(0)), *split)
    report("a chain of each class", chains, *split)
    report("logistic regression", regression, *split)
    for name, chain in zip(classes, chains.models_, strict=True):
        print(f"{name:3}order {chain.order_}, {max(chain.node_states_.values())} states")


main()
