"""BIF written and read: our own files exactly, those of other programs as they are meant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import FileFormatError, FileWriteError, MissingDataError
from tacit.trees.files.bif import (
    BifNetwork,
    BifTable,
    BifVariable,
    bif_text,
    parse_bif,
    read_bif,
    write_bif_network,
)

hostile = st.text(max_size=6) | st.sampled_from(
    ["", " ", "variable", "Table", "a;b", "a}", '"', "\\", "//", "/* */", "a=b", "1", "é", "\udc80"]
)
categories = st.lists(
    hostile
    | st.integers(-3, 20)
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False),
    min_size=1,
    max_size=4,
    unique_by=lambda value: (type(value), value),
)


@st.composite
def networks(draw):
    """Any network of discrete variables, with hostile names: each depends on some of those before."""
    names = draw(st.lists(hostile, min_size=1, max_size=5, unique=True))
    states = [tuple(draw(categories)) for _ in names]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    variables, tables = [], []
    for place, name in enumerate(names):
        parents = (
            draw(st.lists(st.sampled_from(range(place)), max_size=2, unique=True)) if place else []
        )
        shape = [len(states[parent]) for parent in parents]
        values = rng.dirichlet(np.ones(len(states[place])), size=shape or None)
        tables.append(BifTable(name, tuple(names[parent] for parent in parents), values))
        variables.append(BifVariable(name, states[place], latent=draw(st.booleans())))
    order = draw(st.permutations(tables))
    return BifNetwork(draw(st.sampled_from(["n", "network"])), tuple(variables), tuple(order))


def same_tables(one, other):
    return all(
        (a.variable, a.parents) == (b.variable, b.parents) and np.array_equal(a.values, b.values)
        for a, b in zip(one.tables, other.tables, strict=True)
    )


@given(networks())
def test_reading_what_was_written_gives_the_same_network(network):
    restored = parse_bif(bif_text(network))
    assert restored.variables == network.variables
    kinds = [[type(category) for category in variable.categories] for variable in network.variables]
    assert kinds == [
        [type(category) for category in variable.categories] for variable in restored.variables
    ]
    assert same_tables(restored, network)


@given(networks())
def test_what_is_written_has_only_words_that_every_program_reads(network):
    text = bif_text(network)
    assert text.isascii()
    words = set()
    for line in text.splitlines():
        if line.startswith("variable"):
            _, word, bracket = line.split(" ")
            assert word.replace("_", "a").isalnum()
            assert not word[0].isdigit()
            assert word.lower() not in ("network", "variable", "probability", "table", "type")
            assert word.lower() not in words  # some programs do not tell upper from lower case
            words.add(word.lower())
            assert bracket == "{"
        if line.startswith("  property"):
            assert line.count(";") == line.count("=") == 1
            assert not set("{}()|\"'") & set(line)
    assert len(words) == len(network.variables)


def test_a_file_comes_back(tmp_path):
    network = parse_bif(SPRINKLER)
    write_bif_network(tmp_path / "n.bif", network)
    restored = read_bif(tmp_path / "n.bif")
    assert restored.name == "sprinkler"
    assert restored.variables == network.variables
    assert same_tables(restored, network)


def test_properties_of_other_programs_are_kept():
    variable = BifVariable("x", ("a",), properties=("position = (3, 4)",))
    network = BifNetwork("n", (variable,), (BifTable("x", (), np.ones(1)),), ('author "me; you"',))
    restored = parse_bif(bif_text(network))
    assert restored.variables == network.variables
    assert restored.properties == network.properties


def test_names_that_can_stay_stay_and_the_others_give_way():
    tables = tuple(BifTable(name, (), np.ones(1)) for name in ("a b", "a_b", "A_B"))
    variables = tuple(BifVariable(table.variable, ("only",)) for table in tables)
    text = bif_text(BifNetwork("n", variables, tables))
    assert [line.split()[1] for line in text.splitlines() if line.startswith("variable")] == [
        "a_b_2",
        "a_b",
        "A_B_3",
    ]


# -- files of other programs ----------------------------------------------------------------------

# In the style of the repository of bnlearn.
SPRINKLER = """network sprinkler {
}
variable rain {
  type discrete [ 2 ] { yes, no };
}
variable sprinkler {
  type discrete [ 2 ] { on, off };
}
variable grass {
  type discrete [ 3 ] { <5%, 5-50%, >50% };
}
probability ( rain ) {
  table 0.2, 0.8;
}
probability ( sprinkler | rain ) {
  (yes) 0.01, 0.99;
  (no) 0.4, 0.6;
}
probability ( grass | sprinkler, rain ) {
  (on, yes) 0.0, 0.01, 0.99;
  (off, yes) 0.1, 0.1, 0.8;
  (on, no) 0.05, 0.05, 9e-1;
  (off, no) 1.0, 0.0, 0.0;
}
"""

# In the style of JavaBayes: quotes, no commas, no bar, tables with the variable changing slowest.
DOG = """// Bayesian network
network "Dog-Problem" { //5 variables
  property "credal-set constant-density-bounded 1.1" ;
}
variable  "light-on" { //2 values
  type discrete[2] {  "true"  "false" };
  property "position = (218, 195)" ;
}
variable  "family-out" {
  type discrete[2] {  "true"  "false" };
}
/* the order
   of the values */
