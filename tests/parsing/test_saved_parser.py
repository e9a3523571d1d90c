"""Parsers that need no treebank, in files."""

import numpy as np
import pytest

from tacit.core.files.load import load
from tacit.core.files.model_files import read_model, write_model
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
    assert load(tmp_path / "p.tacit").brackets(TEXT[:5]) == given.brackets(TEXT[:5])


def test_context_models_come_back_from_files(tmp_path):
    model = ConstituentContextModel(longest=8, smoothing=(1.0, 4.0)).fit(TEXT)
    model.save(tmp_path / "c.tacit")
    again = load(tmp_path / "c.tacit")
    assert again.get_params() == model.get_params()
    assert again.changes_ == model.changes_
    for text in (TEXT, ["new/ZZ tags/QQ here/RB"]):
        assert again.brackets(text) == model.brackets(text)


def test_what_is_not_fitted_is_not_saved(tmp_path):
    for model in (SpanParser(), ConstituentContextModel()):
        with pytest.raises(NotAvailableError, match="call fit first"):
            model.save(tmp_path / "x.tacit")


def test_damaged_files_are_refused(parser, tmp_path):
    path = tmp_path / "p.tacit"
    parser.save(path)
    header, arrays = read_model(path)
    for damage in (
        {"distances": arrays["distances"][:3]},
        {"distances": arrays["distances"] * np.nan},
        {},
        {"emitted": arrays["emitted"][:, 1:]},
        {"following": -arrays["following"]},
    ):
        write_model(path, header, {**arrays, **damage} if damage else {})
        with pytest.raises(FileFormatError, match="is damaged"):
            load(path)
    ConstituentContextModel(longest=8).fit(TEXT).save(path)
    header, arrays = read_model(path)
    for name in ("yields", "of_yields", "of_contexts"):
        write_model(path, header, {**arrays, name: arrays[name][::-1][1:]})
        with pytest.raises(FileFormatError, match="is damaged"):
            load(path)
