"""Latent-variable grammars learnt from treebanks: labelled F1, training seconds, words parsed in a second.

    python benchmarks/grammar.py                     WSJ sample: one state, and 8, 16, 32 by three learners
    python benchmarks/grammar.py --treebank genia    the same on GENIA
    python benchmarks/grammar.py --develop           the last tenth of the training trees instead of the test
    python benchmarks/grammar.py --quick             a few states, few sentences
    python benchmarks/grammar.py --rows FILE         rows are kept in a file; those it has are not run again

Treebanks lie in the folder that ``TACIT_DATA`` names. WSJ sample: the first 3522 trees to learn from, the
rest to judge on; GENIA: the first 90 % and the rest. Tags are given, sentences have at most 40 words,
punctuation included. "F1" counts every bracket but the outermost ``TOP``, also those of one word, over all
words; "evalb" follows the conventions of that program. "em" is the best of `--starts` random starts by
training likelihood. Training is CPU seconds from trees to a fitted model, loops compiled beforehand; parsing
is wall time with `--jobs` threads, and CPU of a sentence. Settings were chosen with --develop on the WSJ
sample.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tacit.datasets import treebanks
from tacit.parsing.data.grammar_input import prepared_trees
from tacit.parsing.latent_pcfg import LatentPCFG
from tacit.parsing.query.labelled_brackets import labelled_score

MOST_WORDS = 40
WSJ_TRAINING = 3522


def split(name, *, develop):
    trees = prepared_trees(treebanks.load_treebank(name))
    cut = WSJ_TRAINING if name == "wsj_sample" else len(trees) * 9 // 10
    train, test = trees[:cut], trees[cut:]
    if develop:
        train, test = train[: cut * 9 // 10], train[cut * 9 // 10 :]
    return train, [tree for tree in test if len(tree.leaves()) <= MOST_WORDS]


def measured(model, train, test):
    """Train and parse; a row of figures."""
    began = time.process_time()
    model.fit(train)
    training = time.process_time() - began
    sentences = [tree.leaves() for tree in test]
    began, busy = time.perf_counter(), time.process_time()
    predicted, repairs = model.predict(sentences, return_repairs=True)
    wall, busy = time.perf_counter() - began, time.process_time() - busy
    n_words = sum(map(len, sentences))
    return {
        "f1": 100 * labelled_score(test, predicted).f1,
        "evalb": 100 * labelled_score(test, predicted, convention="evalb").f1,
        "training": training,
        "words": n_words / wall,
        "sentences": len(sentences) / wall,
        "cpu": 1e3 * busy / len(sentences),
        "bad": repairs["non_positive"],
        "none": repairs["no_tree"],
    }


def stored_rows(path):
    """Rows that an earlier run has written, by what they were run with."""
    if path is None or not path.exists():
        return {}
    pairs = (json.loads(line) for line in path.read_text().splitlines())
    return {json.dumps(key): row for key, row in pairs}


def compile_loops(train):
    for learn in ("auto", "spectral", "em"):
        LatentPCFG(2, learn, max_iter=1).fit(train[:50]).predict([train[0].leaves()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--treebank", choices=("wsj_sample", "genia"), default="wsj_sample")
    parser.add_argument("--states", type=int, nargs="+", default=[8, 16, 32])
    parser.add_argument("--learners", nargs="+", default=["spectral", "em", "auto"])
    parser.add_argument("--sentences", type=int, help="judge on so many only")
    parser.add_argument("--starts", type=int, default=3, help="of EM")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=Path, help="keep rows here")
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.states, args.sentences, args.starts = [8], 40, 1
    train, test = split(args.treebank, develop=args.develop)
    test = test[: args.sentences]
    compile_loops(train)
    n_words = sum(len(tree.leaves()) for tree in test)
    part = "held-out training trees" if args.develop else "test"
    print(
        f"{args.treebank}: {len(train)} trees to learn from; {part}: {len(test)}, {n_words} words"
    )
    print(
        f"{'states':>6} {'learn':<9}{'F1':>7}{'evalb':>7}{'training, s CPU':>17}{'words/s':>9}"
        f"{'sentences/s':>13}{'ms CPU each':>13}{'score <= 0':>12}{'no tree':>9}"
    )
    stored = stored_rows(args.rows)
    for n_states, learn in [
        (1, "-"),
        *((m, learner) for m in args.states for learner in args.learners),
    ]:
        key = [args.treebank, args.develop, len(test), args.starts, args.jobs, n_states, learn]
        row = stored.get(json.dumps(key))
        if row is None:
            learner = "auto" if n_states == 1 else learn
            row = measured(
                LatentPCFG(n_states, learner, n_restarts=args.starts, n_jobs=args.jobs),
                train,
                test,
            )
            if args.rows:
                with args.rows.open("a") as file:
                    print(json.dumps([key, row]), file=file)
        print(
            f"{n_states:>6} {learn:<9}{row['f1']:>7.2f}{row['evalb']:>7.2f}{row['training']:>17.1f}"
            f"{row['words']:>9.0f}{row['sentences']:>13.1f}{row['cpu']:>13.1f}{row['bad']:>12}{row['none']:>9}",
            flush=True,
        )


if __name__ == "__main__":
    main()
