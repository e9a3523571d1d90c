"""Every learner of latent trees on the same rows: with as many states as the truth has, and with fewer.

    python benchmarks/tree_learners.py            all of it (seconds)
    python benchmarks/tree_learners.py --quick    less of it

Binary trees of 16 leaves with 4 categories; the structure is given. KL is the divergence from the truth in
nats per row, on 10,000 rows that were not learnt from; times are CPU seconds of whole fits after one to warm
up. Both are means over the repetitions.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings

import tacit

LEARNERS = ("auto", "spectral", "hierarchical", "mossel-roch", "em", "online-em")


def measured(n_states: int, n_true: int, n_rows: int, seed: int) -> dict[str, tuple[float, float]]:
    """KL and seconds of every learner on one draw."""
    truth = tacit.toy.random_tree_model(
        topology=tacit.toy.named_topology("bin5"),
        n_states=n_true,
        n_categories=4,
        random_state=seed,
    )
    train, test = truth.sample(n_rows, [seed, 1]), truth.sample(10_000, [seed, 2])
    right = truth.log_prob(test)
    outcomes = {}
    for learn in LEARNERS:
        model = tacit.LatentTree(n_states, truth.topology, learn).fit(train)
        begun = time.process_time()
        model.fit(train)
        seconds = time.process_time() - begun
        outcomes[learn] = tacit.evaluate.kl(right, model.score_samples(test)), seconds
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")  # of EM that did not converge
    for n_true, n_states in ((2, 2), (4, 2)):
        for n_rows in (1000,) if quick else (1000, 10_000):
            runs = [measured(n_states, n_true, n_rows, seed) for seed in range(2 if quick else 10)]
            print(f"\n{n_states} states, {n_true} in truth, {n_rows} rows")
            print(f"{'learn':14}{'KL':>9}{'CPU s':>9}")
            for learn in LEARNERS:
                kl, seconds = (statistics.fmean(run[learn][i] for run in runs) for i in (0, 1))
                print(f"{learn:14}{kl:9.4f}{seconds:9.4f}", flush=True)


if __name__ == "__main__":
    main()