probability (  "light-on"  "family-out" ) { //2 variable(s) and 4 values
  table 0.6 0.05 0.4 0.95 ;
}
probability (  "family-out" ) { table 0.15 0.85 ; }
"""


def test_a_file_in_the_style_of_bnlearn_is_read():
    network = parse_bif(SPRINKLER)
    assert network.variable_of["grass"].categories == ("<5%", "5-50%", ">50%")
    table = network.table_of["grass"]
    assert table.parents == ("sprinkler", "rain")
    assert table.values[1, 0].tolist() == [0.1, 0.1, 0.8]  # off, yes
    assert table.values[0, 1].tolist() == [0.05, 0.05, 0.9]
    assert network.table_of["rain"].values.tolist() == [0.2, 0.8]


def test_a_file_in_the_style_of_javabayes_is_read():
    network = parse_bif(DOG)
    assert network.name == "Dog-Problem"
    assert network.properties == ('"credal-set constant-density-bounded 1.1"',)
    table = network.table_of["light-on"]
    assert table.values.tolist() == [[0.6, 0.4], [0.05, 0.95]]  # P(light-on | family-out)


def test_default_fills_the_rows_that_are_not_given():
    text = SPRINKLER.replace("(on, no) 0.05, 0.05, 9e-1;\n", "default 0.25, 0.5, 0.25;\n")
    values = parse_bif(text).table_of["grass"].values
    assert values[0, 1].tolist() == [0.25, 0.5, 0.25]
    assert values[0, 0].tolist() == [0.0, 0.01, 0.99]


def test_default_alone_fills_every_row():
    text = SPRINKLER.replace("  (yes) 0.01, 0.99;\n  (no) 0.4, 0.6;", "  default 0.5, 0.5;")
    assert parse_bif(text).table_of["sprinkler"].values.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_rounded_probabilities_are_brought_to_sum_one():
    text = SPRINKLER.replace("(off, no) 1.0, 0.0, 0.0", "(off, no) 0.333, 0.333, 0.333")
    row = parse_bif(text).table_of["grass"].values[1, 1]
    assert row.tolist() == pytest.approx([1 / 3] * 3, rel=1e-12)


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path):
    path = tmp_path / "n.bif"
    path.write_bytes(b"\xef\xbb\xbf" + SPRINKLER.replace("\n", "\r\n").encode())
    assert same_tables(read_bif(path), parse_bif(SPRINKLER))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("network", "netwerk", "line 1: one of network, variable, probability expected"),
        ("[ 2 ] { yes", "[ 3 ] { yes", "line 5: 'rain' has 3 categories, but 2 follow"),
        ("type discrete [ 2 ] { on", "type continuous [ 2 ] { on", "only discrete"),
        ("table 0.2, 0.8;", "table 0.2, eight;", "line 13: .*'eight'"),
        ("table 0.2, 0.8;", "table 0.2, 0.3, 0.5;", "has 3 values, expected 2"),
        ("table 0.2, 0.8;", "table 0.2, 0.9;", "sum to one: \\[0.2, 0.9\\]"),
        ("table 0.2, 0.8;", "table -0.2, 1.2;", "sum to one"),
        ("table 0.2, 0.8;", "table nan, 0.8;", "sum to one"),
        ("table 0.2, 0.8;", "table 0.2, 0.8", "number expected"),
        ("(no) 0.4, 0.6;", "", "lacks the row \\('no',\\)"),
        ("(no) 0.4, 0.6;", "(yes) 0.4, 0.6;", "given twice"),
        ("(no) 0.4, 0.6;", "(no) 0.4, 0.6; (maybe) 0.5, 0.5;", "no categories of its parents"),
        ("(no) 0.4, 0.6;", "(no) 0.4, 0.3, 0.3;", "has 3 values, expected 2"),
        ("( rain )", "( snow )", "'snow', which is no variable"),
        ("| rain )", "| snow )", "'snow', which is no variable"),
        ("( rain )", "( sprinkler )", "named twice|no probability table|have a table"),
        ("variable sprinkler", "variable rain", "named twice: 'rain'"),
        ("{ yes, no }", "{ yes, yes }", "named twice: 'yes'"),
        ("| sprinkler, rain", "| rain, rain", "named twice"),
        ("yes, no };\n}", "yes, no };\n  property tacit_name = x;\n}", "'x' is not the note"),
        ("yes, no };\n}", "yes, no };\n  property tacit_name = s:%FF;\n}", "not the note"),
        ("yes, no };\n}", "yes, no };\n  property tacit_categories = s:x;\n}", "are not 2"),
        ("yes, no };\n}", "yes, no };\n  property tacit_categories = i:1, b:x;\n}", "'b:x'"),
        ("yes, no };\n}", "yes, no };\n  property tacit_categories = i:1, i:1;\n}", "twice: 1"),
        ("{ yes, no };", "{ yes, no }", "';' expected"),
    ],
)
def test_a_damaged_text_is_refused_with_a_reason(old, new, complaint):
    assert old in SPRINKLER
    with pytest.raises(FileFormatError, match=complaint):
        parse_bif(SPRINKLER.replace(old, new, 1))


def test_a_text_cut_anywhere_is_refused():
    for length in range(len(SPRINKLER) - 2):
        with pytest.raises(FileFormatError):
            parse_bif(SPRINKLER[:length])


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "(a,b);", "// nothing"])
def test_something_else_is_no_bif(text):
    with pytest.raises(FileFormatError):
        parse_bif(text)


def test_files_that_cannot_be_read_or_written_are_named(tmp_path):
    with pytest.raises(MissingDataError, match=r"no\.bif"):
        read_bif(tmp_path / "no.bif")
    (tmp_path / "latin.bif").write_bytes("é".encode("latin-1"))
    with pytest.raises(FileFormatError, match=r"latin\.bif' is not UTF-8"):
        read_bif(tmp_path / "latin.bif")
    (tmp_path / "bad.bif").write_text("network {")
    with pytest.raises(FileFormatError, match=r"bad\.bif': line 1"):
        read_bif(tmp_path / "bad.bif")
    with pytest.raises(FileWriteError, match="does not exist"):
        write_bif_network(tmp_path / "no" / "n.bif", parse_bif(SPRINKLER))
