"""How many rows the theorems of the papers ask for before a model is learnt to a given precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import Any

from tacit.core.arguments import check_count, check_number
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.evaluate.bound_constants import (
    HmmConstants,
    KnownGraph,
    SentenceConstants,
    TreeConstants,
    junction_constants,
    parameters_of,
)
from tacit.evaluate.bound_formulas import (
    chain_log_rows,
    grammar_log_rows,
    hmm_log_rows,
    matrix_log_rows,
    sentence_log_rows,
    tensor_log_rows,
)

_LARGEST_LOG = 709.0  # of a double
_LARGEST_ERROR = 2  # the sum of |P̂(x) - P(x)| where P(x) is zero for all x that P̂ expects
_FACTOR = "the factor in O(...), taken as 1"
_LEAVES = "which leaves stand for the sides of an edge: those with the largest singular values"


_CHAIN = "what the length of the chain is: hidden nodes from the root to the farthest leaf"
_MATRIX = 'LatentTree(learn="spectral", representation="matrix", preset="printed"'


@dataclass(frozen=True)
class _MatrixForm:
    """How one of the papers prints the bound for products of matrices."""

    theorem: str
    algorithm: str
    open: tuple[str, ...]
    counts_children: bool = False  # instead of neighbours
    with_categories: bool = False  # the factor S_O
    error_in_log: bool = False


_MATRIX_FORMS = (
    _MatrixForm(
        "Parikh 2015, Theorem 3",
        f'{_MATRIX}, siblings="uncle")',
        (_FACTOR, _CHAIN, "the factor S_O and neighbours for children, which equation 7.92 has"),
        counts_children=True,
    ),
    _MatrixForm(
        "Parikh, Song & Xing 2011, Theorem 1",
        f"{_MATRIX})",
        (_FACTOR, _CHAIN),
        with_categories=True,
    ),
    _MatrixForm(
        "Goyal 2013, section 5 (latent trees)",
        f"{_MATRIX})",
        (_FACTOR, _CHAIN, "the factor S_O, which the theorem of 2011 has"),
        error_in_log=True,
    ),
)


@dataclass(frozen=True)
class SampleSizeBound:
    """How many rows one theorem asks for, and the constants that this number depends on.

    Attributes
    ----------
    theorem : str
        Where it is printed.
    algorithm : str
        What it is about.
    log_rows : float
        Natural logarithm of the number of rows; inf where the theorem divides by a singular value of zero.
    constants : mapping of str to float
        The quantities of the formula, by their printed letters.
    open : tuple of str
        What print leaves open, and what was taken here.
    """

    theorem: str
    algorithm: str
    log_rows: float
    constants: Mapping[str, float]
    open: tuple[str, ...]

    @property
    def n_rows(self) -> float:
        """The number of rows; inf beyond the largest double."""
        return exp(self.log_rows) if self.log_rows < _LARGEST_LOG else inf


def sample_size_bounds(
    model: Any, *, error: float = 0.1, failure: float = 0.05, length: int = 3
) -> tuple[SampleSizeBound, ...]:
    """How many rows the printed theorems ask for, one answer for each theorem about this kind of model.

    With so many rows the spectral algorithm that the theorem is about has, with probability 1 - `failure`, a
    sum of ``|P̂(x) - P(x)|`` over all rows x there could be of at most `error`. The theorems are worst cases,
    and but for one leave a constant factor open, which is taken as 1 here: compare models by these numbers,
    and do not wait for as many rows. ``benchmarks/sample_sizes.py`` has what was needed in simulation.

    Parameters
    ----------
    model : tacit.toy model, fitted model, or tables
        Its parameters must be probability tables: a latent tree (`tacit.toy.TreeModel`, a fitted
        `LatentTree` or `LatentClass` of one tree), a graph (`tacit.toy.GraphModel`), or a hidden Markov model
        of symbols (`tacit.toy.HmmModel`, a fitted `HMM`).
    error : float
        The error that is allowed, above 0 and at most 2.
    failure : float
        The probability that it is exceeded, between 0 and 1.
    length : int
        Symbols in a sequence; of hidden Markov models only.

    Returns
    -------
    tuple of SampleSizeBound
        Latent trees: Parikh (2015), Theorems 1 and 3, Parikh et al. (2011), Theorem 1, and Goyal's form
        of it; also Parikh (2015), Theorem 4, about brackets of sentences, where the tree is binary and its
        leaves, in the order of the columns, are words. Graphs: Parikh (2015), Theorem 2. Hidden Markov
        models: Goyal (2013), section 5, and the remark of Parikh (2015), section 7.5.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If the model has no probability tables, or the tree has an observed inner node.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.toy.random_tree_model(4, random_state=0)
    >>> [bound.theorem for bound in tacit.evaluate.sample_size_bounds(model)][:2]
    ['Parikh 2015, Theorem 1', 'Parikh 2015, Theorem 3']
    """
    from tacit.messages.network import Tables
    from tacit.sequences.hmm import HMM
    from tacit.sequences.model.chains import ChainTables
    from tacit.trees.latent_class import LatentClass
    from tacit.trees.latent_tree import LatentTree

    _check_precision(error, failure)
    if error > _LARGEST_ERROR:
        raise ArgumentError(
            f"error={shown(error)}; give at most {_LARGEST_ERROR}: no sum is larger"
        )
    check_count("length", length)
    # Tables of other estimators are about bins of numbers or joint states.
    is_known = not hasattr(model, "fit") or isinstance(model, (HMM, LatentClass, LatentTree))
    parameters = parameters_of(model) if is_known else None
    if isinstance(parameters, Tables):
        return _tree_bounds(TreeConstants(parameters), error, failure)
    if isinstance(parameters, ChainTables):
        return _hmm_bounds(HmmConstants(parameters), error, failure, length)
    if isinstance(parameters, Mapping) and hasattr(model, "marginal"):
        return (_junction_bound(model, error, failure),)
    raise ArgumentTypeError(
        f"{type(model).__name__} has no probability tables of a tree, a graph or a hidden Markov model "
        'of symbols; give a tacit.toy model, or fit with learn="auto" or "em" and one component'
    )


def grammar_sample_size_bound(
    n_states: int,
    n_rules: int,
    tree_size: int,
    *,
    coefficient: float,
    singular_value: float,
    error: float = 0.1,
    failure: float = 0.05,
) -> SampleSizeBound:
    """How many trees the theorem about latent-variable PCFGs asks for (Goyal (2013), section 5).

    With so many the estimated probability of a tree is, with probability 1 - `failure`, between 1 - `error`
    and 1 + `error` times the true one. No constant is left open, but Goyal does not define the two
    quantities that the number depends on most; they are arguments.

    Parameters
    ----------
    n_states : int
        Hidden states k of a nonterminal.
    n_rules : int
        Rules R of the grammar.
    tree_size : int
        Rules C in the tree.
    coefficient, singular_value : float
        Lambda and sigma, "the coefficients for U and V" in his words: sigma is the smallest singular
        value kept of the matrices of inside and outside features.
    error, failure : float

    Examples
    --------
    >>> import tacit
    >>> bound = tacit.evaluate.grammar_sample_size_bound(
    ...     2, 10, 3, coefficient=0.5, singular_value=0.5, error=0.1, failure=0.05
    ... )
    >>> f"{bound.n_rows:.2e}"
    '1.16e+09'
    """
    _check_precision(error, failure)
    for name, count in (("n_states", n_states), ("n_rules", n_rules), ("tree_size", tree_size)):
        check_count(name, count)
    check_number("coefficient", coefficient)
    check_number("singular_value", singular_value)
    log_rows = grammar_log_rows(
        k=n_states,
        n_rules=n_rules,
        tree_size=tree_size,
        Lambda=coefficient,
        sigma=singular_value,
        error=error,
        failure=failure,
    )
    return SampleSizeBound(
        "Goyal 2013, section 5 (latent-variable PCFGs)",
        'LatentPCFG(learn="spectral")',
        log_rows,
        {
            "k": n_states,
            "R": n_rules,
            "C": tree_size,
            "Lambda": coefficient,
            "sigma": singular_value,
        },
        ("what Lambda and sigma are: given by the caller",),
    )


def _check_precision(error: float, failure: float) -> None:
    check_number("error", error, positive=True)
    check_number("failure", failure, positive=True)
    if failure >= 1:
        raise ArgumentError(f"failure={failure!r}; give a probability below 1")


def _tree_bounds(
    constants: TreeConstants, error: float, failure: float
) -> tuple[SampleSizeBound, ...]:
    sizes: dict[str, Any] = {"S_H": constants.S_H, "S_O": constants.S_O}
    alpha, beta = constants.edge_values
    tensor: dict[str, Any] = {
        "d_max": constants.max_degree,
        "n_nodes": constants.tables.tree.n_nodes,
        "alpha": alpha,
        "beta": beta,
    }
    first = SampleSizeBound(
        "Parikh 2015, Theorem 1",
        'LatentTree(learn="spectral", representation="tensor", preset="printed")',
        tensor_log_rows(**sizes, **tensor, e_max=1, error=error, failure=failure),
        {**sizes, **tensor},
        (_FACTOR, _LEAVES),
    )
    matrices = [_matrix_bound(form, constants, error, failure) for form in _MATRIX_FORMS]
    sentence = SentenceConstants(constants)
    words = [_sentence_bound(sentence, failure)] if sentence.applies else []
    return (first, *matrices, *words)


def _matrix_bound(
    form: _MatrixForm, constants: TreeConstants, error: float, failure: float
) -> SampleSizeBound:
    given: dict[str, Any] = {
        "S_H": constants.S_H,
        "S_O": constants.S_O if form.with_categories else 1,
        "degree": constants.max_children if form.counts_children else constants.max_degree,
        "chain": constants.chain,
        "n_leaves": constants.tables.tree.n_leaves,
        "pair": constants.smallest_pair,
        "emission": constants.smallest_emission,
    }
    log_rows = matrix_log_rows(
        **given, error=error, failure=failure, error_in_log=form.error_in_log
    )
    if not form.with_categories:
        del given["S_O"]
    return SampleSizeBound(form.theorem, form.algorithm, log_rows, given, form.open)


def _sentence_bound(sentence: SentenceConstants, failure: float) -> SampleSizeBound:
    m, p = sentence.tree.S_H, sentence.tree.S_O
    bandwidth = sentence.gap * sentence.smallest / m
    constants: dict[str, Any] = {
        "m": m,
        "p": p,
        "length": len(sentence.distances),
        "phi": 1.0,
        "sigma": sentence.smallest,
        "gap": sentence.gap,
        "similar": sentence.similar(bandwidth),
    }
    return SampleSizeBound(
        "Parikh 2015, Theorem 4",
        'SpanParser(preset="printed")',
        sentence_log_rows(**constants, failure=failure),
        {**constants, "bandwidth": bandwidth},
        (
            "the constants C_2, C_4 and C_5, taken as 1",
            "which sentences there are besides: none, all have the same tags",
            "the sign in equation 8.14: the right tree is the shortest, the others are longer",
            "the error plays no part: all brackets are right, given the top one",
        ),
    )


def _junction_bound(model: KnownGraph, error: float, failure: float) -> SampleSizeBound:
    known = junction_constants(model)
    constants: dict[str, Any] = {
        "S_H": known.S_H,
        "S_O": known.S_O,
        "d_max": known.d_max,
        "e_max": known.e_max,
        "n_nodes": known.n_cliques,
        "alpha": known.alpha,
        "beta": known.beta,
    }
    return SampleSizeBound(
        "Parikh 2015, Theorem 2",
        'LatentJunctionTree(learn="spectral")',
        tensor_log_rows(**constants, error=error, failure=failure),
        constants,
        (
            _FACTOR,
            "which sets of variables stand for a side of a separator: the smallest that show its states",
            "tau is printed as S_H |S_i|; here the joint states of a separator, as in Algorithm 6",
            "the junction tree: Tacit's, whose cliques are merged where they only lead on",
        ),
    )


def _hmm_bounds(
    constants: HmmConstants, error: float, failure: float, length: int
) -> tuple[SampleSizeBound, ...]:
    k = constants.tables.n_states
    pair, emission = constants.pair, constants.emission
    epsilon_0 = emission * pair * error / (4 * length * sqrt(k))
    frequent = constants.n_frequent(epsilon_0)
    values = {"pair": pair, "emission": emission}
    return (
        SampleSizeBound(
            "Goyal 2013, section 5 (hidden Markov models)",
            'HMM(learn="spectral")',
            hmm_log_rows(
                k=k, t=length, **values, n_frequent=frequent, error=error, failure=failure
            ),
            {"k": k, "t": length, **values, "n_0": frequent, "epsilon_0": epsilon_0},
            (
                "the factor C, taken as 1",
                "n_0: symbols but the rarest, of probability epsilon_0 / 4 together (Hsu et al. 2012)",
                "epsilon_0 is printed without the factor error, which Hsu et al. (2012) have",
            ),
        ),
        SampleSizeBound(
            "Parikh 2015, section 7.5 (remark on hidden Markov models)",
            'HMM(learn="spectral")',
            chain_log_rows(S_H=k, chain=length, **values, error=error),
            {"S_H": k, "chain": length, **values},
            (_FACTOR, "how it depends on the probability of failure"),
        ),
    )
