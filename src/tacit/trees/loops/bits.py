"""Two operations on 64-bit words that numba does not offer by itself.

Each is a Python function, so that a compiled loop can be run from its Python source, and compiles to the
few instructions that the processor has for it (with AVX-512: 8 words counted, 32 cells compared at once).
"""

# ruff: noqa: ARG001  numba calls these with arguments of its choice

from __future__ import annotations

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload


def popcount(word):
    """How many of the 64 bits are set."""
    return int(word).bit_count()


def match_word(column, row, value):
    """A word whose bit b says whether ``column[row + b] == value``; the column must be contiguous."""
    same = np.asarray(column[row : row + 64]) == value
    return np.packbits(same, bitorder="little").view("<u8")[0]


@intrinsic
def _popcount(typing, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def _match_word(typing, column, row, value):
    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        cell = context.get_data_type(signature.args[0].dtype)
        cells = ir.VectorType(cell, 64)
        mask_type = ir.VectorType(ir.IntType(32), 64)
        start = builder.bitcast(builder.gep(array.data, [arguments[1]]), cells.as_pointer())
        values = builder.load(start, align=cell.width // 8)
        target = builder.trunc(arguments[2], cell) if cell.width < 64 else arguments[2]
        blank = ir.Constant(cells, ir.Undefined)
        target = builder.insert_element(blank, target, ir.Constant(ir.IntType(32), 0))
        target = builder.shuffle_vector(target, blank, ir.Constant(mask_type, [0] * 64))
        return builder.bitcast(builder.icmp_signed("==", values, target), ir.IntType(64))

    return types.uint64(column, types.intp, types.int64), generate


@overload(popcount, inline="always")
def _compiled_popcount(word):
    def compiled(word):
        return _popcount(word)  # type: ignore[call-arg]

    return compiled


@overload(match_word, inline="always")
def _compiled_match_word(column, row, value):
    def compiled(column, row, value):
        return _match_word(column, row, value)  # type: ignore[call-arg]

    return compiled
