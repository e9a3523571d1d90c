"""Matches the columns of the data with those of the model."""

from __future__ import annotations

from tacit.core.arguments import near_to
from tacit.core.input.chunks import Block
from tacit.core.input.table import Schema, listing, unknown_column_text
from tacit.errors import ColumnError, DataError


def matched_places(
    block: Block, schema: Schema, *, partial: bool = False, extras: str = "error"
) -> list[int]:
    """For each column of the schema its place in the block, -1 where the block lacks it.

    Columns that have names are matched by name, in any order; others by place.

    Parameters
    ----------
    block : Block
        The rows.
    schema : Schema
        What is wanted.
    partial : bool
        Whether columns may be absent.
    extras : {"error", "typos", "ignore"}
        What to do with columns that the schema does not know: refuse them all, refuse those that look like a
        misspelling of one that is absent, or leave them out.
    """
    left_out = (*schema.left_out, *schema.ignored)
    if not block.named:
        if len(block.names) > len(schema) and set(schema.names) <= set(block.names):
            return [block.names.index(name) for name in schema.names]  # others were left out
        if len(block.names) != len(schema):
            raise DataError(
                f"X has {len(block.names)} features, but Tacit is expecting {len(schema)} features as input. "
                f"Columns without names are matched by place; pass a frame or a dict to leave some out"
            )
        return list(range(len(schema)))
    places = {name: place for place, name in enumerate(block.names)}
    absent = [name for name in schema.names if name not in places]
    for name in block.names:
        if name in schema or name in left_out or extras == "ignore":
            continue
        near = near_to(name, absent)
        if extras == "error" or near:
            raise ColumnError(unknown_column_text(name, near or schema.names))
    if absent and not partial:
        raise ColumnError(
            f"the data lacks {listing(absent)}, which the model was taught; "
            f"columns may be left out only where the question allows it"
        )
    if block.names and len(absent) == len(schema) > 0:
        raise ColumnError(
            f"the data has none of the model's columns, which are {listing(schema.names)}; it has "
            f"{listing(block.names)}"
        )
    return [places.get(name, -1) for name in schema.names]
