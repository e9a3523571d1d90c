"""`tacit lm`: queries of language models."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.kinds import model_of_kind
from tacit.cli.options import Json

if TYPE_CHECKING:
    from tacit.language.language_queries import LanguageModel

ARPA = ".arpa"


class Markers(StrEnum):
    """What to do with markers in a text."""

    error = "error"
    skip = "skip"


LanguageModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file (.tacit), or an ARPA file (.arpa).")
]
MarkersInText = Annotated[
    Markers | None, typer.Option(help="What to do with <s> and </s> in a text; else as learnt.")
]
Text = Annotated[
    Path,
    typer.Argument(
        metavar="TEXT", help="UTF-8 text, a sentence on each line; - for standard input."
    ),
]
After = Annotated[str, typer.Argument(metavar="WORDS", help="What the sentence began with.")]


def perplexity(
    model: LanguageModelFile, text: Text, markers: MarkersInText = None, json: Json = False
) -> None:
    """The perplexity of a text.

    The end of each line counts as a word.

    For example: tacit lm perplexity model.tacit test.txt
    """
    from tacit.cli.output import console, print_json

    result = _prepared(model, markers).perplexity(text_path(text))
    record = {
        "perplexity": float(result),
        "without_unknown": result.without_unknown,
        "log_prob": result.log_prob,
        "n_words": result.n_words,
        "n_lines": result.n_lines,
        "n_unknown": result.n_unknown,
    }
    if json:
        print_json(record)
        return
    unknown = f"; {result.without_unknown:.4f} without {result.n_unknown:,} unknown words"
    console().print(
        f"perplexity {float(result):.4f} of {words_on_lines(result.n_words, result.n_lines)}"
        + (unknown if result.n_unknown else ", all known"),
        markup=False,
    )


def score(
    model: LanguageModelFile,
    text: Text,
    words: Annotated[bool, typer.Option("--by-word", help="A row for each word.")] = False,
    markers: MarkersInText = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .csv, .tsv or .parquet file; else print CSV."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Log-probabilities of lines or of words.

    They are natural logarithms; the end of a line counts.

    For example: tacit lm score model.tacit test.txt --by-word -o words.csv
    """
    import numpy as np
    import pyarrow as pa

    from tacit.cli.output import check_table_path, give_table
    from tacit.language.data.corpus import read_corpus
    from tacit.language.data.vocabulary import END

    check_table_path(output)
    fitted = _prepared(model, markers)
    source: Any = text_path(text)
    if words:
        source = read_corpus(
            source, vocabulary=fitted.vocabulary_, markers=fitted.markers, unknown=fitted.unknown
        )
    scores = fitted.line_scores(source)
    sizes = np.diff(scores.ends, prepend=0)
    if words:
        ids = np.insert(source.ids, source.ends, END)
        columns: dict[str, Any] = {
            "line": np.repeat(np.arange(1, len(sizes) + 1), sizes),
            "word": [fitted.vocabulary_.words[place] for place in ids.tolist()],
            "log_prob": scores.log_probs,
            "order": scores.orders,
            "unknown": scores.unknown,
        }
    else:
        columns = {
            "line": np.arange(1, len(sizes) + 1),
            "n_words": sizes - 1,
            "log_prob": scores.sums(),
        }
    table = pa.table(columns)
    give_table(table, output, json=json)


def next_words(
    model: LanguageModelFile,
    words: After = "",
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="How many words.")] = 10,
    json: Json = False,
) -> None:
    """The most likely next words.

    For example: tacit lm next model.tacit "in the" -k 5
    """
    from tacit.cli.output import console, print_json

    likely = _load(model).top(words, top)
    if json:
        print_json([{"word": word, "probability": prob} for word, prob in likely])
        return
    width = max(len(word) for word, _ in likely)
    for word, prob in likely:
        console().print(f"{word:{width}}  {prob:.6f}", markup=False)


def sample(
    model: LanguageModelFile,
    n: Annotated[int, typer.Option("-n", "--samples", min=1, help="How many sentences.")] = 10,
    given: Annotated[
        str, typer.Option("--given", "-g", metavar="WORDS", help="What sentences begin with.")
    ] = "",
    length: Annotated[
        int, typer.Option(metavar="N", min=1, help="Words of a sample at most.")
    ] = 1000,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same sentences.")
    ] = None,
    json: Json = False,
) -> None:
    """Sample sentences, or continuations of some words.

    For example: tacit lm sample model.tacit -n 3 --given "in the" --seed 0
    """
    from tacit.cli.output import print_json

    drawn = _load(model).sample(n, given=given, max_length=length, random_state=seed)
    if json:
        print_json(drawn)
        return
    for line in drawn:
        typer.echo(line)


def arpa(
    source: Annotated[
        Path, typer.Argument(metavar="FROM", help="A model (.tacit), or an ARPA file.")
    ],
    target: Annotated[Path, typer.Argument(metavar="TO", help="The other of the two.")],
    json: Json = False,
) -> None:
    """Write or read ARPA files, for other programs.

    For example: tacit lm arpa model.tacit model.arpa
    """
    from tacit.cli.output import console, print_json
    from tacit.errors import ArgumentError, NotAvailableError
    from tacit.language.kneser_ney_lm import BackoffLM

    if (source.suffix == ".tacit") == (target.suffix == ".tacit"):
        raise ArgumentError(
            "one of the two files must be a model, .tacit, and the other an ARPA file"
        )
    if target.suffix == ".tacit":
        model = BackoffLM.from_arpa(source)
        model.save(target)
    else:
        loaded = _load(source)
        if "arpa" not in loaded.abilities:
            raise NotAvailableError(
                f"ARPA files hold n-grams with back-off weights, but this is a {type(loaded).__name__}"
            )
        model = loaded
        model.to_arpa(target)
    if json:
        print_json({"output": str(target), "n_grams": model.diagnostics_["n_grams"]})
        return
    console().print(f"{grams_of(model.diagnostics_)} written to {target}", markup=False)


def _prepared(path: Path, markers: Markers | None) -> LanguageModel:
    """A model that reports progress, with the option about markers."""
    fitted = _load(path)
    fitted.progress = True
    if markers is not None:
        fitted.markers = markers.value
    return fitted


def _load(path: Path) -> LanguageModel:
    from tacit.core.input.missing_files import missing_file
    from tacit.language.kneser_ney_lm import BackoffLM

    if not path.exists():
        raise missing_file(path, "model file")
    if ARPA in path.suffixes:
        return BackoffLM.from_arpa(path)
    fitted: LanguageModel = model_of_kind(path, "language")
    return fitted


def text_path(path: Path) -> Path:
    """Where a text is read from; "-" is standard input."""
    return Path("/dev/stdin") if str(path) == "-" else path


def words_on_lines(n_words: int, n_lines: int) -> str:
    """The size of a text."""
    return f"{n_words:,} word{'' if n_words == 1 else 's'} on {n_lines:,} line{'' if n_lines == 1 else 's'}"


def grams_of(record: Mapping[str, Any]) -> str:
    """The numbers of n-grams of each order."""
    counts = record["n_grams"]
    return ", ".join(f"{count:,} {order}-grams" for order, count in enumerate(counts, start=1))
