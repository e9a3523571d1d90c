"""The fields of encoders and of marginal distributions in model files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.core.encoders.basis import BasisEncoder
from tacit.core.encoders.density_estimates import Scale
from tacit.core.encoders.encoders import BinEncoder, IndicatorEncoder
from tacit.core.encoders.kernel_shapes import (
    KERNELS,
    RBF,
    Kernel,
    TabulatedKernel,
    problem_with,
)
from tacit.core.encoders.kernels import KernelEncoder
from tacit.core.encoders.margins import Margin
from tacit.core.encoders.vector_kernels import VectorKernelEncoder
from tacit.core.files.fields import Array, Arrays, Field, Many, OneOf, Record
from tacit.core.files.header_values import flag, integer, number, text
from tacit.core.files.ranges import ascending, moderate, not_negative, rising, within
from tacit.core.files.saved_model import renamed
from tacit.errors import FileFormatError

_FAR = 1e306  # differences and sums of such numbers are still finite
_LEAST_MASS = 1e-13  # of a bin; less is rounding
_LEAST_NORM = 1e-12  # of the features of the pivots, which have lengths of about one
_NARROW = 1e-300  # reciprocals of such numbers are still finite
_location, _size = number(-_FAR, _FAR), number(_NARROW, _FAR)


def _margin(**fields: Any) -> Margin:
    margin = Margin(**fields)
    mass = float(margin.atom_weights.sum())
    if len(margin.heights) < 2 or mass > 1 + 1e-9 or (mass < 1 - 1e-9 and not margin.heights.any()):
        raise FileFormatError("is no distribution: its mass is not one")
    with np.errstate(over="ignore"):
        if not np.isfinite(margin.nodes).all():
            raise FileFormatError("has nodes beyond all numbers")
    return margin


def _bins(edges: Any, margin: Margin, bandwidth: float, atoms: Any) -> BinEncoder:
    encoder = BinEncoder(edges, margin, bandwidth, np.empty(0) if atoms is None else atoms)
    if not (np.diff(encoder.cuts) > _LEAST_MASS).all():
        raise FileFormatError("has bins without any mass")
    _check_reach(encoder, encoder.margin.places)
    return encoder


def _basis(**fields: Any) -> BasisEncoder:
    encoder = BasisEncoder(**fields)
    _check_reach(encoder, encoder.grid(20))
    return encoder


def _check_reach(encoder: BinEncoder | BasisEncoder, places: Any) -> None:
    """Means are sums over places that span the column: every density must have some mass there."""
    with np.errstate(over="ignore", invalid="ignore"):
        within_reach = np.diff(encoder.cumulative(places[[0, -1]]), axis=0)[0]
    if not (within_reach > _LEAST_MASS).all():
        raise FileFormatError("has a density far from all numbers of its column")


def _kernel_encoder(kernel: Any, **fields: Any) -> KernelEncoder:
    encoder = KernelEncoder(**fields, kernel=RBF if kernel is None else kernel)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.square(encoder.pivot_features).sum(axis=1)
    if not _LEAST_NORM < norms.max() < np.inf:
        raise FileFormatError("has features that are not those of its kernel")
    return encoder


def _vector_encoder(kernel: Any, **fields: Any) -> VectorKernelEncoder:
    if len(fields["margins"]) != len(fields["bandwidths"]):
        raise FileFormatError("has another number of distributions than of columns")
    return VectorKernelEncoder(**fields, kernel=RBF if kernel is None else kernel)


def _tabulated(heights: Any) -> TabulatedKernel:
    if problem_with(heights):
        raise FileFormatError(f"is no kernel: it {problem_with(heights)}")
    return TabulatedKernel(heights)


SCALE = Record(Scale, Field("center", _location), Field("scale", _size), Field("bent", flag()))
MARGIN = Record(
    Margin,
    Field("scale", SCALE),
    Field("start", _location),
    Field("step", _size),
    Field("heights", Array("node", not_negative, moderate)),
    Field("atoms", Array("atom", ascending, within(-_FAR, _FAR), empty=True)),
    Field("atom_weights", Array("atom", within(0, 1), empty=True)),
    Field("widths", Array("atom", within(_NARROW, _FAR), empty=True)),
    Field("tail_weight", number(0, 1)),
    Field("middle", _location),
    Field("spread", _size),
    make=_margin,
)
_KERNEL = Field(
    "kernel",
    OneOf(
        named=Record(Kernel, Field("name", text(*KERNELS))),
        tabulated=Record(
            TabulatedKernel, Field("heights", Array("place", within(0, 1 + 1e-9))), make=_tabulated
        ),
    ),
    optional=True,
    get=lambda encoder: None if encoder.kernel == RBF else encoder.kernel,
)
ENCODER = OneOf(
    indicator=Record(IndicatorEncoder, Field("size", integer(1))),
    bins=Record(
        BinEncoder,
        Field("edges", Array("edge", ascending, within(-_FAR, _FAR), empty=True)),
        Field("margin", MARGIN),
        Field("bandwidth", number(0, 100)),
        Field(
            "atoms",
            Array("value", rising, within(-_FAR, _FAR)),
            optional=True,
            get=lambda encoder: encoder.atoms if len(encoder.atoms) else None,
        ),
        make=_bins,
    ),
    kernel=Record(
        KernelEncoder,
        Field("pivots", Array("pivot", within(-_FAR, _FAR))),
        Field("inverse", Array("feature pivot", moderate)),
        Field("bandwidth", _size),
        Field("margin", MARGIN, optional=True),
        _KERNEL,
        make=_kernel_encoder,
    ),
    basis=Record(
        BasisEncoder,
        Field("centers", Array("density", within(-_FAR, _FAR))),
        Field("widths", Array("density", within(_NARROW, _FAR))),
        Field("middle", _location),
        Field("spread", _size),
        Field("marks", Array("mark", rising, within(-_FAR, _FAR))),
        make=_basis,
    ),
)
VECTOR_ENCODER = Record(
    VectorKernelEncoder,
    Field("pivots", Array("pivot member", within(-_FAR, _FAR))),
    Field("inverse", Array("feature pivot", moderate)),
    Field("bandwidths", Array("member", within(_NARROW, _FAR))),
    Field("margins", Many(MARGIN, optional=True)),
    _KERNEL,
    make=_vector_encoder,
)


def upgraded_margin(plain: Mapping[str, Any], arrays: Arrays, old: str, new: str) -> dict[str, Any]:
    """The header of a distribution of formats 1 and 2; its arrays move from one prefix to another."""
    renamed(arrays, {old + name: new + name for name in ("heights", "atoms", "widths")})
    renamed(arrays, {f"{old}shares": f"{new}atom_weights"})
    scale = {name: plain[name] for name in ("center", "scale", "bent")}
    fields = {name: plain[name] for name in ("start", "step", "middle", "spread")}
    return {"scale": scale, "tail_weight": plain["rest"]} | fields


def upgraded_encoder(
    plain: Mapping[str, Any], arrays: Arrays, old: str, new: str
) -> dict[str, Any]:
    """The header of an encoder of formats 1 and 2; its arrays move from one prefix to another."""
    names = ("kind", "size", "bandwidth") if plain.get("kind") != "bells" else tuple(plain)
    header = {name: plain[name] for name in names if name in plain}
    for old_kind, kind in (("bumps", "bins"), ("bells", "basis")):
        if header.get("kind") == old_kind:
            header["kind"] = kind
    if old + "heights" in arrays:
        header["margin"] = upgraded_margin(plain, arrays, old, f"{new}margin.")
    renamed(arrays, {old: new})
    return header
