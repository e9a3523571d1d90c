"""The kernel metric of `learn_structure`: its arguments, and distances between the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from tacit.core.arguments import (
    check_count,
    check_flag,
    check_known_preset,
    check_number,
    preset_contradiction,
)
from tacit.core.encoders.kernel_shapes import RBF, Kernel, TabulatedKernel
from tacit.errors import ArgumentError

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.input.mixed_table import MixedTable
    from tacit.trees.structure.distances import Distances
    from tacit.trees.structure.topology import Topology

# How much of the kernel may be left unexplained, and how many features a column has at most.
TOLERANCE, MOST_FEATURES = 1e-3, 12
# The thesis leaves the tolerance open. With this one the smallest of eight singular values are right.
PRINTED_TOLERANCE = 1e-6


@dataclass(frozen=True)
class KernelMetric:
    """Distances between columns by moments of their kernel features; categories have indicators."""

    rank: int | None = 1  # singular values that count; None for the size of the covariance
    bandwidth: float = 1.0  # multiple of the median distance of two rows
    centred: bool = True
    whiten: bool = True
    kernel: Kernel | TabulatedKernel = RBF
    printed: bool = False  # equation 6.18 of the thesis: no ceiling, and all distances supported

    def distances(self, table: MixedTable) -> Distances:
        """The distances between the columns of a table."""
        from tacit.trees.learn.kernel_distances import kernel_distances, printed_kernel_distances
        from tacit.trees.moments.features import FeatureMoments

        columns = [table.column(place) for place in range(len(table.schema))]
        moments = FeatureMoments.of(columns, self.encoders(table), table.weights)
        if self.printed:
            assert self.rank is not None
            return printed_kernel_distances(moments, self.rank, table.schema.names)
        return kernel_distances(moments, self.rank, centred=self.centred, whiten=self.whiten)

    def encoders(self, table: MixedTable) -> list[Encoder]:
        """The features of each column."""
        from tacit.core.encoders.encoders import IndicatorEncoder
        from tacit.core.encoders.kernels import kernel_encoder, median_bandwidth

        tolerance = PRINTED_TOLERANCE if self.printed else TOLERANCE
        most = None if self.printed else MOST_FEATURES
        encoders: list[Encoder] = []
        for place in range(len(table.schema)):
            values = table.column(place)
            if place in table.schema.categorical:
                encoders.append(IndicatorEncoder(table.schema.cards[place]))
                continue
            width = self.bandwidth * median_bandwidth(values)
            encoders.append(
                kernel_encoder(values, width, tolerance, n_features=most, kernel=self.kernel)
            )
        return encoders


@dataclass(frozen=True)
class KernelArguments:
    """The arguments of `learn_structure` that belong to the metric "kernel"."""

    rank: int | str | None = "auto"
    bandwidth: float = 1.0
    centred: bool | str = "auto"
    whiten: bool | str = "auto"
    preset: str | None = None

    def check_unused(self, metric: str) -> None:
        """Raise an `ArgumentError` where an argument is given though the metric is another one."""
        for argument in fields(self):
            value, default = getattr(self, argument.name), argument.default
            if value is not default and not (
                isinstance(value, str | float | int) and value == default
            ):
                raise ArgumentError(
                    f'{argument.name} belongs to metric="kernel"; leave it out for {metric!r}'
                )

    def metric(self, method: str) -> KernelMetric:
        """The metric, once the arguments go together and with the structure learner."""
        check_count("rank", self.rank, none_is="the size of the covariance", word="auto")
        check_number("bandwidth", self.bandwidth, positive=True)
        switches = {"centred": self.centred, "whiten": self.whiten}
        for name, value in switches.items():
            check_flag(name, value, word="auto")
        if self.preset is not None:
            return self._as_printed(method, switches)
        centred = bool(self.centred)
        rank = (1 if centred else 2) if isinstance(self.rank, str) else self.rank
        if rank is None and not centred:
            raise ArgumentError(
                "rank=None with centred=False: the size reflects the means; give a rank"
            )
        return KernelMetric(rank, float(self.bandwidth), centred, bool(self.whiten))

    def _as_printed(self, method: str, switches: dict[str, bool | str]) -> KernelMetric:
        check_known_preset(self.preset)
        if self.rank is None or isinstance(self.rank, str):
            raise preset_contradiction("rank", self.rank, "a number; the thesis has 2, 5 and 8")
        for name, value in switches.items():
            if value and not isinstance(value, str):
                raise preset_contradiction(name, value, f"{name}=False")
        if method != "neighbor-joining":
            raise preset_contradiction("method", method, '"neighbor-joining"')
        return KernelMetric(int(self.rank), float(self.bandwidth), False, False, printed=True)


def printed_joining(distances: Distances, names: Sequence[str]) -> Topology:
    """The tree of neighbour joining as printed: no edge is contracted, however short it is."""
    from tacit.trees.structure.chow_liu import chow_liu_topology
    from tacit.trees.structure.neighbour_joining import neighbor_joining

    if len(names) < 3:  # there is one tree
        return chow_liu_topology([(0, 1)][: len(names) - 1], names)
    return neighbor_joining(distances.values, names)
