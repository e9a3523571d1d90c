"""The fields of model files: hidden Markov models and automata."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoder_files import ENCODER, VECTOR_ENCODER, upgraded_encoder
from tacit.core.encoders.given_features import plain_features
from tacit.core.files.fields import Array, Arrays, Field, Many, OneOf, Record
from tacit.core.files.header_values import integer, number, symbols
from tacit.core.files.ranges import moderate, probabilities
from tacit.core.files.saved_model import ModelFile, renamed
from tacit.messages.network import Dense, Hadamard
from tacit.sequences.emissions import EMISSION_CHAIN, EMISSIONS, emission_of
from tacit.sequences.emissions.categorical import CHAIN_TABLES
from tacit.sequences.model.automata import Automaton, AutomatonTables
from tacit.sequences.model.chains import Operators
from tacit.sequences.model.interpolated_ngrams import Ngrams
from tacit.sequences.query.automata import MixedAutomaton
from tacit.sequences.query.mean_automata import MeanAutomaton
from tacit.sequences.query.proper_operators import ProperOperators

_LEAST_PRODUCT = 1e-100  # of initial and stop, which is one but for errors of estimation


def _fits(
    step: Dense | Hadamard,
    initial: NDArray[Any],
    stop: NDArray[Any],
    emit: tuple[NDArray[Any], ...],
    **_: Any,
) -> str | None:
    if not abs(initial @ stop) > _LEAST_PRODUCT:
        return "gives sequences without symbols no probability"
    if isinstance(step, Hadamard) and emit[0].shape[1] != len(initial):
        return "has a step that takes messages of another length than those of its columns"
    return None


def _of_one_kind(symbols_: Any, names_: Any, parameters_: Any, **_: Any) -> str | None:
    if emission_of(parameters_).numbers:
        named = getattr(getattr(parameters_, "density", None), "names", names_)
        if tuple(named) != tuple(names_):
            return "has other columns than its states emit"
        return "has symbols, but its states emit numbers" if symbols_ else None
    return "has columns of numbers, but its states emit symbols" if names_ else None


def _ngrams(tables: NDArray[np.float64], order: int) -> Ngrams:
    n_symbols = tables.shape[1] - 1
    if len(tables) != (n_symbols + 2) ** (order - 1):
        raise ValueError(f"{len(tables)} contexts of order {order}")
    return Ngrams(tables, order, n_symbols)


def _transitions(emit: NDArray[Any], transitions: NDArray[Any], **_: Any) -> str | None:
    if len(transitions) not in (1, emit.shape[1] - 1):
        return f"has {len(transitions)} tables of transitions for {emit.shape[1] - 1} symbols"
    return None


OPERATORS = Record(
    Operators,
    Field("initial", Array("rank", moderate)),
    Field("stop", Array("rank", moderate)),
    Field("emit", Many(Array("feature seen", moderate), item_sizes="feature", least=1)),
    Field("total", Many(Array("seen", moderate), item_sizes="feature")),
    Field(
        "step",
        OneOf(
            dense=Record(Dense, Field("core", Array("seen rank rank", moderate))),
            hadamard=Record(Hadamard, Field("table", Array("rank rank", moderate))),
        ),
    ),
    check=_fits,
)
NGRAMS = Record(
    Ngrams,
    Field("tables", Array("context symbol+1", probabilities)),
    Field("order", integer(1, 3)),
    make=_ngrams,
)
AUTOMATON = Record(
    Automaton,
    Field("initial", Array("rank", moderate)),
    Field("steps", Array("symbol rank rank", moderate)),
    Field("stop", Array("rank", moderate)),
    Field("total", Array("rank", moderate)),
    Field("past", Array("rank", moderate)),
)
AUTOMATON_TABLES = Record(
    AutomatonTables,
    Field("initial", Array("state", probabilities)),
    Field("emit", Array("state symbol+1", probabilities)),
    Field("transitions", Array("* state state", probabilities)),
    check=_transitions,
)

PROPER_OPERATORS = Record(
    ProperOperators,
    Field("operators", OPERATORS),
    Field("frequencies", Array("symbol", probabilities)),
    Field("fallback", number(0, 1)),
)
MIXED_AUTOMATON = Record(
    MixedAutomaton,
    Field("automaton", AUTOMATON),
    Field("ngrams", NGRAMS),
    Field("mixing", number(0, 1)),
)
MEAN_AUTOMATON = Record(
    MeanAutomaton,
    Field("parts", Many(AUTOMATON_TABLES, least=1), sizes={"part": len}),
    Field("weights", Array("part", probabilities)),
)


def _upgrade_hmm(header: dict[str, Any], arrays: Arrays) -> None:
    old = header.pop("hmm")
    header |= {"symbols": old["symbols"], "names": old["names"]}
    header["parameters"] = {"kind": old["kind"]}
    if old["kind"] == "gaussian":
        header["parameters"]["diagonal"] = old["diagonal"]
        _nested(arrays, "parameters.")
    elif old["kind"] == "operators":
        operators = _upgraded_chain(arrays, 1, "parameters.operators.")
        del operators["kind"]
        header["parameters"] |= {"fallback": old["fallback"], "operators": operators}
        renamed(arrays, {"shares": "parameters.frequencies"})
    else:
        header["parameters"] = _upgraded_chain(arrays, 1, "parameters.")


def _upgrade_kernel_hmm(header: dict[str, Any], arrays: Arrays) -> None:
    old = header.pop("chain")
    renamed(header["arguments"], {"n_bells": "n_basis"})
    header |= {"names": old["names"], "fallback": old["fallback"]}
    header["encoders"] = [
        upgraded_encoder(plain, arrays, f"features.{column}.", f"encoders.{column}.")
        for column, plain in enumerate(old["features"])
    ]
    header["parameters"] = _upgraded_chain(arrays, len(old["features"]), "parameters.")


def _upgrade_weighted(header: dict[str, Any], arrays: Arrays) -> None:
    old = header.pop("automaton")
    header["symbols"] = old["symbols"]
    ngrams = {"order": old["order"]}
    header["predictor"] = {"automaton": {}, "ngrams": ngrams, "mixing": old["mixing"]}
    renamed(arrays, {"start": "initial"})
    names = ("initial", "steps", "stop", "total", "past")
    renamed(arrays, {name: f"predictor.automaton.{name}" for name in names})
    renamed(arrays, {"ngrams": "predictor.ngrams.tables"})


def _upgrade_probabilistic(header: dict[str, Any], arrays: Arrays) -> None:
    old = header.pop("automaton")
    header["symbols"] = old["symbols"]
    parts = range(min(old["n_parts"], len(arrays)))
    header["predictor"] = {"parts": [{} for _ in parts]}
    for part in parts:
        names = {"start": "initial", "emit": "emit", "moves": "transitions"}
        for old_name, name in names.items():
            renamed(arrays, {f"{old_name}.{part}": f"predictor.parts.{part}.{name}"})
    renamed(arrays, {"weights": "predictor.weights"})


def _upgraded_chain(arrays: Arrays, n_columns: int, prefix: str) -> dict[str, Any]:
    """The header of a chain; its arrays get a prefix."""
    columns: list[None] = [None] * n_columns
    if "moves" in arrays:
        header: dict[str, Any] = {"kind": "tables", "emit": columns}
    else:
        step = "dense" if "core" in arrays else "hadamard"
        header = {"kind": "operators", "emit": columns, "total": columns, "step": {"kind": step}}
    renamed(arrays, {"core": "step.core", "table": "step.table"})
    _nested(arrays, prefix)
    return header


def _nested(arrays: Arrays, prefix: str) -> None:
    renamed(arrays, {"start": "initial", "moves": "transitions"})
    names = ("initial", "stop", "transitions", "means", "covariances", "step.", "emit.", "total.")
    renamed(arrays, {name: prefix + name for name in names})


def _plain(value: Any) -> Any:
    """A name, None, or nested lists."""
    if value is None or isinstance(value, str):
        return value
    return (
        [_plain(item) for item in value]
        if np.ndim(value) or isinstance(value, list)
        else int(value)
    )


_SYMBOLS = Field(
    "symbols_",
    symbols(),
    sizes={"symbol": len, "feature": lambda symbols: (len(symbols),)},
)
_NAMES = Field("names_", symbols(), sizes={"column": len})
HMM_FILE = ModelFile(
    _SYMBOLS,
    _NAMES,
    Field(
        "parameters_",
        OneOf(
            operators=PROPER_OPERATORS,
            chain=EMISSION_CHAIN,
            **{
                name: form
                for emission in EMISSIONS.values()
                for name, form in emission.record.items()
            },
        ),
    ),
    arguments={
        "features": plain_features,
        "emissions": lambda model: (
            model.emissions
            if isinstance(model.emissions, str)
            else {str(name): str(kind) for name, kind in model.emissions.items()}
        ),
        "transitions": lambda model: _plain(model.transitions),
        "initial": lambda model: _plain(model.initial),
        "tied": lambda model: _plain(model.tied),
    },
    upgrade=_upgrade_hmm,
    check=_of_one_kind,
)
KERNEL_HMM_FILE = ModelFile(
    _NAMES,
    Field(
        "encoders_",
        Many(OneOf(**ENCODER.records, vector=VECTOR_ENCODER), least=1),
        sizes={
            "column": lambda encoders: sum(getattr(each, "n_members", 1) for each in encoders),
            "feature": lambda encoders: tuple(encoder.size for encoder in encoders),
        },
    ),
    Field("fallback_", number(0, 1)),
    Field("parameters_", OneOf(tables=CHAIN_TABLES, operators=OPERATORS)),
    columns=lambda model: model.names_,
    upgrade=_upgrade_kernel_hmm,
)
WEIGHTED_AUTOMATON_FILE = ModelFile(
    _SYMBOLS,
    Field("predictor_", MIXED_AUTOMATON),
    Field("singular_values_", Array("*", empty=True), optional=True),
    upgrade=_upgrade_weighted,
)
PROBABILISTIC_AUTOMATON_FILE = ModelFile(
    _SYMBOLS, Field("predictor_", MEAN_AUTOMATON), upgrade=_upgrade_probabilistic
)
