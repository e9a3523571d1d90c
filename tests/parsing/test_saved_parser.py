"""Parsers that need no treebank, in files."""

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.exceptions import NotFittedError

from oracles.edited_files import edited
from tacit.core.files.load import load
from tacit.errors import FileFormatError, NotAvailableError
from tacit.parsing.constituent_context import ConstituentContextModel
from tacit.parsing.span_parser import SpanParser
from tacit.toy.sentences import sample_sentences

TEXT = sample_sentences(200, random_state=0)


@pytest.fixture
def parser():
    return SpanParser(prior="learnt", n_features=5, rank=2, metric_weight=0.2).fit(TEXT)


def test_parsers_come_back_from_files(parser, tmp_path):
    parser.save(tmp_path / "p.tacit")
    again = load(tmp_path / "p.tacit")
    assert again.get_params() == parser.get_params()
    assert again.diagnostics_ == parser.diagnostics_
    assert [again.parse(s) for s in TEXT[:20]] == [parser.parse(s) for s in TEXT[:20]]
    with pytest.raises(NotAvailableError, match="fit a new one"):
        again.partial_fit(TEXT)
    assert np.allclose(again.fit(TEXT).distances_.table, parser.distances_.table)


def test_given_vectors_are_not_needed_to_parse(parser, tmp_path):
    given = SpanParser(vectors=parser.vectors_, rank=2).fit(TEXT)
    given.save(tmp_path / "p.tacit")
    assert load(tmp_path / "p.tacit").predict(TEXT[:5]) == given.predict(TEXT[:5])


def test_context_models_come_back_from_files(tmp_path):
    model = ConstituentContextModel(longest=8, pseudo_counts=(1.0, 4.0)).fit(TEXT)
    model.save(tmp_path / "c.tacit")
    again = load(tmp_path / "c.tacit")
    assert again.get_params() == model.get_params()
    assert again.changes_ == model.changes_
    for text in (TEXT, ["new/ZZ tags/QQ here/RB"]):
        spans = [parse.spans for parse in model.predict(text)]
        assert [parse.spans for parse in again.predict(text)] == spans


def test_what_is_not_fitted_is_not_saved(tmp_path):
    for model in (SpanParser(), ConstituentContextModel()):
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "x.tacit")


def test_damaged_files_are_refused(parser, tmp_path):
    path = tmp_path / "p.tacit"
    parser.save(path)
    arrays = load_file(path)
    for name, damage in (
        ("distances.table", arrays["distances.table"][:3]),
        ("distances.table", arrays["distances.table"] * np.nan),
        ("distances.table", None),
        ("chunker.emissions", arrays["chunker.emissions"][:, 1:]),
        ("chunker.transitions", np.full_like(arrays["chunker.transitions"], np.inf)),
        ("chunker.initial", np.full_like(arrays["chunker.initial"], np.nan)),
    ):
        parser.save(path)
        edited(path, {name: damage})
        with pytest.raises(FileFormatError, match=name):
            load(path)
    model = ConstituentContextModel(longest=8).fit(TEXT)
    model.save(path)
    arrays = load_file(path)
    for name, damage in (
        ("yields", arrays["ratios.yields"][::-1]),
        ("yields", arrays["ratios.yields"].view(np.int64)),
        ("of_yields", arrays["ratios.of_yields"][1:]),
        ("of_yields", np.full_like(arrays["ratios.of_yields"], -np.inf)),
        ("of_contexts", arrays["ratios.of_contexts"][1:]),
        ("of_contexts", np.full_like(arrays["ratios.of_contexts"], -1e308)),
    ):
        model.save(path)
        edited(path, {f"ratios.{name}": damage})
        with pytest.raises(FileFormatError, match=f"ratios.{name}"):
            load(path)


def test_the_same_parser_is_the_same_bytes_before_and_after_it_was_loaded(parser, tmp_path):
    parser.save(tmp_path / "one.tacit")
    load(tmp_path / "one.tacit").save(tmp_path / "two.tacit")
    assert (tmp_path / "one.tacit").read_bytes() == (tmp_path / "two.tacit").read_bytes()
