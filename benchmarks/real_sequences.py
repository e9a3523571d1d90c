"""Real sequences that nobody drew: held-out likelihood and CPU of `HMM()`, of its peers and of its siblings.

    python benchmarks/real_sequences.py              # all sets; can be stopped and resumed
    python benchmarks/real_sequences.py --only tags  # those whose names start so
    python benchmarks/real_sequences.py --quick      # two small sets, of digits

Sets are DNA (around the ends of exons and around poly(A) signals), tags of words and daily returns
(`tacit.datasets`, which needs the folder of data), and the lines of written digits that scikit-learn ships.
Each is cut at random into sequences to learn from and others to judge on. ``HMM()`` has nothing set,
``HMM(k)`` a number of states that was fixed before anything ran. hmmlearn, pomegranate and dynamax have the
same k and five random starts of at most 200 steps each, of which the best by training likelihood is judged;
those that are not installed are left out, and so are dynamax and pomegranate where lengths differ. Siblings
are other models of Tacit.

Figures are mean natural-log likelihoods of a held-out symbol or row of numbers given those before it, and
paired differences with their standard errors over held-out sequences (of returns over quarters of years: all
stocks of a quarter count as one); they are won or lost beyond two of these. N-grams and automata also model
where sequences end; they are judged by the next symbol given that there is one. Times are CPU seconds of one
thread, of learning alone.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from hmm_peers import MAX_ITER, N_STARTS, TOL, by_dynamax, by_pomegranate, installed, one_processor
from numpy.typing import NDArray

import tacit
from tacit.errors import MissingDataError

Array = NDArray[np.float64]
Answer = tuple[Array, float, int | str]  # (sequence,) log-likelihoods, CPU seconds, states

PEERS = ("hmmlearn", "pomegranate", "dynamax")
DAYS = 60  # trading days in a quarter of a year, about


@dataclass(frozen=True, eq=False)
class Case:
    """Sequences to learn from and to judge on."""

    train: list[Any]
    test: list[Any]
    n_states: int  # of all models that are given a number
    units: NDArray[np.int64]  # (held-out sequence,)  those with one number are not independent

    @property
    def numbers(self) -> bool:
        return isinstance(self.train[0], np.ndarray)

    @property
    def equal(self) -> bool:
        return len({len(sequence) for sequence in [*self.train, *self.test]}) == 1

    def coded(self) -> tuple[list[NDArray[np.int32]], list[Any]]:
        """Training sequences as codes, and the symbols."""
        symbols = sorted({symbol for sequence in self.train for symbol in sequence})
        places = {symbol: place for place, symbol in enumerate(symbols)}
        return [np.array([places[s] for s in x], dtype=np.int32) for x in self.train], symbols


# -- the sets -----------------------------------------------------------------------------------------


def divided(sequences: list[Any], n_train: int, n_test: int, n_states: int) -> Case:
    """The first of a random order to learn from, the next to judge on."""
    order = np.random.default_rng(0).permutation(len(sequences))[: n_train + n_test]
    chosen = [sequences[place] for place in order]
    return Case(chosen[:n_train], chosen[n_train:], n_states, np.arange(n_test))


def splice() -> Case:
    """Sixty letters around the ends of exons."""
    columns = tacit.datasets.load_splice()
    rows = np.column_stack([columns[f"p{place}"] for place in range(60)])
    rows = rows[columns["class"] == "EI"]
    complete = [row.tolist() for row in rows if None not in row.tolist()]
    return divided(complete, 500, len(complete) - 500, 8)


def polya() -> Case:
    """Two hundred letters around poly(A) signals."""
    columns = tacit.datasets.load_polya("omni")
    rows = np.column_stack([columns[f"p{place}"] for place in range(206)])
    true = rows[columns["label"] == "1"]
    complete = [row.tolist() for row in true if None not in row.tolist()]
    return divided(complete, 200, 400, 8)


def tags(kind: str) -> Case:
    """Parts of speech of English sentences; those with tags that were not learnt from are left out."""
    case = divided(tacit.datasets.load_postags(kind, "train"), 1000, 1000, 10)
    known = {tag for sentence in case.train for tag in sentence}
    test = [sentence for sentence in case.test if known.issuperset(sentence)]
    return replace(case, test=test, units=np.arange(len(test)))


def quarters(columns: Iterable[Sequence[int]]) -> Case:
    """Daily returns in percent, of stocks one by one or side by side; two of three quarters to learn from."""
    closes = tacit.datasets.load_sp500()
    prices = np.column_stack([closes[name] for name in closes if name != "date"])
    percent = 100 * np.diff(np.log(prices), axis=0)
    n_quarters = len(percent) // DAYS
    order = np.random.default_rng(0).permutation(n_quarters)
    cut = 2 * n_quarters // 3

    def parts(chosen: NDArray[np.int64]) -> list[Array]:
        rows = [percent[first * DAYS : (first + 1) * DAYS] for first in chosen]
        return [row[:, list(places)] for row in rows for places in columns]

    units = np.repeat(np.arange(n_quarters - cut), len(list(columns)))
    return Case(parts(order[:cut]), parts(order[cut:]), 4, units)


def digits(n_train: int, n_test: int, *, symbols: bool) -> Case:
    """Written digits, line by line: the ink of three parts of each of eight lines, or which has the most."""
    from sklearn.datasets import load_digits

    images = load_digits().images
    ink = np.stack([images[:, :, two].sum(axis=2) for two in ([1, 2], [3, 4], [5, 6])], axis=2)
    if symbols:
        names = np.where(
            ink.max(axis=2) < 8, "none", np.array(["left", "middle", "right"])[ink.argmax(axis=2)]
        )
        return divided(names.tolist(), n_train, n_test, 4)
    spread = np.random.default_rng(1).random(ink.shape)  # whole numbers have no density
    return divided(list(ink + spread), n_train, n_test, 4)


CASES: dict[str, Callable[[], Case]] = {
    "splice": splice,
    "polya": polya,
    "tags, 17": lambda: tags("upos"),
    "tags, 49": lambda: tags("xpos"),
    "returns": lambda: quarters([[place] for place in range(10)]),
    "returns, three": lambda: quarters([range(3)]),
    "digits, ink": lambda: digits(1000, 797, symbols=False),
    "digits, lines": lambda: digits(1000, 797, symbols=True),
    "few digits, ink": lambda: digits(60, 40, symbols=False),
    "few digits, lines": lambda: digits(60, 40, symbols=True),
}
QUICK = tuple(name for name in CASES if name.startswith("few"))


# -- models of Tacit ----------------------------------------------------------------------------------


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def hidden(case: Case, n_states: int | str, **arguments: Any) -> Answer:
    """`HMM`, with the number of states given or not."""
    if case.numbers:
        arguments = {"emissions": "gaussian", **arguments}
    model, seconds = timed(lambda: tacit.HMM(n_states, n_jobs=1, **arguments).fit(case.train))
    return model.score_samples(case.test), seconds, model.n_states_


def ngrams(case: Case, order: int) -> Answer:
    """Kneser-Ney n-grams, given that a sentence goes on with a known word."""
    lines = [[str(symbol) for symbol in sequence] for sequence in case.train]
    model, seconds = timed(lambda: tacit.KneserNeyLM(order=order).fit(lines))
    others = [model.vocabulary_.words.index(word) for word in ("</s>", "<unk>")]

    def log_prob(sequence: Sequence[Any]) -> float:
        state, total = model.state(), 0.0
        for symbol in sequence:
            rest = model.predict_next_proba(state=state)[others].sum()
            score, state = model.step(state, str(symbol))
            total += score.log_prob - np.log1p(-rest)
        return total

    return np.array([log_prob(sequence) for sequence in case.test]), seconds, ""


def automaton(case: Case, make: Callable[[], Any]) -> Answer:
    """An automaton, given that a sequence goes on."""
    model, seconds = timed(lambda: make().fit(case.train))
    places = {symbol: place for place, symbol in enumerate(model.symbols_)}
    logs = []
    for sequence in case.test:
        rows = np.asarray(model.predict_next_proba([sequence], all_positions=True)[0])
        chances = rows[np.arange(len(rows)), [places[symbol] for symbol in sequence]]
        logs.append(np.log(chances / (1 - rows[:, -1])).sum())
    return np.array(logs), seconds, ""


def kernel(case: Case) -> Answer:
    """States with densities of any shape."""
    model, seconds = timed(lambda: tacit.KernelHMM(n_jobs=1).fit(case.train))
    return model.score_samples(case.test), seconds, model.n_states_


class AllFailedError(Exception):
    """Another program ended with an error from every start."""


# -- other programs -----------------------------------------------------------------------------------


def judged(case: Case, learnt: Any, seconds: float, symbols: list[Any] | None) -> Answer:
    """The score of tables or densities of another program."""
    model = tacit.HMM.from_hmmlearn(learnt, symbols=symbols)
    return model.score_samples(case.test), seconds, case.n_states


def by_hmmlearn(case: Case) -> Answer:
    """The best of several starts by training likelihood."""
    from hmmlearn.hmm import CategoricalHMM, GaussianHMM

    lengths = [len(sequence) for sequence in case.train]
    arguments = {"n_iter": MAX_ITER, "tol": TOL, "implementation": "scaling"}
    if case.numbers:
        rows, symbols = np.concatenate(case.train), None
        make: Any = GaussianHMM
        arguments["covariance_type"] = "full"
    else:
        codes, symbols = case.coded()
        rows, make = np.concatenate(codes)[:, None], CategoricalHMM
        arguments["n_features"] = len(symbols)

    def learn() -> Any:
        models = [
            make(case.n_states, random_state=seed, **arguments).fit(rows, lengths)
            for seed in range(N_STARTS)
        ]
        return max(models, key=lambda model: model.score(rows, lengths))

    best, seconds = timed(learn)
    return judged(case, best, seconds, symbols)


def of_symbols(case: Case, learn: Callable[..., Any]) -> Answer:
    """pomegranate or dynamax, as `hmm_peers` starts them."""
    codes, symbols = case.coded()
    sizes = case.n_states, len(symbols)
    (tables, details), seconds = timed(lambda: learn(np.array(codes), sizes, 0))
    learnt = SimpleNamespace(
        startprob_=tables.initial, transmat_=tables.transitions, emissionprob_=tables.emit[0]
    )
    return judged(case, learnt, seconds - details["compile_seconds"], symbols)


def dynamax_numbers(case: Case) -> Answer:
    """GaussianHMM.fit_em from its own starts by k-means; all steps, since it has no tolerance."""
    import jax
    from dynamax.hidden_markov_model import GaussianHMM

    rows = jax.numpy.asarray(np.array(case.train))
    model = GaussianHMM(case.n_states, rows.shape[2])
    keys = jax.random.split(jax.random.PRNGKey(0), N_STARTS)
    starts = [model.initialize(key, method="kmeans", emissions=rows) for key in keys]

    def fit(first: Any, rows: Any) -> Any:
        return model.fit_em(first, starts[0][1], rows, num_iters=MAX_ITER, verbose=False)

    compiled = jax.jit(fit).lower(starts[0][0], rows).compile()
    ready = time.process_time()
    ends = [jax.block_until_ready(compiled(first, rows)) for first, _ in starts]
    best = max(ends, key=lambda end: float(end[1][-1]))[0]
    seconds = time.process_time() - ready
    emitted = best.emissions
    return normal_states(
        case,
        (best.initial.probs, best.transitions.transition_matrix, emitted.means, emitted.covs),
        seconds,
    )


def pomegranate_numbers(case: Case) -> Answer:
    """DenseHMM with Normal distributions, which it begins by k-means itself."""
    import torch
    from pomegranate.distributions import Normal
    from pomegranate.hmm import DenseHMM

    torch.set_num_threads(1)
    rows = torch.tensor(np.array(case.train), dtype=torch.float32)
    k, over = case.n_states, 1 / rows.shape[1]

    def learn(seed: int) -> tuple[float, Any] | None:
        rng = np.random.default_rng(seed)
        model = DenseHMM(
            [Normal(covariance_type="full") for _ in range(k)],
            edges=((1 - over) * rng.dirichlet(np.ones(k), k)).astype(np.float32),
            starts=rng.dirichlet(np.ones(k)).astype(np.float32),
            ends=np.full(k, over, dtype=np.float32),
            max_iter=MAX_ITER,
            tol=TOL,
            random_state=seed,
        )
        try:
            model = model.fit(rows)
        except RuntimeError:  # a covariance that is not positive: it has no floor
            return None
        return float(model.log_probability(rows).sum()), model

    ends, seconds = timed(lambda: [learn(seed) for seed in range(N_STARTS)])
    alive = [end for end in ends if end is not None]
    if not alive:
        raise AllFailedError
    best = max(alive, key=lambda end: end[0])[1]
    means = torch.stack([state.means for state in best.distributions])
    covariances = torch.stack([state.covs for state in best.distributions])
    return normal_states(case, (best.starts.exp(), best.edges.exp(), means, covariances), seconds)


def normal_states(case: Case, parts: Sequence[Any], seconds: float) -> Answer:
    """The score of a chain of states with normal densities."""
    start, moves, means, covariances = (np.asarray(part, dtype=np.float64) for part in parts)
    learnt = SimpleNamespace(
        startprob_=start / start.sum(),
        transmat_=moves / moves.sum(axis=1, keepdims=True),
        means_=means,
        covars_=covariances,
        covariance_type="full",
    )
    return judged(case, learnt, seconds, None)


# -- all of them --------------------------------------------------------------------------------------


def methods_of(case: Case, peers: Sequence[str]) -> dict[str, Callable[[], Answer]]:
    """What is compared on these sequences, by name."""
    k = case.n_states
    methods: dict[str, Callable[[], Answer]] = {
        "HMM()": lambda: hidden(case, "auto"),
        f"HMM({k})": lambda: hidden(case, k),
    }
    if "hmmlearn" in peers:
        methods["hmmlearn"] = lambda: by_hmmlearn(case)
    others = {
        "pomegranate": (pomegranate_numbers, by_pomegranate),
        "dynamax": (dynamax_numbers, by_dynamax),
    }
    for name, (of_numbers, learn) in others.items():
        if name in peers and case.equal:
            methods[name] = (
                (lambda work=of_numbers: work(case))
                if case.numbers
                else (lambda work=learn: of_symbols(case, work))
            )
    if case.numbers:
        methods["KernelHMM()"] = lambda: kernel(case)
        methods["HMM(emissions='gaussian-mixture')"] = lambda: hidden(
            case, "auto", emissions="gaussian-mixture"
        )
        return methods
    methods |= {f"KneserNeyLM({n})": (lambda n=n: ngrams(case, n)) for n in (3, 5)}
    methods["WeightedAutomaton()"] = lambda: automaton(case, tacit.WeightedAutomaton)
    methods["ProbabilisticAutomaton()"] = lambda: automaton(case, tacit.ProbabilisticAutomaton)
    return methods


def difference(ours: Array, theirs: Array, case: Case) -> tuple[float, float]:
    """Mean difference of a position, and its standard error over units of held-out sequences."""
    sizes = np.array([len(sequence) for sequence in case.test], dtype=np.float64)
    gains, lengths = (np.bincount(case.units, weights) for weights in (ours - theirs, sizes))
    mean = gains.sum() / lengths.sum()
    rest = gains - mean * lengths
    return float(mean), float(
        np.sqrt((rest**2).sum() / (len(gains) - 1) * len(gains)) / lengths.sum()
    )


def verdict(ours: Array, theirs: Array, case: Case) -> str:
    """The difference, its standard error, and whether it is beyond two of these."""
    mean, error = difference(ours, theirs, case)
    mark = "tied" if not abs(mean) > 2 * error else "won" if mean > 0 else "lost"
    return f"{mean:+.4f} ({error:.4f}) {mark}"


def table_of(name: str, case: Case, rows: dict[str, dict[str, Any]], absent: list[str]) -> str:
    """A line for each model."""
    n = sum(map(len, case.test))
    heading = (
        f"### {name}: {len(case.train)} sequences to learn from "
        f"({sum(map(len, case.train))} positions), {len(case.test)} to judge on ({n})"
    )
    lines = [
        heading,
        "",
        f"| model | states | nats per position | HMM() less this | HMM({case.n_states}) less this | CPU s |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for method, row in rows.items():
        if not row:
            lines.append(f"| {method} | | every start ended with an error | | | |")
            continue
        logs = np.array(row["logs"])
        beside = [
            verdict(np.array(rows[ours]["logs"]), logs, case) if ours != method else ""
            for ours in ("HMM()", f"HMM({case.n_states})")
        ]
        cells = [method, row["states"], f"{logs.sum() / n:.4f}", *beside, f"{row['seconds']:.1f}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, *(f"| {peer} | | {why} | | | |" for peer, why in absent), ""])


def left_out(case: Case, peers: Sequence[str]) -> list[tuple[str, str]]:
    """Peers without figures, and why."""
    absent = [(name, "not installed") for name in PEERS if name not in peers]
    unequal = [name for name in PEERS[1:] if name in peers and not case.equal]
    return absent + [(name, "not run: lengths differ") for name in unequal]


def run(names: Sequence[str], path: Path, peers: Sequence[str]) -> str:
    """Run what is not in the file yet; the tables."""
    stored: dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    texts, warm = [], set()
    for name in names:
        try:
            case = CASES[name]()
        except MissingDataError as error:
            print(f"{name}: {error}", flush=True)
            continue
        rows = stored.setdefault(name, {})
        methods = methods_of(case, peers)
        if not methods.keys() <= rows.keys() and case.numbers not in warm:
            warm_up(numbers=case.numbers)
            warm.add(case.numbers)
        for method, work in methods.items():
            if method in rows:
                continue
            try:
                logs, seconds, states = work()
            except AllFailedError:
                rows[method], seconds = {}, 0.0
            else:
                kept = np.asarray(logs).tolist()
                rows[method] = {"logs": kept, "seconds": seconds, "states": states}
            path.write_text(json.dumps(stored), encoding="utf8")
            print(f"{name}: {method} {seconds:.1f} s", flush=True)
        shown = {method: rows[method] for method in methods}
        texts.append(table_of(name, case, shown, left_out(case, peers)))
        print(texts[-1], flush=True)
    return "\n".join(texts)


def warm_up(*, numbers: bool) -> None:
    """Compile the loops before times are taken."""
    if numbers:
        rng = np.random.default_rng(0)
        sequences: list[Any] = [rng.normal(size=(12, 1)) for _ in range(30)]
    else:
        sequences = [list(word) for word in ("abbabab", "bbabbaa", "abababb")] * 20
    for work in methods_of(Case(sequences, sequences[:2], 2, np.arange(2)), ()).values():
        work()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two small sets")
    parser.add_argument("--only", help="sets whose names start so")
    parser.add_argument("--out", type=Path, default=Path("out/real_sequences.json"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in CASES if name.startswith(chosen.only or "") and name not in QUICK]
    path = chosen.out
    if chosen.quick:
        names, path = list(QUICK), path.with_stem(f"{path.stem}-quick")
    peers = installed(list(PEERS))
    with one_processor():
        text = run(names, path, peers)
    path.with_suffix(".md").write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()
