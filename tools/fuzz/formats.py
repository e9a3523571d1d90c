"""Targets of the other file formats: a small file of each, and mutations of its bytes and its text."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from model_files import OPEN, STORED, Mutant
from mutations import Rng, mutated_arrays, mutated_bytes, mutated_plain, mutated_text, pick
from outcomes import Question, answers_to

_HEADER = "counts.json"
Read = Callable[[Path], dict[str, Question]]

_BIF = """network unknown {}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 3 ] { u, v, w }; }
probability ( a ) { table 0.25, 0.75; }
probability ( b | a ) { (x) 0.5, 0.25, 0.25; default 0.1, 0.2, 0.7; }
"""
_ARPA = """\\data\\
ngram 1=6
ngram 2=9

\\1-grams:
-1.5282738\t<unk>\t0.0000000
-99.0000000\t<s>\t-0.6989700
-0.6679358\t</s>\t0.0000000
-0.4868811\tcat\t-0.6989700
-0.4868811\tdog\t-0.7781513
-0.9842057\tbird\t-0.4771213

\\2-grams:
-0.3995515\t<s> cat
-0.3995515\t<s> dog
-0.8122704\t<s> bird
-0.2393542\tcat </s>
-0.7021990\tcat cat
-0.7021990\tcat dog
-0.3444110\tdog </s>
-0.3269905\tdog cat
-0.1105254\tbird dog

\\end\\
"""
_GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">
<node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"/><edge source="b" target="c"/>
</graph></graphml>
"""
_GML = """graph [ directed 1
  node [ id 0 label "a" ] node [ id 1 label "b" ] node [ id 2 label "c" ]
  edge [ source 0 target 1 ] edge [ source 1 target 2 ]
]
"""
_CONLLU = """# text = the dog saw
1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_

1\tcats\tcat\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\t_

"""
_CSV = "colour,size,weight\n" + "".join(
    f"{'red' if row % 3 else 'blue'},{row % 4},{row * 0.75 - 3}\n" for row in range(12)
)


class FormatTarget:
    """A file of some format.

    Parameters
    ----------
    name : str
    files : mapping of str to bytes
        The first one is what the reader is given.
    read : callable
        Reads the path, and gives questions about what was read.
    """

    def __init__(self, name: str, files: dict[str, bytes], read: Read) -> None:
        self.name, self._files, self._read = name, files, read

    @cached_property
    def original(self) -> dict[str, bytes]:
        """The files before any mutation."""
        return self._files

    def mutant(self, rng: Rng, other: bytes) -> Mutant:
        """One of the files with other bytes or other words; what is in a text is all there is to check."""
        name = pick(rng, sorted(self._files))
        change = mutated_bytes(rng, self._files[name], other) if rng.random() < 0.4 else None
        content = mutated_text(rng, self._files[name]) if change is None else change
        return Mutant({**self._files, name: content}, damaged=False)

    def ask(self, folder: Path) -> dict[str, Any]:
        """The answers of what the files in a folder hold."""
        return answers_to(self._read(folder / next(iter(self._files))))


def _documents(form: str = "auto") -> Read:
    def read(path: Path) -> dict[str, Question]:
        from tacit import read_documents

        documents = read_documents(path, form=form)
        return {"counts": lambda: documents.counts.data, "words": lambda: documents.words}

    return read


def _vocabulary(path: Path) -> dict[str, Question]:
    from tacit.topics.data.vocabulary import read_words

    words = read_words(path)
    return {"words": lambda: words}


def _bif(path: Path) -> dict[str, Question]:
    from tacit import LatentTree

    model = LatentTree.from_bif(path)
    return {
        "summary": lambda: str(model.summary()),
        "score": lambda: model.score_samples({name: [None] for name in model.categories_}),
    }


def _graph(path: Path) -> dict[str, Question]:
    from tacit.junction.files.graphs import read_graph

    graph = read_graph(path)
    return {"edges": lambda: sorted(map(str, graph.edges)), "nodes": lambda: sorted(graph.nodes)}


