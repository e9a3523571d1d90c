"""Tags that only a map explains: a parser keeps the one that it was learnt with."""

import re

import pytest

import tacit
from oracles.commands import tacit_says
from tacit.parsing.data.parse_trees import with_tags
from tacit.toy.sentences import sample_sentences, sample_trees

TEXT, TREES = sample_sentences(200, random_state=0), sample_trees(20, random_state=1)
NAMES = {"DET": "art", "NOUN": "subst", "VERB": "predicate", "ADP": "on", "ADJ": "like"}
MAP = {**{new: old for old, new in NAMES.items()}, "mark": "."}
KEPT = "count as in the --tags-map that the model was learnt with"
METHODS = {"span": ("--features", "5", "--rank", "2"), "ccm": ("--method", "ccm")}


def lines(sentences):
    return "".join(
        " ".join(f"{word}/{tag}" for word, tag in sentence) + "\n" for sentence in sentences
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text and a treebank with tags of their own, marks among them, and parsers of both texts."""
    place = tmp_path_factory.mktemp("tags")
    (place / "plain.txt").write_text(lines(TEXT))
    renamed = [[(word, NAMES[tag]) for word, tag in sentence] for sentence in TEXT]
    (place / "own.txt").write_text(lines([*sentence, ("!", "mark")] for sentence in renamed))
    trees = [with_tags(tree, NAMES) for tree in TREES]
    (place / "own.mrg").write_text("".join(f"(S (mark !) {tree})\n" for tree in trees))
    (place / "unmarked.mrg").write_text("".join(f"{tree}\n" for tree in trees))
    (place / "own.map").write_text("".join(f"{tag} {to}\n" for tag, to in MAP.items()))
    for name, options in METHODS.items():
        for text, map_option in (("plain", ()), ("own", ("--tags-map", place / "own.map"))):
            files = (place / f"{text}.txt", "-o", place / f"{text}_{name}.tacit")
            tacit_says("parse", "train", *files, *options, *map_option)
    return place


@pytest.mark.parametrize("model", [f"own_{name}.tacit" for name in METHODS])
@pytest.mark.parametrize("question", [("apply", "own.txt"), ("evaluate", "own.mrg", "--json")])
def test_a_model_keeps_the_map_that_it_was_learnt_with(run, model, question):
    name, *data = question
    command, map_option = ("parse", name, model, *data), ("--tags-map", "own.map")
    assert run(*command) == run(*command, *map_option)
    assert "note" not in run(*command, *map_option, with_errors=True)
    printed = run(*command, with_errors=True)
    named = printed.partition("note: the tags ")[2].partition(" count as ")[0]
    assert sorted(named.split(", ")) == sorted(MAP)
    assert KEPT in printed
    assert printed.count("note") == 1


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_said_of_a_map_that_nobody_needs(run, name):
    printed = run("parse", "apply", f"own_{name}.tacit", "plain.txt", with_errors=True)
    assert "note" not in printed
    assert printed == run("parse", "apply", f"plain_{name}.tacit", "plain.txt")


def test_what_is_kept_is_plain_and_reported(run, folder):
    assert tacit.load(folder / "own_span.tacit").diagnostics_["tags_map"] == MAP
    assert re.search(r"tags map +art DET, subst NOUN, ", run("info", "own_ccm.tacit"))
    assert "tags_map" not in tacit.load(folder / "plain_span.tacit").diagnostics_


def test_a_map_at_hand_comes_before_the_one_kept(run, folder):
    swapped = "subst VERB\npredicate NOUN\n"
    (folder / "swapped.map").write_text(swapped)
    (folder / "every.map").write_text((folder / "own.map").read_text() + swapped)
    command = ("parse", "apply", "own_span.tacit", "own.txt")
    parsed = run(*command, "--tags-map", "swapped.map")
    assert parsed == run(*command, "--tags-map", "every.map")
    assert parsed != run(*command)
    printed = run(*command, "--tags-map", "swapped.map", with_errors=True)
    named = printed.partition("note: the tags ")[2].partition(" count as ")[0]
    assert sorted(named.split(", ")) == sorted(MAP.keys() - {"subst", "predicate"})


def test_trees_are_compared_by_tags_as_they_are_meant(run, folder):
    pictures = []
    for bank in ("own", "unmarked"):
        several = ("-o", f"{bank}.svg", "-n", "1", "-n", "2", "--compare")
        run("parse", "draw", "own_span.tacit", f"{bank}.mrg", *several)
        pictures.append((folder / f"{bank}.svg").read_text())
    assert all(f">{word}<" in pictures[0] for tree in TREES[:2] for word, _ in tree.leaves())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("saved_map", [{"art": "Q"}, ["art"], {"art": 3}])
def test_a_map_that_is_damaged_is_reported(run, folder, saved_map):
    model = tacit.load(folder / "plain_span.tacit")
    model.diagnostics_["tags_map"] = saved_map
    model.save(folder / "damaged.tacit")
    printed = run("parse", "apply", "damaged.tacit", "plain.txt", code=1)
    assert "error: 'damaged.tacit' is damaged: its map of tags" in printed
