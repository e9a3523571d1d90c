"""The interface of the kenlm module: its own answers where it is installed, Tacit's elsewhere."""

import copy

import numpy as np
import pytest

from tacit.errors import ArgumentError, FileFormatError, NotAvailableError
from tacit.language import kenlm
from tacit.language.kneser_ney_lm import BackoffLM, KneserNeyLM

LINES = ["der Hund bellt", "der Hund läuft", "", "die Katze läuft", "der Hund bellt laut"] * 3
QUERIES = ["der Hund läuft laut", "die Maus", "", "Katze Katze Katze"]


@pytest.fixture(scope="module", params=[1, 2, 3, 4])
def fitted(request):
    return KneserNeyLM(order=request.param).fit(LINES)


@pytest.fixture(scope="module")
def path(fitted, tmp_path_factory):
    where = tmp_path_factory.mktemp("arpa") / "m.arpa"
    fitted.to_arpa(where)
    return where


@pytest.mark.parametrize("kind", ["arpa", "tacit", "fitted"])
def test_logarithms_are_to_base_ten(fitted, path, tmp_path, kind):
    fitted.save(tmp_path / "m.tacit")
    model = kenlm.Model({"arpa": path, "tacit": tmp_path / "m.tacit", "fitted": fitted}[kind])
    assert model.order == fitted.order
    for line in QUERIES:
        expected = fitted.score_samples([line])[0] / np.log(10)
        # seven digits of each word in an ARPA file
        assert model.score(line) == pytest.approx(expected, abs=1e-6)
        words = list(model.full_scores(line))
        assert sum(word[0] for word in words) == pytest.approx(expected, abs=1e-6)
        assert [word[1:] for word in words] == [score[2:] for score in fitted.scores(line)]
        n = len(line.split()) + 1
        assert model.perplexity(line) == pytest.approx(10 ** (-expected / n), rel=1e-6)


def test_states_walk_along_a_sentence(fitted):
    model = kenlm.Model(fitted)
    state, total = kenlm.State(), 0.0
    model.BeginSentenceWrite(state)
    for word in ["der", "Hund", "</s>"]:
        behind = kenlm.State()
        full = model.BaseFullScore(state, word, behind)
        assert full.log_prob == model.BaseScore(state, word, kenlm.State())
        assert not full.oov
        total += full.log_prob
        state = behind
    assert total == pytest.approx(model.score("der Hund"), rel=1e-12)
    assert copy.copy(state) == copy.deepcopy(state) == state
    assert hash(copy.copy(state)) == hash(state)
    model.NullContextWrite(state)
    part = model.BaseScore(state, "Hund", kenlm.State())
    assert part == pytest.approx(model.score("Hund", bos=False, eos=False), rel=1e-12)
    assert "FullScoreReturn(" in repr(full)


def test_words_can_be_asked_for(path):
    model = kenlm.Model(str(path))
    assert "Hund" in model
    assert "Maus" not in model
    assert "<unk>" not in model
    assert repr(model) == "<Model from m.arpa>"


def test_models_of_arpa_files_can_be_saved(path, tmp_path):
    import tacit

    model = BackoffLM.from_arpa(path)
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(again.score_samples(QUERIES), model.score_samples(QUERIES))
    again.to_arpa(tmp_path / "again.arpa")
    assert (tmp_path / "again.arpa").read_bytes() == path.read_bytes()


def test_models_with_several_pads_have_no_arpa_file(tmp_path):
    model = KneserNeyLM(order=3, pads="all").fit(LINES)
    with pytest.raises(NotAvailableError, match="put one <s> in front of a line"):
        model.to_arpa(tmp_path / "m.arpa")
    assert not (tmp_path / "m.arpa").exists()


def test_the_kenlm_module_says_the_same(fitted, path):
    peer = pytest.importorskip("kenlm")
    if fitted.order == 1:
        pytest.skip("KenLM refuses models of unigrams only")
    theirs, own = peer.Model(str(path)), kenlm.Model(fitted)
    for line in QUERIES:
        words = zip(theirs.full_scores(line), own.full_scores(line), strict=True)
        for one, two in words:
            assert one[0] == pytest.approx(two[0], abs=1e-5)
            assert one[1:] == two[1:]
        assert theirs.score(line) == pytest.approx(own.score(line), abs=1e-5)


def test_what_users_of_kenlm_write_works(path):
    """The words of kenlm's own examples and of its module, but for the import."""
    config = kenlm.Config()
    config.load_method = kenlm.LoadMethod.LAZY
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    config.show_progress = False
    model = kenlm.LanguageModel(str(path), config)
    assert model.score(b"der Hund") == model.score("der Hund")
    assert list(model.full_scores("Hund läuft".encode())) == list(model.full_scores("Hund läuft"))
    assert model.perplexity(b"der Hund") == model.perplexity("der Hund")
    assert b"Hund" in model
    state, behind = kenlm.State(), kenlm.State()
    model.BeginSentenceWrite(state)
    assert model.BaseScore(state, b"der", behind) == model.BaseScore(state, "der", kenlm.State())
    assert state <= behind or behind <= state
    for wrong in (3, ["der", "Hund"], None):
        with pytest.raises(TypeError, match="is not a text"):
            model.score(wrong)


def test_binary_files_of_kenlm_are_named(tmp_path):
    (tmp_path / "m.bin").write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0\1\2")
    with pytest.raises(FileFormatError, match="a binary file of KenLM; give the ARPA file"):
        kenlm.Model(tmp_path / "m.bin")


def test_a_state_of_another_model_is_refused():
    large, small = (kenlm.Model(KneserNeyLM(order=3).fit(lines)) for lines in (LINES, ["a b"]))
    state, after = kenlm.State(), kenlm.State()
    large.BeginSentenceWrite(state)
    for word in ("der", "Hund"):
        large.BaseScore(state, word, after)
        state, after = after, state
    with pytest.raises(ArgumentError, match="not one of this model"):
        small.BaseScore(state, "a", after)
