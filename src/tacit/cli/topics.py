"""`tacit topics`: topics, topic weights of documents, samples and scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.fit.topics import DocumentFile, Form, FormOfFile, WordFile, form_of
from tacit.cli.options import Json, TableOutput

if TYPE_CHECKING:
    from tacit.topics.data.documents import Documents
    from tacit.topics.topic_model import TopicModel

TopicFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="What `tacit fit topics` saved (.tacit).")
]
Words = Annotated[int, typer.Option("--words", "-n", min=1, help="Words of each topic.")]


def show(model: TopicFile, n_words: Words = 10, json: Json = False) -> None:
    """Print the topics, the heaviest first: number, weight, most likely words.

    For example: tacit topics show topics.tacit -n 8
    """
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.output import console, print_json

    fitted = _loaded(model)
    weights, tops = fitted.topics_.weights, fitted.top_words(n_words)
    if json:
        print_json(
            [
                {"topic": place, "weight": float(weight), "words": words}
                for place, (weight, words) in enumerate(zip(weights, tops, strict=True))
            ]
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("topic", "weight", "words"):
        table.add_column(heading, justify="left" if heading == "words" else "right")
    for place, (weight, words) in enumerate(zip(weights, tops, strict=True)):
        table.add_row(str(place), f"{weight:.4f}", Text(" ".join(words)))
    console().print(table)


def apply(
    model: TopicFile,
    data: DocumentFile,
    output: TableOutput = None,
    vocabulary: WordFile = None,
    form: FormOfFile = Form.auto,
    json: Json = False,
) -> None:
    """The topic weights of each document of DATA, as a table.

    For example: tacit topics apply topics.tacit docword.txt --vocabulary vocab.txt -o weights.csv
    """
    import pyarrow as pa

    from tacit.cli.output import check_table_path, give_table

    check_table_path(output)
    fitted = _loaded(model)
    weights = fitted.transform(_documents(fitted, data, vocabulary, form))
    columns = {f"topic{place}": weights[:, place] for place in range(weights.shape[1])}
    give_table(pa.table(columns), output, json=json)


def sample(
    model: TopicFile,
    n: Annotated[int, typer.Option("-n", "--samples", min=1, help="How many documents.")] = 10,
    length: Annotated[int, typer.Option(metavar="N", min=1, help="Words of each.")] = 100,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same documents.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A text file; without it, print."),
    ] = None,
) -> None:
    """Sample documents from the model: one on each line, in the order of the vocabulary.

    For example: tacit topics sample topics.tacit -n 3 --length 20 --seed 0
    """
    from tacit.core.files.atomic import write_text

    fitted = _loaded(model)
    drawn = fitted.sample(n, length=length, random_state=seed)
    text = "".join(" ".join(words) + "\n" for words in drawn.lists())
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)


def score(
    model: TopicFile,
    data: DocumentFile,
    vocabulary: WordFile = None,
    form: FormOfFile = Form.auto,
    n_words: Words = 10,
    json: Json = False,
) -> None:
    """Log-likelihood and perplexity of the documents of DATA, and coherence of topics in DATA.

    Perplexity is that of one half of the words of each document, given the other half.

    For example: tacit topics score topics.tacit test.txt
    """
    from tacit.cli.output import console, print_json

    fitted = _loaded(model)
    documents = _documents(fitted, data, vocabulary, form)
    perplexity = fitted.perplexity(documents)
    mean = fitted.score(documents)
    coherence = fitted.coherence(documents, n_words)
    if json:
        print_json(
            {
                "score": mean,
                "perplexity": perplexity,
                "coherence": float(coherence.mean()),
                "coherences": coherence.tolist(),
                "n_documents": documents.n_documents,
                "n_tokens": int(documents.lengths.sum()),
            }
        )
        return
    out = console()
    out.print(
        f"perplexity {perplexity:.2f} of half of {documents.n_documents:,} documents", markup=False
    )
    out.print(f"score      {mean:.4f} (mean log-likelihood per document)", markup=False)
    out.print(
        f"coherence  {coherence.mean():.4f} (mean NPMI of {n_words} words a topic)", markup=False
    )


def _loaded(path: Path) -> TopicModel:
    from tacit.cli.kinds import model_of_kind

    fitted: TopicModel = model_of_kind(path, "topics")
    return fitted


def _documents(model: TopicModel, data: Path, vocabulary: Path | None, form: Form) -> Documents:
    """The documents of a file over the words of a model."""
    from tacit.errors import DataError
    from tacit.topics.data.keep_words import over_words
    from tacit.topics.data.read_documents import read_documents

    kind = form_of(data, form)
    documents = read_documents(data, vocabulary, form=kind)
    if documents.named:
        return over_words(documents, model.words_)
    if documents.n_words != len(model.words_):
        raise DataError(
            f"{str(data)!r} has {documents.n_words} words, the model {len(model.words_)}; say which words "
            f"these are with --vocabulary FILE"
        )
    return documents
