"""Other programs' EM on the sequences of `hmm.py`, which runs them with ``--peers``.

    python benchmarks/hmm_peers.py            seconds of one iteration of each that is installed
    python benchmarks/hmm_peers.py --quick    the same on fewer sequences

Each starts five times and does at most 200 iterations; the best by training likelihood counts, with the CPU
of all five. Times are CPU seconds of all threads, of which there is one at a time. hmmlearn runs with
``implementation="scaling"`` and tol 1e-2 nats in all. dynamax is compiled once for all five starts, which its
`fit_em` alone would do for each: the time of that is reported apart and not counted; it has no tolerance and
does all iterations. pomegranate begins from the random tables of this project's EM, since its own beginning
is k-means on the numbers of symbols; it models ends of sequences, which all are as long here, and its moves
are taken without them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.learn.em.hmm import random_hmm_tables
from tacit.sequences.model.chains import ChainTables

Codes = NDArray[np.int32]
Learnt = tuple[ChainTables, dict[str, Any]]

N_STARTS, MAX_ITER, TOL = 5, 200, 1e-2


def by_hmmlearn(
    codes: Codes, sizes: tuple[int, int], seed: int, max_iter: int = MAX_ITER
) -> Learnt:
    """CategoricalHMM in its faster form.

    Parameters
    ----------
    codes : (sequence, position)
    sizes : numbers of states and of symbols
    seed : int
    max_iter : int
    """
    column, lengths = codes.reshape(-1, 1), np.full(len(codes), codes.shape[1])
    models = [hmmlearn_model(sizes, N_STARTS * seed + start, max_iter) for start in range(N_STARTS)]
    scores = [model.fit(column, lengths).score(column, lengths) for model in models]
    best = models[int(np.argmax(scores))]
    tables = ChainTables(best.startprob_, best.transmat_, (best.emissionprob_,))
    return tables, {"objectives": scores}


def hmmlearn_model(sizes: tuple[int, int], seed: int, max_iter: int, tol: float = TOL) -> Any:
    from hmmlearn.hmm import CategoricalHMM

    return CategoricalHMM(
        sizes[0],
        n_features=sizes[1],
        n_iter=max_iter,
        tol=tol,
        implementation="scaling",
        random_state=seed,
    )


def by_dynamax(codes: Codes, sizes: tuple[int, int], seed: int, max_iter: int = MAX_ITER) -> Learnt:
    """CategoricalHMM.fit_em from its own random starts, in single precision as it comes."""
    begun = time.process_time()
    import jax
    from dynamax.hidden_markov_model import CategoricalHMM

    model = CategoricalHMM(sizes[0], 1, sizes[1])
    emissions = jax.numpy.asarray(codes)[:, :, None]
    keys = jax.random.split(jax.random.PRNGKey(seed), N_STARTS)
    starts = [model.initialize(key) for key in keys]
    traits = starts[0][1]

    def fit(first: Any, emissions: Any) -> Any:
        return model.fit_em(first, traits, emissions, num_iters=max_iter, verbose=False)

    compiled = jax.jit(fit).lower(starts[0][0], emissions).compile()
    ready = time.process_time() - begun
    ends = [jax.block_until_ready(compiled(first, emissions)) for first, _ in starts]
    scores = [float(logs[-1]) for _, logs in ends]
    best = ends[int(np.argmax(scores))][0]
    tables = proper(
        best.initial.probs, best.transitions.transition_matrix, best.emissions.probs[:, 0]
    )
    return tables, {"objectives": scores, "compile_seconds": ready}


def by_pomegranate(
    codes: Codes, sizes: tuple[int, int], seed: int, max_iter: int = MAX_ITER
) -> Learnt:
    """DenseHMM with Categorical distributions."""
    begun = time.process_time()
    import torch
    from pomegranate.distributions import Categorical
    from pomegranate.hmm import DenseHMM

    torch.set_num_threads(1)
    emissions, over = torch.tensor(codes)[:, :, None], 1 / codes.shape[1]
    ready = time.process_time() - begun
    models, scores = [], []
    for start in range(N_STARTS):
        first = random_hmm_tables(*sizes, np.random.default_rng([seed, start]))
        model = DenseHMM(
            [Categorical(row[None].astype(np.float32)) for row in first.emit[0]],
            edges=((1 - over) * first.transitions).astype(np.float32),
            starts=first.initial.astype(np.float32),
            ends=np.full(sizes[0], over, dtype=np.float32),
            max_iter=max_iter,
            tol=TOL,
        ).fit(emissions)
        models.append(model)
        scores.append(float(model.log_probability(emissions).sum()))
    best = models[int(np.argmax(scores))]
    emit = torch.cat([distribution.probs for distribution in best.distributions])
    tables = proper(
        *(distribution.detach() for distribution in (best.starts.exp(), best.edges.exp(), emit))
    )
    return tables, {"objectives": scores, "compile_seconds": ready}


def proper(start: Any, transitions: Any, emit: Any) -> ChainTables:
    """Tables in double precision whose rows sum to one."""
    parts = [np.asarray(table, dtype=np.float64) for table in (start, transitions, emit)]
    start, transitions, emit = (table / table.sum(axis=-1, keepdims=True) for table in parts)
    return ChainTables(start, transitions, (emit,))


PEERS: dict[str, Callable[..., Learnt]] = {
    "hmmlearn": by_hmmlearn,
    "dynamax": by_dynamax,
    "pomegranate": by_pomegranate,
}
# pomegranate brings torch with it, some gigabytes.
HOW = {"hmmlearn": "make peers", "dynamax": "make peers", "pomegranate": "pip install pomegranate"}


def installed(names: list[str]) -> list[str]:
    """Those of some peers that are there; a line for each that is not."""
    for name in names:
        if find_spec(name) is None:
            print(f"{name} is not installed ({HOW[name]}) and left out", flush=True)
    return [name for name in names if find_spec(name) is not None]


@contextmanager
def one_processor() -> Iterator[None]:
    """Programs that take as many threads as there are processors see one."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    from tacit.toy import random_hmm

    sizes, n_train = (8, 50), 1000 if chosen.quick else 10_000
    made = random_hmm(*sizes, stay=0.6, random_state=np.random.default_rng(0))
    codes = made.sample(n_train, 20, np.random.default_rng(1)).codes.reshape(n_train, 20)
    with one_processor():
        for name in installed(list(PEERS)):
            spent, ready = [], 0.0
            for n_steps in (2, 2, 8):  # the first warms up
                begun = time.process_time()
                _, details = PEERS[name](codes, sizes, 0, n_steps)
                ready = details.get("compile_seconds", 0.0)
                spent.append(time.process_time() - begun - ready)
            step = (spent[2] - spent[1]) / (6 * N_STARTS)
            more = f", after {ready:.1f} s for compiling" if name == "dynamax" else ""
            print(f"{name}: one iteration on {n_train} x 20: {step * 1e3:.1f} ms{more}", flush=True)


if __name__ == "__main__":
    main()
