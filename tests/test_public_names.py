"""The public names stand in public_names.txt, so that none comes or goes unnoticed.

`make names` writes the file anew; the difference is then read by whoever reviews the change.
"""

import inspect
from pathlib import Path

import pytest

import tacit

RECORD = Path(__file__).with_name("public_names.txt")


def members_of_class(cls):
    """Public attributes that Tacit itself defines; what scikit-learn adds is not listed."""
    ours = [base for base in cls.__mro__ if base.__module__.split(".")[0] == "tacit"]
    names = {name for base in ours for name in vars(base) if not name.startswith("_")}
    # scikit-learn makes set_fit_request and its like from the signatures.
    return {name for name in names if not (name.startswith("set_") and name.endswith("_request"))}


def public_names():
    """Dotted public names: of the package, of its public modules, of their classes."""
    names = set()

    def visit(name, value):
        names.add(name)
        if inspect.ismodule(value):
            for inner in value.__all__:
                visit(f"{name}.{inner}", getattr(value, inner))
        elif inspect.isclass(value):
            names.update(f"{name}.{member}" for member in members_of_class(value))

    for name in tacit.__all__:
        visit(f"tacit.{name}", getattr(tacit, name))
    return sorted(names)


def test_public_names_are_those_on_record():
    recorded = RECORD.read_text(encoding="utf-8").split()
    actual = public_names()
    gone = sorted(set(recorded) - set(actual))
    new = sorted(set(actual) - set(recorded))
    assert not gone, f"published names are gone: {gone}"
    assert not new, f"names are not on record: {new}; run `make names` if they are meant"
    assert recorded == actual, "the record is not sorted; run `make names`"


def test_every_public_name_has_a_home_and_no_other_has():
    assert set(tacit._HOMES) == set(tacit.__all__)
    assert sorted(tacit.__all__) == tacit.__all__
    assert set(tacit.__all__) <= set(dir(tacit))


@pytest.mark.parametrize("name", tacit.__all__)
def test_public_name_is_documented(name):
    assert inspect.getdoc(getattr(tacit, name))


def test_unknown_name_is_an_attribute_error_that_lists_what_exists():
    with pytest.raises(AttributeError, match="LatentTree"):
        tacit.LatentTrees  # noqa: B018


if __name__ == "__main__":
    RECORD.write_text("\n".join(public_names()) + "\n", encoding="utf-8")
