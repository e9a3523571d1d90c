"""`tacit parse train`: parsers from tagged sentences, without any tree."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.fit import learning
from tacit.cli.lm.counts import refuse
from tacit.cli.options import Json
from tacit.cli.parse.apply import FORMS, TagsMap

if TYPE_CHECKING:
    from tacit.parsing.data.tagged_sentences import Tagged

Texts = Annotated[list[Path], typer.Argument(metavar="SENTENCES", help=f"{FORMS}.")]


class Kind(StrEnum):
    """Methods of parsing."""

    span = "span"
    ccm = "ccm"


class PriorName(StrEnum):
    """Priors of the parser by a metric."""

    learnt = "learnt"
    units = "units"
    none = "none"


class Top(StrEnum):
    """Where a whole sentence is split."""

    auto = "auto"
    learnt = "learnt"
    heuristic = "heuristic"
    free = "free"


class Start(StrEnum):
    """Starts of EM of the constituent-context model."""

    by_split = "split"
    at_random = "random"


class TagSet(StrEnum):
    """Tags that the constituent-context model uses."""

    given = "given"
    universal = "universal"


Method = Annotated[
    Kind,
    typer.Option(
        help="span: a metric of words with their tags; ccm: constituents and contexts, by EM."
    ),
]
Vectors = Annotated[
    str | None,
    typer.Option(
        metavar="cca|FILE",
        help="span: word vectors, learnt (cca) or from a file: .npz, GloVe text, Brown clusters.",
    ),
]
Features = Annotated[
    int | None,
    typer.Option(min=1, help="span: length of learnt word vectors; default 50."),
]
Rank = Annotated[
    int | None, typer.Option(min=1, help="span: singular values of a distance; default 7.")
]
Bandwidth = Annotated[
    float | None,
    typer.Option(help="span: bandwidth of the kernel over distances between words; default 0.4."),
]
Prior = Annotated[
    PriorName | None,
    typer.Option(
        help="span: groups and predicates learnt, or by rule (units, the default), or the metric alone."
    ),
]
Weight = Annotated[
    float | None,
    typer.Option("--metric-weight", help="span: weight of the metric beside the prior."),
]
TopSplit = Annotated[
    Top | None,
    typer.Option(help="span: the split of a whole sentence; default as the prior has it."),
]
StartOption = Annotated[Start | None, typer.Option(help="ccm: start of EM; default split.")]
Restarts = Annotated[
    int | None,
    typer.Option(min=1, help="ccm: random starts, of which the best is kept; default 10."),
]
TagOption = Annotated[TagSet | None, typer.Option(help="ccm: the tags to use; default given.")]
LearntFrom = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="span: greatest number of words to parse, default 400; ccm: to learn from, default 10.",
    ),
]


def train(
    texts: Texts,
    output: learning.Output,
    method: Method = Kind.span,
    vectors: Vectors = None,
    features: Features = None,
    rank: Rank = None,
    bandwidth: Bandwidth = None,
    prior: Prior = None,
    metric_weight: Weight = None,
    top: TopSplit = None,
    start: StartOption = None,
    restarts: Restarts = None,
    tags: TagOption = None,
    longest: LearntFrom = None,
    tags_map: TagsMap = None,
    seed: learning.Seed = 0,
    json: Json = False,
) -> None:
    """Learn a parser from tagged sentences.

    Of trees, only words and tags are used.

    For example: tacit parse train train.conllu -o model.tacit --vectors glove.txt
    """
    from tacit.cli.lm.counts import check_place
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    check_place(output)
    of_span = {
        "vectors": vectors,
        "n_features": features,
        "rank": rank,
        "bandwidth": bandwidth,
        "prior": None if prior is None else prior.value,
        "metric_weight": metric_weight,
        "top": None if top is None else top.value,
    }
    of_ccm = {
        "start": None if start is None else start.value,
        "n_restarts": restarts,
        "tags": None if tags is None else tags.value,
    }
    _check_options(method, of_span, of_ccm)
    chosen = (
        {**of_span, "max_words": longest} if method is Kind.span else {**of_ccm, "longest": longest}
    )
    arguments: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if prior is PriorName.none:
        arguments["prior"] = None
    model = _model(method, {**arguments, "random_state": seed, "progress": True})
    n_read = _learn(model, texts, tags_map)
    model.set_params(progress=None)
    model.save(output)
    _report(model, output, n_read, json=json)


def _check_options(method: Kind, of_span: dict[str, Any], of_ccm: dict[str, Any]) -> None:
    """Raise where an option of one kind of parser was given for the other."""
    other = of_ccm if method is Kind.span else of_span
    names = {"n_features": "features", "n_restarts": "restarts"}
    options = {f"--{names.get(k, k).replace('_', '-')}": value for k, value in other.items()}
    refuse(options, f"it does not go with --method {method}")
    if of_ccm["n_restarts"] is not None and of_ccm["start"] != Start.at_random:
        raise typer.BadParameter("it goes with --start random", param_hint="--restarts")


def _model(method: Kind, arguments: dict[str, Any]) -> Any:
    if method is Kind.ccm:
        from tacit.parsing.constituent_context import ConstituentContextModel

        return ConstituentContextModel(**arguments)
    from tacit.parsing.data.word_vectors import read_word_vectors
    from tacit.parsing.span_parser import SpanParser

    if arguments.get("vectors", "cca") != "cca":
        arguments["vectors"] = read_word_vectors(arguments["vectors"])  # before the text is read
    return SpanParser(**arguments)


def _learn(model: Any, texts: list[Path], tags_map: Path | None) -> int:
    """Fit a parser to the sentences of files; how many these are."""
    from tacit.cli.parse.apply import TAGS_MAP, Tags, sentences_of

    tags = Tags(tags_map)
    n_read = 0

    def mapped() -> Iterator[Tagged]:
        nonlocal n_read
        for sentence in sentences_of(texts):
            n_read += 1
            yield tags.of(sentence)

    model.fit(mapped())
    if tags.map:
        model.diagnostics_[TAGS_MAP] = tags.map  # for users of the model
    if getattr(model, "tags", "universal") == "universal":
        tags.note_unknown()
    return n_read


def _report(model: Any, output: Path, n_read: int, *, json: bool) -> None:
    from tacit.cli.output import console, print_json

    report = {"model": str(output), "kind": type(model).__name__, **model.diagnostics_}
    if json:
        print_json(report)
        return
    used = report["n_sentences"]
    left = f" of {n_read:,}" if used != n_read else ""
    words = (
        f", {report['n_words']:,} words" if "n_words" in report else f", {len(model.tags_)} tags"
    )
    console().print(
        f"{report['kind']} of {used:,}{left} sentence{'' if n_read == 1 else 's'}{words}; saved as {output}",
        markup=False,
    )
