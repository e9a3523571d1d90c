"""Whether names and edges are a tree, and whether its names are those of the columns."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from tacit.core.arguments import near_to
from tacit.errors import TopologyError

_SHOWN = 8


def check_tree(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> None:
    """Raise a `TopologyError` unless the edges join all nodes without a cycle."""
    if len(set(nodes)) != len(nodes):
        raise TopologyError(f"nodes need different names, but {_listed(_twice(nodes))} occur twice")
    check_known([name for pair in edges for name in pair], nodes)
    group = {name: name for name in nodes}
    for one, other in edges:
        first, second = _representative(group, one), _representative(group, other)
        if first == second:
            raise TopologyError(f"not a tree: the edge {one!r} - {other!r} closes a cycle")
        group[first] = second
    if len(edges) + 1 < len(nodes):
        home = _representative(group, nodes[0])
        apart = next(name for name in nodes if _representative(group, name) != home)
        raise TopologyError(f"not a tree: nothing joins {nodes[0]!r} and {apart!r}")


def check_numbers(
    lengths: Sequence[float | None], n_states: Mapping[str, int], hidden: Collection[str]
) -> None:
    """Raise a `TopologyError` unless lengths are finite and numbers of states make sense."""
    wrong = [length for length in lengths if length is not None and not math.isfinite(length)]
    if wrong:
        raise TopologyError(f"a branch length must be a finite number, not {wrong[0]!r}")
    for name, count in n_states.items():
        if name not in hidden:
            raise TopologyError(
                f"n_states is given for {name!r}, which is observed; "
                f"its categories come from the data"
            )
        if count < 1:
            raise TopologyError(f"n_states of {name!r} must be at least 1, not {count}")


def check_known(names: Collection[str], nodes: Sequence[str]) -> None:
    """Raise a `TopologyError` that gives the nearest node if a name is none of the nodes."""
    known = set(nodes)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise TopologyError(f"the tree has no node {_listed(unknown, nodes)}")


def check_columns(observed: Sequence[str], hidden: Collection[str], columns: Sequence[str]) -> None:
    """Raise a `TopologyError` unless the observed nodes are the columns, in any order."""
    in_tree, in_data = set(observed), set(columns)
    if len(in_data) != len(columns):
        raise TopologyError(
            f"columns need different names, but {_listed(_twice(columns))} occur twice"
        )
    missing = [name for name in columns if name not in in_tree]
    extra = [name for name in observed if name not in in_data]
    if not missing and not extra:
        return
    parts = []
    if missing:
        parts.append(f"columns missing from the tree: {_listed(missing, extra or observed)}")
    if extra:
        parts.append(
            f"leaves of the tree that are no columns: {_listed(extra, missing or columns)}"
        )
    concealed = [name for name in missing if name in hidden]
    if concealed:
        parts.append(f"{_listed(concealed)} stand in the tree as hidden nodes")
    raise TopologyError(
        "the tree does not match the data; " + "; ".join(parts) + ". Rename, drop or select columns"
    )


def _representative(group: dict[str, str], name: str) -> str:
    while (up := group[name]) != name:
        group[name] = name = group[up]  # halves the path, so that the next search is short
    return name


def _twice(names: Sequence[str]) -> list[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return [name for name, count in counts.items() if count > 1]


def _listed(names: Sequence[str], candidates: Sequence[str] = ()) -> str:
    """Some names in quotes, each with the nearest candidate, and how many more there are."""
    shown = []
    for name in names[:_SHOWN]:
        near = near_to(name, candidates)
        shown.append(f"{name!r} (did you mean {near[0]!r}?)" if near else repr(name))
    more = len(names) - _SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
