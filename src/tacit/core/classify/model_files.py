"""What files of classifiers hold."""

from __future__ import annotations

import numpy as np

from tacit.core.classify.calibration import COLDEST, HOTTEST
from tacit.core.files.fields import Array, Field, Many
from tacit.core.files.header_values import Value, number, symbols
from tacit.core.files.ranges import probabilities
from tacit.core.files.saved_model import InnerModel, ModelFile
from tacit.core.model import Model

CLASSIFIER_FILE = ModelFile(
    Field(
        "classes_",
        Value(
            lambda classes: symbols().to_plain(tuple(classes.tolist())),
            lambda plain: np.array(symbols().from_plain(plain)),
        ),
        sizes={"class": len},
    ),
    Field("priors_", Array("class", probabilities)),
    Field("temperature_", number(COLDEST / 2, 2 * HOTTEST)),
    Field("models_", Many(InnerModel(Model), least=1)),
    Field(
        "feature_names_in_",
        Value(
            symbols().to_plain, lambda plain: np.array(symbols().from_plain(plain), dtype=object)
        ),
        optional=True,
    ),
    arguments={"estimator": None, "priors": None, "cv": None, "progress": None},
)