def _newick(path: Path) -> dict[str, Question]:
    from tacit import Topology

    topology = Topology.from_newick(path)
    return {"newick": topology.to_newick}


def _arpa(path: Path) -> dict[str, Question]:
    from tacit import BackoffLM

    model = BackoffLM.from_arpa(path)
    return {
        "score": lambda: model.score_samples(["cat dog", "dog", ""]),
        "next": lambda: model.predict_next_proba("cat"),
        "sample": lambda: model.sample(2, max_length=10, random_state=0),
    }


def _counts(path: Path) -> dict[str, Question]:
    from tacit import KneserNeyLM
    from tacit.language.files.counts import read_counts

    counts, _ = read_counts(path)
    return {"fit": lambda: KneserNeyLM(order=2).fit_counts(counts).score_samples(["a b", ""])}


def _trees(path: Path) -> dict[str, Question]:
    from tacit import read_trees

    trees = read_trees(path)
    return {"trees": lambda: [str(tree) for tree in trees]}


def _tagged(path: Path) -> dict[str, Question]:
    from tacit.parsing.data.tagged_sentences import read_tagged

    sentences = read_tagged(path)
    return {"sentences": lambda: [str(sentence) for sentence in sentences]}


def _tag_map(path: Path) -> dict[str, Question]:
    from tacit.parsing.data.universal_tags import read_tag_map

    tags = read_tag_map(path)
    return {"tags": lambda: tags}


def _vectors(path: Path) -> dict[str, Question]:
    from tacit.parsing.data.word_vectors import read_word_vectors

    vectors = read_word_vectors(path)
    return {
        "vectors": lambda: vectors.of_words(["cat", "dog"]),
        "unit": lambda: vectors.unit().of_words(["cat"]),
    }


def _sequences(path: Path) -> dict[str, Question]:
    from tacit.sequences.data.read_sequences import read_sequences

    sequences = read_sequences(path)
    return {"codes": lambda: sequences.codes, "symbols": lambda: repr(sequences.symbols)}


def _table(path: Path) -> dict[str, Question]:
    from tacit.core.input.read_table import read_table

    table = read_table(path)
    return {"table": lambda: repr(table)[:2000]}


def _corpus(path: Path) -> dict[str, Question]:
    from tacit.language.data.corpus import read_corpus

    corpus = read_corpus(path)
    return {"words": lambda: corpus.n_words, "lines": lambda: corpus.n_lines}


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table({"colour": ["red", "blue", None] * 4, "size": list(range(12))}), sink)
    return sink.getvalue()


def _npz() -> bytes:
    sink = io.BytesIO()
    np.savez(
        sink, words=np.array(["cat", "dog"]), vecs=np.array([[0.5, 1.0, 2.0], [1.0, 0.0, 3.0]])
    )
    return sink.getvalue()


class CountsTarget:
    """A folder of counts, of format 1 or of format 2, which has digests."""

    def __init__(self, number: int) -> None:
        self.name, self._number = f"counts folder {number}", number

    @cached_property
    def original(self) -> dict[str, bytes]:
        """The files before any mutation."""
        folder = STORED / "language-1.counts"
        header = json.loads((folder / _HEADER).read_bytes())
        return self._folder(
            header, {path.name: np.load(path) for path in sorted(folder.glob("*.npy"))}
        )

    def mutant(self, rng: Rng, other: bytes) -> Mutant:
        """Bytes of one file changed, or the content edited and signed again."""
        files = dict(self.original)
        if rng.random() < 0.4:
            name = pick(rng, sorted(files))
            files[name] = mutated_bytes(rng, files[name], other)
            return Mutant(files, damaged=self._number > 1)
        header = json.loads(files.pop(_HEADER))
        if rng.random() < 0.4:
            header = mutated_plain(rng, header, ("format", "digest"))
            return Mutant(files | {_HEADER: self._header(header)}, damaged=False)
        arrays = {name: np.load(io.BytesIO(content)) for name, content in files.items()}
        return Mutant(self._folder(header, mutated_arrays(rng, arrays)), damaged=False)

    def ask(self, folder: Path) -> dict[str, Any]:
        """The answers of a model that is learnt from the counts."""
        return answers_to(_counts(folder))

    def _folder(self, header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, bytes]:
        files = {}
        for name, array in arrays.items():
            np.save(sink := io.BytesIO(), array)
            files[name] = sink.getvalue()
        if self._number > 1:
            digests = {name: hashlib.sha256(files[name]).hexdigest() for name in files}
            header = header | {"format": self._number, "digests": digests}
        return files | {_HEADER: self._header(header)}

    def _header(self, header: dict[str, Any]) -> bytes:
        if self._number == 1:
            return json.dumps(header).encode()
        before, _, after = json.dumps({**header, "digest": OPEN}).rpartition(OPEN)
        digest = hashlib.sha256(f"{before}{OPEN}{after}".encode()).hexdigest()
        return f"{before}{digest}{after}".encode()


