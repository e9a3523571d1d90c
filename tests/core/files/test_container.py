"""Model files as bytes: written whole, read back exactly, refused where a byte is another."""

import hashlib
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from safetensors.numpy import load_file, save_file

import tacit
from oracles.stored_again import FOLDER
from tacit.core.files import container
from tacit.core.files.container import FORMAT, read_file, write_file
from tacit.errors import ArgumentError, ArgumentTypeError, FileFormatError, MissingDataError

HEADER = {"estimator": "LatentTree", "schema": [{"name": "é\n'\""}], "score": -np.inf}
ARRAYS = {"emit.0": np.arange(6.0).reshape(2, 3), "n_states": np.array([2, 3])}

kinds = st.sampled_from(
    ["float64", "float32", "int64", "int32", "int16", "uint64", "uint8", "bool"]
)
arrays = kinds.flatmap(
    lambda kind: npst.arrays(kind, npst.array_shapes(min_dims=0, min_side=0, max_side=3))
)


@pytest.fixture
def path(tmp_path):
    write_file(tmp_path / "m.tacit", HEADER, ARRAYS)
    return tmp_path / "m.tacit"


@given(st.dictionaries(st.text(min_size=1, max_size=5), arrays, max_size=4))
def test_arrays_come_back_as_they_were(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("models") / "m.tacit"
    write_file(path, HEADER, content)
    _, actual = read_file(path)
    assert actual.keys() == content.keys()
    for name, array in content.items():
        assert actual[name].dtype == array.dtype
        assert actual[name].shape == array.shape
        assert actual[name].tobytes() == array.tobytes()


def test_the_header_comes_back_with_format_version_and_digest(path):
    header, _ = read_file(path)
    digest = header.pop("digest")
    assert header == {**HEADER, "format": FORMAT, "version": tacit.__version__}
    zeros = path.read_bytes().replace(digest.encode(), b"0" * 64)
    assert digest == hashlib.sha256(zeros).hexdigest()


def test_other_programs_read_the_arrays(path):
    actual = load_file(path)
    assert actual.keys() == ARRAYS.keys()
    assert np.array_equal(actual["emit.0"], ARRAYS["emit.0"])


def test_arrays_in_any_order_of_memory_come_back(tmp_path):
    array = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))[::-1, :, ::2]
    write_file(tmp_path / "m.tacit", HEADER, {"a": array})
    assert np.array_equal(read_file(tmp_path / "m.tacit")[1]["a"], array)


def test_the_same_model_is_the_same_bytes(path, tmp_path):
    write_file(tmp_path / "again.tacit", HEADER, dict(reversed(ARRAYS.items())))
    assert path.read_bytes() == (tmp_path / "again.tacit").read_bytes()


def test_arrays_outlive_their_file(path):
    _, actual = read_file(path)
    path.write_bytes(b"\0" * path.stat().st_size)
    assert np.array_equal(actual["emit.0"], ARRAYS["emit.0"])


@pytest.mark.parametrize("text", ["0" * 64, '\\"digest\\": \\"' + "0" * 64, '"digest": "0000'])
def test_texts_that_look_like_a_digest_do_no_harm(tmp_path, text):
    path = tmp_path / "m.tacit"
    write_file(path, {**HEADER, "text": text}, {text: np.zeros(2)})
    header, arrays = read_file(path)
    assert header["text"] == text
    assert set(arrays) == {text}


