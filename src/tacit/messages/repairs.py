"""Repairs of estimates that are not probabilities, and their record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Negative parts below this fraction of a distribution are rounding and not recorded.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Repairs:
    """How many answers had to be repaired; those of two pieces of work add."""

    n_answers: int = 0  # numbers or distributions of the query
    n_negative: int = 0  # of these, had a negative part
    n_undefined: int = 0  # of these, had no positive part at all
    negative_mass: float = (
        0.0  # summed over the answers: fraction of a distribution that was negative
    )

    def __add__(self, other: Repairs) -> Repairs:
        return Repairs(
            self.n_answers + other.n_answers,
            self.n_negative + other.n_negative,
            self.n_undefined + other.n_undefined,
            self.negative_mass + other.negative_mass,
        )

    def as_dict(self) -> dict[str, int | float]:
        """The record in plain numbers, with the mean of the negative mass."""
        return {
            "n_answers": self.n_answers,
            "n_negative": self.n_negative,
            "n_undefined": self.n_undefined,
            "mean_negative_mass": self.negative_mass / max(self.n_answers, 1),
        }


def distributions(
    estimates: Array, instead: Array, counts: NDArray[np.int64] | None = None
) -> tuple[Array, Repairs]:
    """Proper distributions from estimates of unknown scale.

    Negative entries become zero and the rest is brought to sum one. An estimate without any positive entry
    is replaced by `instead`. That includes an estimate all of whose entries are negative,
    which is a small probability lost in noise, not a distribution with the sign reversed.

    Parameters
    ----------
    estimates : (category, answer) array
        Changed in place.
    instead : (category,) or (category, answer) array
        Distributions for the answers that are undefined.
    counts : (answer,) array of int, optional
        How often each answer counts in the record.

    Returns
    -------
    probabilities : (category, answer) array
    repairs : Repairs
    """
    negative = -np.minimum(estimates, 0.0).sum(axis=0) if (estimates < 0).any() else None
    probabilities = np.maximum(estimates, 0.0, out=estimates)
    positive = probabilities.sum(axis=0)
    undefined = positive <= 0.0
    n_answers = probabilities.shape[1] if counts is None else int(counts.sum())
    if undefined.any():
        fallback = instead if instead.ndim == 2 else instead[:, None]
        probabilities[:, undefined] = np.broadcast_to(fallback, probabilities.shape)[:, undefined]
        positive = np.where(undefined, 1.0, positive)
    probabilities /= positive
    weights = np.ones(len(positive), dtype=np.int64) if counts is None else counts
    repairs = Repairs(n_answers, n_undefined=int(weights[undefined].sum()))
    if negative is not None:
        negative_part = np.where(undefined, 1.0, negative / (negative + positive))
        negative_part[negative == 0.0] = 0.0
        counted = negative_part > _ROUNDING
        repairs += Repairs(
            n_negative=int(weights[counted].sum()), negative_mass=float(weights @ negative_part)
        )
    return probabilities, repairs
