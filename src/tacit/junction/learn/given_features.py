"""Latent junction trees from features of several columns that a user gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.core.encoders.given_features import are_given
from tacit.core.threads import one_blas_thread
from tacit.errors import ArgumentError
from tacit.trees.learn.given_features import factored_by_features, features_of_table
from tacit.trees.learn.presets import check_features
from tacit.trees.moments.side_features import SideMoments

if TYPE_CHECKING:
    from tacit.junction.learn.learners import JunctionJob
    from tacit.trees.learn.spectral.reports import Factored

# Directions are kept whose singular value exceeds this many times the expected noise.
CUT = 0.9


def check_junction_features(model: Any) -> None:
    """Check `features`: a number of columns, or features given by the user."""
    check_features(model)
    if are_given(model.features) and getattr(model, "homogeneous", False):
        raise ArgumentError(
            "features that are not a number do not go with homogeneous=True, whose moments are means over "
            "places; HMM(features=...) learns such chains"
        )


@one_blas_thread()  # many small products
def junction_from_features(job: JunctionJob, *, printed: bool = False) -> Factored:
    """A latent junction tree, up to a change of basis at every separator (thesis Algorithm 6).

    What is on a side of a separator is a feature vector of all columns there, in place of the joint category
    of some of them. Directions are cut and shrunk as by `tacit.junction.learn.spectral.junction_spectral`; as
    printed, features are not whitened, and nothing is cut.
    """
    junction = job.junction
    given = features_of_table(job.table, job.settings.features)
    moments = SideMoments.of(junction.tree, job.table, given)
    caps = junction.caps[:-1]
    options: dict[str, Any] = {"whiten": not printed, "shrink": not printed}
    cut = 0.0 if printed else CUT
    return factored_by_features(junction.tree, moments, caps, caps, cut=cut, **options)