# -- refused on writing ------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "better"), [("m", "m.tacit"), ("m.pkl", "m.tacit")])
def test_another_extension_is_refused_with_the_right_one(tmp_path, name, better):
    with pytest.raises(ArgumentError, match=f"say '{better}'"):
        write_file(tmp_path / name, HEADER, ARRAYS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("header", "arrays", "error"),
    [
        ({**HEADER, "seed": object()}, ARRAYS, ArgumentTypeError),
        (HEADER, {"a": np.array(["text"])}, ArgumentError),
        (HEADER, {"a": np.zeros(2, dtype=np.float16)}, ArgumentError),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(path, header, arrays, error):
    before = path.read_bytes()
    with pytest.raises(error):
        write_file(path, header, arrays)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["m.tacit"]


# -- refused on reading ------------------------------------------------------------------------


def test_every_flipped_byte_is_refused(path):
    whole = path.read_bytes()
    for place in range(len(whole)):
        for flip in (0x01, 0x80, 0xFF):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
            with pytest.raises(FileFormatError):
                read_file(path)


def test_every_cut_and_every_addition_is_refused(path):
    whole = path.read_bytes()
    for content in (*(whole[:end] for end in range(len(whole))), whole + b"\0", whole + whole):
        path.write_bytes(content)
        with pytest.raises(FileFormatError):
            read_file(path)


@pytest.mark.parametrize("stored", sorted(FOLDER.glob("*-3*.tacit")), ids=lambda one: one.stem)
def test_flipped_bits_of_every_stored_file_are_refused(stored, tmp_path):
    whole, rng = stored.read_bytes(), np.random.default_rng(0)
    places = {*range(8), len(whole) - 1, *rng.integers(len(whole), size=40).tolist()}
    for place in places:
        flipped = whole[place] ^ 1 << int(rng.integers(8))
        (tmp_path / "m.tacit").write_bytes(whole[:place] + bytes([flipped]) + whole[place + 1 :])
        with pytest.raises(FileFormatError):
            tacit.load(tmp_path / "m.tacit")


def test_a_file_that_is_replaced_while_it_is_read_is_read_again(path, monkeypatch):
    check, replaced = container._check_digest, []

    def replace_and_check(*arguments):
        if not replaced:
            replaced.append(True)
            write_file(path, {**HEADER, "estimator": "ChowLiuTree"}, ARRAYS)
        check(*arguments)

    monkeypatch.setattr(container, "_check_digest", replace_and_check)
    assert read_file(path)[0]["estimator"] == "ChowLiuTree"


def test_changed_content_is_reported_as_damage(path):
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)
    with pytest.raises(FileFormatError, match="damaged"):
        read_file(path)


@pytest.mark.parametrize("digest", [None, 3, "", "0" * 64, "f" * 64, "0" * 63, "x"])
def test_a_file_without_its_digest_is_refused(tmp_path, digest):
    header = {"format": 3, "version": "0.2", "digest": digest, **HEADER, "score": 0}
    save_file(ARRAYS, tmp_path / "m.tacit", metadata={"tacit": json.dumps(header)})
    with pytest.raises(FileFormatError, match="digest"):
        read_file(tmp_path / "m.tacit")


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(MissingDataError, match="there is no model file"):
        read_file(tmp_path / "m.tacit")


def test_a_folder_is_no_model_file(tmp_path):
    with pytest.raises(MissingDataError, match="folder"):
        read_file(tmp_path)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_a_foreign_safetensors_file_is_refused(tmp_path, metadata):
    save_file({"weight": np.zeros(2)}, tmp_path / "m.tacit", metadata=metadata)
    with pytest.raises(FileFormatError, match="not written by Tacit"):
        read_file(tmp_path / "m.tacit")


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no format number"),
        ('{"estimator": "LatentTree"}', "no format number"),
        ('{"format": "1", "estimator": "LatentTree"}', "no format number"),
        ('{"format": true, "estimator": "LatentTree"}', "no format number"),
        ('{"format": 1}', "names no estimator"),
        ('{"format": 0, "estimator": "LatentTree"}', "format 0"),
        ('{"format": 4, "version": "9.1", "estimator": "X"}', "format 4, written by Tacit 9.1"),
    ],
)
def test_a_header_that_is_not_understood_is_refused(tmp_path, header, complaint):
    save_file(ARRAYS, tmp_path / "m.tacit", metadata={"tacit": header})
    with pytest.raises(FileFormatError, match=complaint):
        read_file(tmp_path / "m.tacit")


@pytest.mark.parametrize("kind", [np.float16, np.uint32])
def test_an_array_of_a_type_that_is_never_written_is_refused(tmp_path, kind):
    header = json.dumps({"format": 1, "version": "0", "estimator": "LatentTree"})
    save_file({"a": np.zeros(2, dtype=kind)}, tmp_path / "m.tacit", metadata={"tacit": header})
    with pytest.raises(FileFormatError, match="array 'a' of type"):
        read_file(tmp_path / "m.tacit")


def test_a_header_that_lies_about_its_length_is_refused(path):
    whole = path.read_bytes()
    for length in (0, 2**40, 2**63):
        path.write_bytes(struct.pack("<Q", length) + whole[8:])
        with pytest.raises(FileFormatError):
            read_file(path)
