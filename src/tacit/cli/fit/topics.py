"""`tacit fit topics`: topics of documents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded


class Form(StrEnum):
    """Forms of files of documents."""

    auto = "auto"
    uci = "uci"
    lda_c = "lda-c"
    text = "text"


class Learn(StrEnum):
    """Learners of topics."""

    auto = "auto"
    moments = "moments"
    em = "em"


class Mixing(StrEnum):
    """How many topics a document has."""

    lda = "lda"
    single = "single"


class Counting(StrEnum):
    """What has equal weight in moments."""

    length = "length"
    pool = "pool"
    document = "document"


class Solver(StrEnum):
    """Decompositions of the tensor of moments."""

    jacobi = "jacobi"
    power = "power"
    simultaneous = "simultaneous"
    als = "als"


DocumentFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Documents: UCI bag-of-words, LDA-C, or text with a document on each line; compressed if it "
        "ends in .gz, .bz2, .xz or .zst.",
    ),
]
WordFile = Annotated[
    Path | None,
    typer.Option("--vocabulary", metavar="FILE", help="The words of DATA, one on each line."),
]
FormOfFile = Annotated[Form, typer.Option("--form", help="What DATA looks like; auto looks.")]


NumberOfTopics = Annotated[
    str, typer.Option("--topics", "-k", metavar="N|auto", help="How many topics.")
]
Learner = Annotated[
    Learn, typer.Option(help="auto: moments and a few steps; moments alone; em: random start.")
]
HowMixed = Annotated[
    Mixing, typer.Option("--model", help="lda: documents mix topics; single: one for each.")
]
Alpha0 = Annotated[
    str, typer.Option(metavar="X|auto", help="Sum of the Dirichlet parameters of documents.")
]
MinDocuments = Annotated[int, typer.Option(min=1, help="Leave out words of fewer documents.")]
MaxDocuments = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Leave out words of more than this fraction of documents."),
]
English = Annotated[
    bool,
    typer.Option(
        "--english", help="Leave out English stop words and what is no word of 3 letters."
    ),
]
WhatCounts = Annotated[
    Counting,
    typer.Option(help="What has equal weight in moments: all words, pairs of words, or documents."),
]
Cap = Annotated[
    str,
    typer.Option(
        metavar="N|auto|none", help="The most that a word counts in one document, in moments."
    ),
]
HowSolved = Annotated[Solver, typer.Option(help="How the tensor of moments is decomposed.")]
Steps = Annotated[int, typer.Option(min=1, help="Variational steps of --learn auto.")]


@unfolded
def topics(
    data: DocumentFile,
    output: learning.Output,
    number: NumberOfTopics = "auto",
    vocabulary: WordFile = None,
    form: FormOfFile = Form.auto,
    learn: Learner = Learn.auto,
    mixing: HowMixed = Mixing.lda,
    alpha0: Alpha0 = "auto",
    min_df: MinDocuments = 1,
    max_df: MaxDocuments = 1.0,
    stop_words: English = False,
    weighting: WhatCounts = Counting.length,
    cap: Cap = "auto",
    solver: HowSolved = Solver.jacobi,
    steps: Steps = 10,
    *,
    running: learning.Running,
) -> None:
    """Learn topics from the documents in DATA and save them.

    For example: tacit fit topics docword.txt --vocabulary vocab.txt -k 50 -o topics.tacit
    """
    from tacit.core.files.container import check_suffix
    from tacit.topics.topic_model import TopicModel

    check_suffix(output)  # before the work, not after it
    model = TopicModel(
        learning.number_or_auto(number, int, "--topics"),
        learning.number_or_auto(alpha0, float, "--alpha0"),
        mixing.value,
        learn=learn.value,
        weighting=weighting.value,
        cap=None if cap == "none" else learning.number_or_auto(cap, int, "--cap"),
        solver=solver.value,
        n_steps=steps,
        **running.arguments(),
    )
    rules = min_df > 1 or max_df < 1.0 or stop_words
    model.fit(_documents(data, vocabulary, form, rules, min_df, max_df, stop_words))
    model.set_params(progress=None)
    model.save(output)
    _report(model.diagnostics_, output, json=running.json)


def _report(diagnostics: dict[str, Any], output: Path, *, json: bool) -> None:
    """Print what was learnt, in a line or as JSON."""
    from tacit.cli.output import console, print_json

    if json:
        names = ("n_topics", "n_documents", "n_empty", "n_short", "n_words", "n_tokens", "n_passes")
        facts = {"model": str(output), **{name: diagnostics[name] for name in (*names, "learn")}}
        facts["surplus"] = diagnostics.get("moments", {}).get("surplus", [])
        if "perplexities" in diagnostics:
            facts["perplexities"] = diagnostics["perplexities"]
        print_json(facts)
        return
    console().print(
        f"{_topics(diagnostics)} of {diagnostics['n_documents']:,} documents, "
        f"{diagnostics['n_words']:,} words; "
        f"saved as {output}",
        markup=False,
    )


def _topics(diagnostics: dict[str, Any]) -> str:
    """Number of topics, and of those that moments cannot distinguish from noise."""
    number = diagnostics["n_topics"]
    surplus = len(diagnostics.get("moments", {}).get("surplus", []))
    text = f"{number} topic{'s' if number > 1 else ''}"
    return f"{text} ({surplus} surplus: not distinguishable from noise)" if surplus else text


def _documents(
    data: Path,
    vocabulary: Path | None,
    form: Form,
    rules: bool,
    least: int,
    most: float,
    english: bool,
) -> Any:
    """The documents of a file; batch by batch where no words have to be counted first."""
    from tacit.topics.data.keep_words import keep_words, plain_word
    from tacit.topics.data.read_documents import document_batches, read_documents

    if not rules:
        return document_batches(data, vocabulary, form=form_of(data, form))
    documents = read_documents(data, vocabulary, form=form_of(data, form))
    if not english:
        return keep_words(documents, min_df=least, max_df=most)
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return keep_words(
        documents,
        min_df=least,
        max_df=most,
        stop_words=ENGLISH_STOP_WORDS,
        form=plain_word,
    )


def form_of(data: Path, form: Form) -> str:
    """The form of a file: text where it does not look like counts."""
    from tacit.topics.data.document_files import is_counts

    if form is Form.auto:
        return "auto" if is_counts(data) else "text"
    return form.value
