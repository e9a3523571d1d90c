"""Universal parts of speech of the tags of several treebanks."""

import pytest

from tacit.errors import DataError
from tacit.parsing.data.universal_tags import (
    UNIVERSAL,
    fits_no_table,
    is_finite_verb,
    read_tag_map,
    universal_tag,
)


@pytest.mark.parametrize(
    ("tags", "universal"),
    [
        ("NN NNP NNPS NNS ncms000 np0000p nc00000 Nab Nv4 Ndabd Nfa PROPN NOUN NN|SYM", "NOUN"),
        ("VBD MD vmip3s0 vsn0000 VC2 VH11[+NEG] V_11 VA AUX VERB VBG|NN VA4[+NEG,+ASP]", "VERB"),
        ("JJ JJR aq0cs0 ao0ms0 A ADJ JJ-XYZ", "ADJ"),
        ("DT WDT PDT EX da0fs0 dn0cp0 Neqa Nep Neu DET", "DET"),
        ("IN sps00 spcms P21 P31[+part] Ng SCONJ ADP", "ADP"),
        ("CC cc cs Caa Caa[P1} Cbcb CCONJ CONJ", "CONJ"),
        ("CD Z Zp DM NUM", "NUM"),
        ("PRP PRP$ PRPP WP WPP pr0cn000 p0300000 Nhaa PRON", "PRON"),
        ("RB WRB rg rn Dd Dbab ADV", "ADV"),
        ("TO POS RP Ta PART PRT", "PRT"),
        (". , `` -LRB- COMMA LRB Fc Fpa PUNCT $ #", "."),
        ("FW UH SYM DE I i W Str INTJ X ???", "X"),
    ],
)
def test_tags_of_every_set_have_their_part_of_speech(tags, universal):
    assert universal in UNIVERSAL
    assert {tag: universal_tag(tag) for tag in tags.split()} == dict.fromkeys(
        tags.split(), universal
    )


def test_participles_and_infinitives_are_distinguished_where_the_tags_do():
    assert all(map(is_finite_verb, ["VBD", "VBZ", "MD", "VB", "VERB", "VC2", "vmip3s0", "vsis3s0"]))
    assert not any(map(is_finite_verb, ["VBN", "VBG", "vmp00sm", "vmg0000", "vmn0000", "NN", "."]))


def test_unknown_tags_are_reported():
    assert all(map(fits_no_table, ["???", "QQQ", "3"]))
    assert not any(map(fits_no_table, ["X", "FW", "NN", "DE", ".", "NN-NEW"]))


def test_maps_of_tags_are_read(tmp_path):
    path = tmp_path / "own.map"
    path.write_text("SUBST\tNOUN\n\n$,\t.\nEIGEN PROPN\n")
    assert read_tag_map(path) == {"SUBST": "NOUN", "$,": ".", "EIGEN": "NOUN"}


@pytest.mark.parametrize(
    ("line", "what"),
    [("SUBST", "line 2 has 1 words"), ("SUBST NUON", "line 2: 'NUON' is no universal tag")],
)
def test_maps_of_tags_that_are_none_are_refused_with_the_line(tmp_path, line, what):
    (tmp_path / "own.map").write_text(f"A NOUN\n{line}\n")
    with pytest.raises(DataError, match=what):
        read_tag_map(tmp_path / "own.map")
