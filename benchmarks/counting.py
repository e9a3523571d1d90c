"""How long counting takes, beside plain code: python benchmarks/counting.py [--rows N] [--leaves L].

CPU seconds of one thread, the best of some runs after one to warm up. Every run of ours starts from the
codes: packing them to bits is part of its time.
"""

import argparse
import time
from itertools import combinations

import numpy as np

from tacit.core.threads import limit_threads
from tacit.trees.moments.source import CountedMoments, PairTables


def cpu_seconds(work, n_runs):
    work()
    best = np.inf
    for _ in range(n_runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def random_codes(n_rows, n_leaves, n_categories):
    """Codes of the form that data comes in: int16, each column contiguous."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_categories, size=(n_leaves, n_rows), dtype=np.int16)
    return codes.T


def some_triples(n_leaves, n_triples):
    """Distinct triples of leaves, spread over all of them."""
    every = list(combinations(range(n_leaves), 3))
    chosen = np.random.default_rng(1).choice(len(every), min(n_triples, len(every)), replace=False)
    return [every[number] for number in chosen]


def count_by_bincount(codes, cards, triples):
    tables = []
    for i, j, k in triples:
        cell = (codes[:, i].astype(np.intp) * cards[j] + codes[:, j]) * cards[k] + codes[:, k]
        counts = np.bincount(cell, minlength=cards[i] * cards[j] * cards[k])
        tables.append(counts.reshape(cards[i], cards[j], cards[k]) / len(codes))
    return tables


def pairs_by_gram(codes, cards, n_rows_at_once=1 << 16):
    """One product of one-hot blocks in float32, which is exact up to 2^24 rows."""
    column_of = np.repeat(np.arange(len(cards)), cards)
    category = np.concatenate([np.arange(card) for card in cards])
    total = np.zeros((len(category), len(category)), dtype=np.int64)
    for start in range(0, len(codes), n_rows_at_once):
        block = codes[start : start + n_rows_at_once, column_of]
        one_hot = (block == category).astype(np.float32)
        total += (one_hot.T @ one_hot).astype(np.int64)
    return total


def show(label, seconds, against=None):
    ratio = "" if against is None else f"   {against / seconds:6.1f} x faster than the line above"
    print(f"  {label:<62}{1e3 * seconds:10.3f} ms{ratio}")


def compare_large(n_rows, n_leaves, n_categories, n_runs):
    codes = random_codes(n_rows, n_leaves, n_categories)
    cards = (n_categories,) * n_leaves
    print(f"{n_rows} rows x {n_leaves} leaves with {n_categories} categories")
    for n_views in (1, 5):
        triples = some_triples(n_leaves, n_views * (n_leaves - 2))
        ours = CountedMoments.of(codes, cards).tables(triples)
        plain = count_by_bincount(codes, cards, triples)
        assert all(map(np.array_equal, ours, plain))
        name = f"{len(triples)} triples ({n_views} for each hidden node)"
        slow = cpu_seconds(lambda t=triples: count_by_bincount(codes, cards, t), 1)
        show(f"{name}, np.bincount for each", slow)
        fast = cpu_seconds(lambda t=triples: CountedMoments.of(codes, cards).tables(t), n_runs)
        show(f"{name}, ours", fast, slow)

        def pairs_then_triples(t=triples):
            moments = CountedMoments.of(codes, cards)
            moments.pairs()
            moments.tables(t)

        show("  the same after all pairs, both together", cpu_seconds(pairs_then_triples, n_runs))
    assert np.array_equal(PairTables.of(codes, cards).counts, pairs_by_gram(codes, cards))
    slow = cpu_seconds(lambda: pairs_by_gram(codes, cards), 1)
    show("all pairs, Gram product of one-hot blocks in float32", slow)
    show("all pairs, ours", cpu_seconds(lambda: PairTables.of(codes, cards), n_runs), slow)
    weights = np.random.default_rng(2).random(n_rows)
    triples = some_triples(n_leaves, n_leaves - 2)
    seconds = cpu_seconds(lambda: CountedMoments.of(codes, cards, weights).tables(triples), 1)
    show(f"{len(triples)} triples of rows with weights, ours", seconds)


def compare_small(n_rows, n_leaves, n_categories):
    codes = random_codes(n_rows, n_leaves, n_categories)
    cards = (n_categories,) * n_leaves
    triples = some_triples(n_leaves, n_leaves - 2)

    def repeated(work, n_times=50):
        def many():
            for _ in range(n_times):
                work()

        return cpu_seconds(many, 10) / n_times

    print(f"{n_rows} rows x {n_leaves} leaves with {n_categories} categories")
    slow = repeated(lambda: pairs_by_gram(codes, cards))
    show("all pairs, Gram product of one-hot blocks in float32", slow)
    show("all pairs, ours", repeated(lambda: PairTables.of(codes, cards)), slow)
    slow = repeated(lambda: count_by_bincount(codes, cards, triples))
    show(f"{len(triples)} triples, np.bincount for each", slow)
    fast = repeated(lambda: CountedMoments.of(codes, cards).tables(triples))
    show(f"{len(triples)} triples, ours", fast, slow)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--leaves", type=int, default=32)
    parser.add_argument("--categories", type=int, default=4)
    parser.add_argument("--runs", type=int, default=5, help="runs of ours; the best counts")
    chosen = parser.parse_args()
    with limit_threads(1):
        rows = chosen.rows // 10 if chosen.quick else chosen.rows
        compare_large(rows, chosen.leaves, chosen.categories, chosen.runs)
        for n_leaves in (8, 64):
            compare_small(1000, n_leaves, chosen.categories)


if __name__ == "__main__":
    main()
