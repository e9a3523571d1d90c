"""What files of models of numbers hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoder_files import ENCODER, MARGIN, upgraded_encoder, upgraded_margin
from tacit.core.encoders.encoders import IndicatorEncoder
from tacit.core.encoders.kernel_shapes import TabulatedKernel
from tacit.core.encoders.margins import Margin
from tacit.core.files.fields import Array, Arrays, Field, Many, OneOf, Record
from tacit.core.files.header_values import Value, flag, integer, number, symbols, text
from tacit.core.files.ranges import (
    ascending,
    covariances,
    moderate,
    no_infinities,
    positive,
    probabilities,
    rising,
    within,
)
from tacit.core.files.saved_model import ModelFile, renamed
from tacit.core.input.column_kinds import plain_kinds
from tacit.core.input.mixed_table import MixedSchema, MixedTable
from tacit.core.input.table import Schema
from tacit.errors import FileFormatError
from tacit.messages.network_files import PARAMETERS, leaf_names, leaf_sizes, upgraded_parameters
from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.learn.blend import Blend
from tacit.numbers.learn.gaussian_copula import Coordinates, GaussianCopula, Ranks
from tacit.numbers.learn.nearest_neighbours import Neighbours
from tacit.numbers.model.experts import Atoms, Expert, Experts
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.model.gaussian_classes import GaussianClasses
from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.trees.model_files import TOPOLOGY, structure_argument

Floats = NDArray[np.float64]


def _scores(margins: tuple[Margin | None, ...], schema: MixedSchema) -> Scores:
    numbers = [place for place, margin in enumerate(margins) if margin is not None]
    if len(margins) != len(schema) or not set(numbers) <= set(schema.continuous):
        raise FileFormatError("are not the distributions of the columns of numbers")
    return Scores(schema, margins)


def _copula(ranks: tuple[Ranks, ...], gaussian: Gaussian, schema: MixedSchema) -> GaussianCopula:
    coordinates = Coordinates(schema, dict(zip(schema.continuous, ranks, strict=True)))
    if len(gaussian.mean) != coordinates.starts[-1]:
        raise FileFormatError("has another number of coordinates than the columns")
    return GaussianCopula(coordinates, gaussian)


def _neighbours(
    bandwidth: float, numbers: Floats, codes: NDArray[Any], schema: MixedSchema
) -> Neighbours:
    cards = np.array([schema.cards[place] for place in schema.categorical], dtype=np.int64)
    widths = len(schema.continuous), len(schema.categorical)
    if (numbers.shape[1], codes.shape[1]) != widths or len(numbers) != len(codes):
        raise FileFormatError("has rows of other columns")
    if (codes < -1).any() or (codes >= cards).any():
        raise FileFormatError("has codes of categories that are not there")
    table = MixedTable(schema, np.asfortranarray(numbers), np.asfortranarray(codes))
    return Neighbours(table, bandwidth)


def _full(classes: GaussianClasses) -> Floats | None:
    return None if classes.is_diagonal else classes.covariances


def _diagonal(classes: GaussianClasses) -> Floats | None:
    return classes.covariances if classes.is_diagonal else None


def _classes(
    weights: Floats,
    means: Floats,
    covariances: Floats | None,
    variances: Floats | None,
    tables: tuple[Floats, ...],
    schema: MixedSchema,
    atoms: Atoms,
) -> GaussianClasses:
    if means.shape[1] != len(schema.continuous):
        raise FileFormatError("has another number of coordinates than there are columns of numbers")
    cards = [*(schema.cards[place] for place in schema.categorical), *atoms.cards]
    if [table.shape[1] for table in tables] != cards:
        raise FileFormatError("has tables of other categories than the columns")
    if any((table <= 0).any() for table in tables):
        raise FileFormatError("has categories of probability zero")
    spread = covariances if variances is None else variances
    if spread is None or (covariances is not None and variances is not None):
        raise FileFormatError("has not either covariances or variances")
    return GaussianClasses(weights, means, spread, tables)


def _expert(
    name: str,
    normal: bool,
    classes: GaussianClasses,
    schema: MixedSchema,
    margins: tuple[Margin | None, ...],
    atoms: Atoms,
) -> Expert:
    known = margins if normal else (None,) * len(schema)
    if normal and any(margins[place] is None for place in schema.continuous):
        raise FileFormatError("is of normal scores of columns without a distribution")
    return Expert(name, Scores(schema, known), classes, atoms)


def _categories(margins: tuple[Any, ...]) -> tuple[int | None, ...]:
    """(column,) how many categories each has; None for numbers."""
    return tuple(None if isinstance(margin, Margin) else len(margin) for margin in margins)


def _names(model: Any) -> Any:
    given = model.categorical
    return given if isinstance(given, str) else [str(name) for name in given]


MIXED_SCHEMA = Value(Schema.to_json, MixedSchema.from_json)
GAUSSIAN = Record(
    Gaussian,
    Field("mean", Array("coordinate", moderate)),
    Field("covariance", Array("coordinate coordinate", covariances)),
)
SCORES = Record(Scores, Field("margins", Many(MARGIN, optional=True)), make=_scores, uses="schema")
SPHERICAL = Record(
    SphericalMixture,
    Field("weights", Array("component", probabilities)),
    Field("means", Array("component column", moderate)),
    Field("variances", Array("component", positive, moderate)),
)
RANKS = Record(
    Ranks,
    Field("numbers", Array("knot", ascending, within(-1e306, 1e306))),
    Field("scores", Array("knot", rising, moderate)),
)
COPULA = Record(
    GaussianCopula,
    Field(
        "ranks",
        Many(RANKS),
        get=lambda copula: [
            copula.coordinates.ranks[column] for column in sorted(copula.coordinates.ranks)
        ],
    ),
    Field("gaussian", GAUSSIAN),
    make=_copula,
    uses="schema",
)
NEIGHBOURS = Record(
    Neighbours,
    Field("bandwidth", number(1e-9, 1e9)),
    Field(
        "numbers",
        Array("* *", no_infinities, finite=False, empty=True),
        get=lambda neighbours: neighbours.table.numbers,
    ),
    Field(
        "codes",
        Array("* *", dtype=(np.int16, np.int32), empty=True),
        get=lambda neighbours: neighbours.table.codes,
    ),
    make=_neighbours,
    uses="schema",
)
CATEGORY_TABLES = Record(
    np.ndarray,
    Field("probabilities", Array("component *", probabilities), get=lambda array: array),
    make=lambda probabilities: probabilities,
)
BLEND = Record(
    Blend,
    Field("copula", COPULA, optional=True),
    Field("neighbours", NEIGHBOURS, optional=True),
    Field("copula_weights", Array("column", within(0, 1))),
    Field("weights", Array("column 3", probabilities)),
)
CLASSES = Record(
    GaussianClasses,
    Field("weights", Array("component", probabilities)),
    Field("means", Array("component number", moderate)),
    Field("covariances", Array("component number number", covariances), optional=True, get=_full),
    Field("variances", Array("component number", positive, moderate), optional=True, get=_diagonal),
    Field("tables", Many(CATEGORY_TABLES)),
    make=_classes,
    uses="schema atoms",
)
EXPERT = Record(
    Expert,
    Field("name", text()),
    Field("normal", flag(), get=lambda expert: any(m is not None for m in expert.scores.margins)),
    Field("classes", CLASSES),
    make=_expert,
    uses="schema margins atoms",
)
EXPERTS = Record(
    Experts,
    Field("members", Many(EXPERT, least=1), sizes={"expert": len}),
    Field("weights", Array("expert+1", probabilities)),
)
_DISTRIBUTION = OneOf(
    numbers=MARGIN,
    categories=Record(
        np.ndarray,
        Field("probabilities", Array("*", probabilities), get=lambda array: array),
        make=lambda probabilities: probabilities,
    ),
)


# ---------------------------------------------------------------------------- formats 1 and 2


def _upgrade_mixture(header: dict[str, Any], arrays: Arrays) -> None:
    names = header.pop("names")
    if header["has_feature_names"]:
        header["feature_names_in"] = names
    header["mixture"] = {}
    renamed(arrays, {name: f"mixture.{name}" for name in ("weights", "means", "variances")})


def _upgrade_gaussian(header: dict[str, Any], arrays: Arrays) -> None:
    old = header.pop("scores")
    margins: list[Any] = [None] * len(header["schema"])
    for key, plain in old.items():
        margins[int(key)] = upgraded_margin(
            plain, arrays, f"margin.{key}.", f"scores.margins.{key}."
        )
    header["scores"], header["gaussian"] = {"margins": margins}, {}
    arguments = header["arguments"]
    arguments["margins"] = arguments.pop("transform", None) or "gaussian"
    renamed(arrays, {name: f"gaussian.{name}" for name in ("mean", "covariance")})


def _upgrade_kernel_tree(header: dict[str, Any], arrays: Arrays) -> None:
    header["parameters"] = upgraded_parameters(header, arrays)
    header["encoders"] = [
        upgraded_encoder(plain, arrays, f"encoder.{column}.", f"encoders.{column}.")
        for column, plain in enumerate(header["encoders"])
    ]
    if "margins" in header:
        header["margins"] = [
            _upgraded_distribution(plain, arrays, f"margin.{column}.", f"margins.{column}.")
            for column, plain in enumerate(header["margins"])
        ]
    if header.pop("blended", False):
        header["blend"] = _upgraded_blend(arrays)


def _upgraded_distribution(plain: Any, arrays: Arrays, old: str, new: str) -> dict[str, Any]:
    if not plain:
        renamed(arrays, {old: new})
        return {"kind": "categories"}
    return {"kind": "numbers", **upgraded_margin(plain, arrays, old, new)}


def _upgraded_blend(arrays: Arrays) -> dict[str, Any]:
    blend: dict[str, Any] = {}
    weights = arrays.pop("blend.weights")
    tree_and_copula = np.column_stack([1 - weights, weights, np.zeros(len(weights))])
    arrays["blend.copula_weights"] = weights
    # Files from before there were neighbours have no shares.
    arrays["blend.weights"] = arrays.pop("blend.shares", tree_and_copula)
    if "blend.mean" in arrays:
        places = [
            int(name.rpartition(".")[2]) for name in arrays if name.startswith("blend.ranks.")
        ]
        for new, place in enumerate(sorted(places)):
            numbers, scores = arrays.pop(f"blend.ranks.{place}")
            inner = f"blend.copula.ranks.{new}."
            arrays[f"{inner}numbers"], arrays[f"{inner}scores"] = numbers, scores
        for name in ("mean", "covariance"):
            renamed(arrays, {f"blend.{name}": f"blend.copula.gaussian.{name}"})
        blend["copula"] = {"ranks": [{} for _ in places], "gaussian": {}}
    if "blend.near.reach" in arrays:
        (bandwidth,) = arrays.pop("blend.near.reach").tolist()
        observed = arrays.pop("blend.near.there") > 0
        numbers, codes = arrays.pop("blend.near.numbers"), arrays.pop("blend.near.codes")
        arrays["blend.neighbours.numbers"] = np.where(observed, numbers, np.nan)
        arrays["blend.neighbours.codes"] = codes.astype(np.int32)
        blend["neighbours"] = {"bandwidth": bandwidth}
    return blend


# --------------------------------------------------------------------------------------- files

_SCHEMA = Field(
    "schema_",
    MIXED_SCHEMA,
    sizes={
        "schema": lambda schema: schema,
        "column": len,
        "columns": lambda schema: schema.names,
        "categories": lambda schema: tuple(card or None for card in schema.cards),
    },
)
MIXTURE_FILE = ModelFile(
    Field(
        "feature_names_in_",
        Value(
            symbols().to_plain, lambda plain: np.array(symbols().from_plain(plain), dtype=object)
        ),
        optional=True,
        sizes={"column": len},
    ),
    Field("mixture_", SPHERICAL),
    Field("n_iter_", integer()),
    Field("converged_", flag()),
    upgrade=_upgrade_mixture,
)
GAUSSIAN_TREE_FILE = ModelFile(
    _SCHEMA,
    Field(
        "scores_",
        SCORES,
        sizes={
            "coordinate": lambda scores: len(scores.names),
            "observed": lambda scores: frozenset(scores.names),
        },
    ),
    Field("gaussian_", GAUSSIAN),
    Field("topology_", TOPOLOGY, sizes={"observed": lambda tree: frozenset(tree.observed)}),
    arguments={
        "structure": structure_argument,
        "categorical": _names,
        "columns": plain_kinds,
    },
    columns=lambda model: model.schema_.names,
    upgrade=_upgrade_gaussian,
)
KERNEL_TREE_FILE = ModelFile(
    _SCHEMA,
    Field(
        "encoders_",
        Many(ENCODER),
        sizes={
            "card": lambda encoders: tuple(encoder.size for encoder in encoders),
            "categories": lambda encoders: tuple(
                encoder.size if isinstance(encoder, IndicatorEncoder) else None
                for encoder in encoders
            ),
            "margins": lambda encoders: tuple(
                getattr(encoder, "margin", None) for encoder in encoders
            ),
            "atoms": lambda encoders: Atoms(
                tuple(
                    getattr(encoder, "atoms", np.empty(0))
                    for encoder in encoders
                    if not isinstance(encoder, IndicatorEncoder)
                )
            ),
        },
    ),
    Field(
        "margins_",
        Many(_DISTRIBUTION),
        optional=True,
        sizes={"categories": _categories},
    ),
    Field("experts_", EXPERTS, optional=True),
    Field("blend_", BLEND, optional=True),
    Field("topology_", TOPOLOGY),
    Field("parameters_", PARAMETERS, sizes={"columns": leaf_names, "card": leaf_sizes}),
    arguments={
        "structure": structure_argument,
        "columns": plain_kinds,
        "continuous": lambda model: [str(name) for name in model.continuous] or None,
        "experts": lambda model: (
            model.experts if isinstance(model.experts, str) else sorted(map(str, model.experts))
        ),
        "groups": lambda model: (
            {
                str(name): [str(member) for member in members]
                for name, members in (model.groups or {}).items()
            }
            or None
        ),
        "kernel": lambda model: (
            model.kernel if isinstance(model.kernel, str) else TabulatedKernel.name
        ),
    },
    columns=lambda model: model.schema_.names,
    upgrade=_upgrade_kernel_tree,
)