def format_targets() -> list[FormatTarget]:
    """A target for each format that is read."""
    lines = b"the cat saw a dog\n\na dog saw the cat\n"
    texts: list[tuple[str, str, str | bytes, Read]] = [
        (
            "bag of words",
            "docword.txt",
            "3\n4\n5\n1 1 2\n1 3 1\n2 2 4\n3 1 1\n3 4 2\n",
            _documents("uci"),
        ),
        ("LDA-C", "ap.dat", "2 0:1 3:2\n1 1:4\n3 0:1 1:1 2:5\n", _documents("lda-c")),
        ("documents", "documents.txt", lines, _documents("text")),
        ("vocabulary", "vocab.txt", "cat\ndog\nthe\n", _vocabulary),
        ("BIF", "net.bif", _BIF, _bif),
        ("GraphML", "graph.graphml", _GRAPHML, _graph),
        ("GML", "graph.gml", _GML, _graph),
        ("edges", "graph.txt", "parent,child\na,b\nb,c\na,d\n", _graph),
        ("Newick", "tree.nwk", "((a:0.1,b:0.2):0.3,(c:0.4,'d e':0.5)h:0.1,f:1e-2);\n", _newick),
        ("ARPA", "lm.arpa", _ARPA, _arpa),
        (
            "treebank",
            "trees.mrg",
            "( (S (NP (D the) (N dog)) (VP (V saw) (NP (N Bob)))) )\n(S (N a) (V b))\n",
            _trees,
        ),
        ("CoNLL-U", "text.conllu", _CONLLU, _tagged),
        ("tagged text", "text.txt", "the/DET dog/NOUN saw/VERB\ncats/NOUN sleep/VERB\n", _tagged),
        ("tag map", "tags.map", "NN\tNOUN\nVB\tVERB\nDT\tDET\n", _tag_map),
        ("word vectors", "vectors.txt", "cat 0.5 1.0 2.0\ndog 1.0 0.0 3.0\n", _vectors),
        ("Brown clusters", "paths.txt", "0010 cat 3\n0111 dog 2\n", _vectors),
        ("word vectors npz", "vectors.npz", _npz(), _vectors),
        ("FASTA", "genes.fa", ">one\nACGT\nACG\n>two\nTTGA\n", _sequences),
        ("PAutomaC", "1.pautomac.train", "3 4\n3 0 1 2\n0\n2 3 3\n", _sequences),
        ("sequences", "rows.seq", "a b c a\n\nb b\n", _sequences),
        ("sequences gzip", "rows.txt.gz", gzip.compress(b"a b c a\n\nb b\n", mtime=0), _sequences),
        ("CSV", "table.csv", _CSV, _table),
        ("Parquet", "table.parquet", _parquet(), _table),
        ("corpus", "corpus.txt", lines, _corpus),
    ]
    targets = [
        FormatTarget(name, {file: text.encode() if isinstance(text, str) else text}, read)
        for name, file, text, read in texts
    ]
    return [*targets, CountsTarget(1), CountsTarget(2)]
