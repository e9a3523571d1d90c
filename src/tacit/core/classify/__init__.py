"""Classification by likelihood: a density model for each class, joined by Bayes' rule.

`likelihood_classifier.py` is the estimator, `training.py` learns the models of the classes, `calibration.py`
makes their probabilities honest.
"""
