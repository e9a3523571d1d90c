"""`tacit lm train`: language models from text, or from counts."""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.fit import learning
from tacit.cli.lm.counts import (
    COUNTS,
    PACKED,
    MarkersInText,
    MaxWords,
    Memory,
    MinCount,
    WordList,
    check_place,
    memory_of,
    notes_as_lines,
    pieces_of,
    print_counts,
    refuse,
    start_over,
    word_list,
)
from tacit.cli.lm.queries import Markers, text_path
from tacit.cli.options import Json

if TYPE_CHECKING:
    from tacit.language.moments.ngram_counts import GramCounts

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="TEXT|COUNTS",
        help=f"UTF-8 text with a sentence on each line, {PACKED}; or counts of `tacit lm count`.",
    ),
]


class Kind(StrEnum):
    """Kinds of language models."""

    kneser_ney = "kneser-ney"
    classes = "classes"
    power_low_rank = "power-low-rank"


Order = Annotated[
    int | None,
    typer.Option(min=1, help="Words of the longest n-grams: 3, or those of the counts."),
]
KindOfModel = Annotated[
    Kind,
    typer.Option(
        help="classes: n-grams of word classes; power-low-rank: the lowest perplexity, and slower."
    ),
]
Plain = Annotated[
    bool, typer.Option("--plain", help="Of kneser-ney: one discount for each order, not three.")
]
BackOff = Annotated[bool, typer.Option("--back-off", help="Of kneser-ney: not interpolated.")]
Classes = Annotated[
    int | None, typer.Option("--classes", min=1, help="Of classes: how many; else 200.")
]
Validation = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Of power-low-rank: chooses ranks and weights."),
]


def train(
    texts: Sources,
    output: learning.Output,
    order: Order = None,
    kind: KindOfModel = Kind.kneser_ney,
    plain: Plain = False,
    back_off: BackOff = False,
    n_classes: Classes = None,
    validation: Validation = None,
    vocabulary: WordList = None,
    min_count: MinCount = 1,
    words: MaxWords = None,
    markers: MarkersInText = Markers.error,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Learn a language model from texts, or from counts.

    For example: tacit lm train train.txt.gz -o model.tacit --order 5
    """
    from tacit.core.files.container import check_suffix
    from tacit.language.learn.counting import clear_pieces

    check_suffix(output)  # before the work
    check_place(output)
    texts = [text_path(text) for text in texts]
    counted = _are_counts(texts)
    _check_kind(
        kind,
        {
            Kind.kneser_ney: {"--plain": plain or None, "--back-off": back_off or None},
            Kind.classes: {"--classes": n_classes},
            Kind.power_low_rank: {"--validation": validation},
        },
    )
    text_options = {"--vocabulary": vocabulary, "--memory": memory}
    _check_words(text_options, min_count, words, counted=counted, classes=kind is Kind.classes)
    more: dict[str, Any] = {
        "vocabulary": None if vocabulary is None else word_list(vocabulary),
        "min_count": min_count,
        "n_words": words,
        "markers": markers.value,
        "progress": True,
    }
    kind_options = {
        "modified": not plain,
        "interpolated": not back_off,
        "n_classes": n_classes or 200,
    }
    model = _model(kind, 3 if order is None else order, kind_options, more)
    if not counted and memory is None:
        model.fit([*texts], **({} if validation is None else {"validation": validation}))
    else:
        try:
            _learn_from_counts(model, texts, output, memory, order, validation)
        finally:
            if counted:  # merging does not continue, counting does
                clear_pieces(pieces_of(output))
    model.set_params(progress=None)
    model.save(output)
    clear_pieces(pieces_of(output))
    _report(model, output, json=json)


def _check_kind(kind: Kind, kind_options: dict[Kind, dict[str, Any]]) -> None:
    """Raise if an option of another kind of model was given."""
    for other in kind_options.keys() - {kind}:
        refuse(kind_options[other], f"it does not go with --kind {kind}")


def _check_words(
    text_options: dict[str, Any], min_count: int, words: int | None, *, counted: bool, classes: bool
) -> None:
    """Raise if options do not go with counts, with classes, or with a list of words."""
    if classes:
        why = "classes are learnt from a text that fits memory"
        refuse({"--memory": text_options["--memory"], "--kind": counted or None}, why)
    if counted:
        refuse(text_options, "the counts were made with their own options")
    if text_options["--vocabulary"] is not None:
        chosen = {"--min-count": None if min_count == 1 else min_count, "--words": words}
        refuse(chosen, "all words of --vocabulary are known")


# -- learning ---------------------------------------------------------------------------------------


def _model(kind: Kind, order: int, kind_options: dict[str, Any], more: dict[str, Any]) -> Any:
    """The unfitted model of a kind, with its arguments."""
    if kind is Kind.classes:
        from tacit import ClassLM

        return ClassLM(order, kind_options["n_classes"], **more)
    if kind is Kind.power_low_rank:
        from tacit import PowerLowRankLM

        return PowerLowRankLM(order, **more)
    from tacit import KneserNeyLM

    return KneserNeyLM(
        order, modified=kind_options["modified"], interpolated=kind_options["interpolated"], **more
    )


def _learn_from_counts(
    model: Any,
    sources: list[Path],
    output: Path,
    memory: str | None,
    order: int | None,
    validation: Path | None,
) -> None:
    """Fit a model to the counts of texts, counted on disk, or to those that folders hold."""
    from tacit.core.progress import reporting
    from tacit.language.data.corpus import read_corpus

    with (
        notes_as_lines(),
        reporting(True) as report,
        _counts(model, sources, output, memory, report) as all_counts,
    ):
        counts = all_counts if order is None else all_counts.up_to(order)
        held_out: dict[str, Any] = {}
        if validation is not None:
            held_out["validation"] = read_corpus(
                validation, vocabulary=counts.vocabulary, markers=model.markers
            )
        model.set_params(
            order=counts.order, progress=lambda done, text: report(0.7 + 0.3 * done, text)
        )
        model.fit_counts(counts, **held_out)


def _counts(
    model: Any, sources: list[Path], output: Path, memory: str | None, report: Any
) -> AbstractContextManager[GramCounts]:
    """The counts that a model is to be fitted to."""
    from tacit.language.data.vocabulary import Vocabulary
    from tacit.language.learn.counting import Reading, counts_of, joined_counts

    folder = pieces_of(output)
    chosen = {"min_count": model.min_count, "n_words": model.n_words}
    if memory is None:
        start_over(folder)
        return joined_counts(sources, **chosen, folder=folder, report=report)
    known = None if model.vocabulary is None else Vocabulary.of_words(model.vocabulary)
    reading = Reading(model.order, vocabulary=known, markers=model.markers, **chosen)
    return counts_of(
        [*sources],
        reading,
        memory=memory_of(memory),
        folder=folder,
        report=report,
    )


def _are_counts(sources: list[Path]) -> bool:
    from tacit.errors import ArgumentError

    counted = [path.suffix == COUNTS for path in sources]
    if any(counted) and not all(counted):
        raise ArgumentError(
            f"{str(sources[counted.index(False)])!r} is text, and others are counts; count it first: "
            "tacit lm count"
        )
    return any(counted)


def _report(model: Any, output: Path, *, json: bool) -> None:
    diagnostics = model.diagnostics_
    first = {"model": str(output), "kind": type(model).__name__}
    print_counts({**first, **diagnostics}, f"saved as {output}", json=json)
