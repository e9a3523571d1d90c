"""The steps of `KernelTree.fit`: read, learn by bins, by kernels or as printed, keep, fit the blend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.core.arguments import check_choice, check_count, check_flag, check_number, seed_from
from tacit.core.encoders.kernel_shapes import RBF, kernel_of
from tacit.core.input.read_mixed_table import encode_mixed, read_mixed
from tacit.core.threads import n_threads, one_blas_thread
from tacit.errors import ArgumentError
from tacit.numbers.learn.bins import BinOptions, LearntTree, learn_in_bins
from tacit.numbers.learn.blend import fit_blend, held_out_trees
from tacit.numbers.learn.experts.fit import fit_experts
from tacit.numbers.learn.kernels import KernelOptions, learn_by_kernels
from tacit.numbers.learn.presets import blends, check_preset, families_of, uses_normal_scores
from tacit.numbers.learn.printed_kernels import learn_kernels_as_printed
from tacit.numbers.structure.groups import Units, check_groups
from tacit.trees.learn.fit import keep
from tacit.trees.learn.kernel_metric import PRINTED_TOLERANCE
from tacit.trees.learn.number_features import TOLERANCE
from tacit.trees.learn.settings import EFFORTS, Settings

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.progress import Report
    from tacit.numbers.kernel_tree import KernelTree

# ruff: noqa: SLF001  (its own estimator)

LEARNERS = ("auto", "spectral")


def fit_kernel_tree(model: KernelTree, X: Any, sample_weight: Any, validation: Any) -> None:
    """Read the table, learn a tree of it, and give the model its fitted attributes."""
    settings = settings_of(model)
    table = read_mixed(
        X, continuous=model.continuous, columns=model.columns, sample_weight=sample_weight
    )
    held_out = None
    if validation is not None:
        held_out = encode_mixed(validation, table.schema, unknown="missing")
    every = table
    if table.weights is not None:  # folds, too, are the same without rows that teach nothing
        table = table.take(table.weights > 0)
    with model._working() as report:
        by_bins = model.learn == "auto" and model.preset is None
        learn = _learn_in_bins if by_bins else _learn_by_kernels
        fitted = learn(model, table, held_out, settings, report)
        experts = fit_experts(
            table, fitted.trials, fitted.encoders, families_of(model), settings.seed, report
        )
        blend = None
        if blends(model):
            report(0.99, "weights of other predictors of missing cells")
            trees = experts.trials or held_out_trees(table, fitted.trials, fitted.encoders)
            blend = fit_blend(table, trees, random_state=settings.seed)
    fitted.learnt.diagnostics.update(experts.diagnostics)
    keep(model, X, every, fitted.counts, fitted.topology, fitted.tree, fitted.learnt)
    model.encoders_, model.margins_ = fitted.encoders, fitted.margins
    model.experts_, model.blend_ = experts.experts, blend


def settings_of(model: KernelTree) -> Settings:
    """The arguments of a model about learning, checked."""
    check_choice("learn", model.learn, LEARNERS)
    check_choice("effort", model.effort, EFFORTS)
    check_preset(model)
    model._check_policies()
    check_count("max_iter", model.max_iter)
    check_flag("atoms", model.atoms)
    check_flag("blend", model.blend, word="auto")
    spectral = model.learn == "spectral" or model.preset is not None
    for name in ("n_bins", "n_components", "n_features", "n_views"):
        check_count(name, getattr(model, name), word="auto")
    check_number("bandwidth", model.bandwidth, positive=spectral, word="auto")
    check_number("metric_bandwidth", model.metric_bandwidth, positive=True, word="auto")
    check_number("tolerance", model.tolerance, word="auto")
    if not isinstance(model.tolerance, str) and model.tolerance >= 1:
        raise ArgumentError(
            f"tolerance={model.tolerance!r} leaves no feature; give a number below 1, the part of the kernel "
            f"that features may miss, or 'auto'"
        )
    check_number("pseudo_counts", model.pseudo_counts, word="auto")
    if isinstance(model.continuous, str):
        raise ArgumentError(f"continuous={model.continuous!r}; give a list of names")
    if kernel_of(model.kernel) != RBF and model.learn != "spectral":
        raise ArgumentError(
            f"kernel={model.kernel!r} with learn={model.learn!r}; kernels belong to learn='spectral'"
        )
    check_groups(model.groups)
    if model.groups and model.learn != "spectral":
        raise ArgumentError(
            f"groups with learn={model.learn!r}; groups of columns are learnt by learn='spectral' only"
        )
    if model.learn == "spectral" and model.n_components not in {1, "auto"}:
        raise ArgumentError(
            f"n_components={model.n_components} with learn='spectral'; several trees are learnt by "
            f'learn="auto" only'
        )
    return Settings(
        max_iter=model.max_iter,
        pseudo_counts=model.pseudo_counts,
        effort=model.effort,
        n_jobs=n_threads(model.n_jobs) or 1,
        seed=seed_from(model.random_state),
    )


@one_blas_thread()
def _learn_in_bins(
    model: KernelTree,
    table: MixedTable,
    validation: MixedTable | None,
    settings: Settings,
    report: Report,
) -> LearntTree:
    options = BinOptions(
        structure=model.structure,
        n_states=model.n_states,
        n_components=model.n_components,
        n_bins=model.n_bins,
        bandwidth=model.bandwidth,
        trials=blends(model) or bool(families_of(model)),
        experts=bool(families_of(model)),
        atoms=bool(model.atoms),
        settings=settings,
        n_jobs=None if model.n_jobs is None else settings.n_jobs,
        report=report,
    )
    return learn_in_bins(table, validation, options)


def _learn_by_kernels(
    model: KernelTree,
    table: MixedTable,
    validation: MixedTable | None,
    settings: Settings,
    report: Report,
) -> LearntTree:
    options = KernelOptions(
        structure=model.structure,
        n_states=model.n_states,
        bandwidth=model.bandwidth,
        metric_bandwidth=model.metric_bandwidth,
        kernel=kernel_of(model.kernel),
        units=Units.of(table.schema, model.groups),
        columns=table.schema.names,
        normal_scores=uses_normal_scores(model),
        n_features=model.n_features,
        tolerance=_tolerance(model),
        n_views=model.n_views,
        blend=blends(model),
        settings=settings,
        report=report,
    )
    if model.preset is not None:
        return learn_kernels_as_printed(table, options)
    return learn_by_kernels(table, validation, options)


def _tolerance(model: KernelTree) -> float:
    """The part of the kernel that features may leave out."""
    if isinstance(model.tolerance, str):
        return TOLERANCE if model.preset is None else PRINTED_TOLERANCE
    return float(model.tolerance)
