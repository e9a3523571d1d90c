"""Perplexities of Kneser-Ney and of power low rank ensembles, everything chosen on validation texts.

    python benchmarks/perplexity.py [--quick] [--corpora ptb ...] [--orders 3 5] [--out out]

The corpora lie in the folder ``lm`` of the one that ``TACIT_DATA`` names. Models: modified Kneser-Ney as in
KenLM, ``PowerLowRankLM(preset="printed")`` and ``PowerLowRankLM()``, the last two with ranks (and weights)
chosen on "valid". Ends of lines are counted. Each fit is a line of ``perplexity.jsonl`` in the output folder;
what is there is not run again. ``perplexity.md`` gets the table and what was claimed before the runs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CORPORA = ("ptb", "wikitext-2", "russian-drama-novels", "english-eltec")
MODELS = ("kneser-ney", "printed", "default")
# By how much the default lies below modified Kneser-Ney of the same order, in per cent.
GAINS = {"ptb": 10.0, "wikitext-2": 12.0, "english-eltec": 7.5, "russian-drama-novels": 6.0}
MOST_PTB_5 = 124.0


def fit_one(corpus: str, order: int, model: str) -> dict[str, Any]:
    """Fit one model and score "valid" and "test"."""
    import numpy as np

    from tacit.datasets.texts import load_corpus
    from tacit.language.kneser_ney_lm import KneserNeyLM
    from tacit.language.moments.ngram_counts import GramCounts
    from tacit.language.power_low_rank_lm import PowerLowRankLM

    train = load_corpus(corpus)
    valid, test = (
        load_corpus(corpus, part, vocabulary=train.vocabulary) for part in ("valid", "test")
    )
    begun, cpu = time.perf_counter(), time.process_time()
    pads = "all" if model == "printed" else "one"
    counts = GramCounts.of(train, order, pads=pads)
    row: dict[str, Any] = {"corpus": corpus, "order": order, "model": model}
    if model == "kneser-ney":
        fitted: Any = KneserNeyLM(order).fit_counts(counts)
    else:
        preset = "printed" if model == "printed" else None
        fitted = PowerLowRankLM(order, preset=preset, random_state=0).fit_counts(
            counts, validation=valid
        )
        plans = fitted.plans_
        row["plans"] = {at: [plans[at].ranks, plans[at].weights] for at in plans if plans[at].ranks}
    row["seconds"], row["cpu_seconds"] = time.perf_counter() - begun, time.process_time() - cpu
    for name, text in (("valid", valid), ("test", test)):
        logs = fitted._line_scores(text, begin=True, end=True).log_probs
        row[name] = float(np.exp(-logs.mean()))
        row[f"{name}_words"] = len(logs)
    row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of the table, corpus by corpus."""
    lines = [
        "| corpus | order | model | valid | test | below MKN | ranks (weights) | seconds | CPU | MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    row_of = {(row["corpus"], row["order"], row["model"]): row for row in rows}
    for (corpus, order, model), row in sorted(
        row_of.items(),
        key=lambda item: (CORPORA.index(item[0][0]), item[0][1], MODELS.index(item[0][2])),
    ):
        peer = row_of.get((corpus, order, "kneser-ney"))
        gain = (
            ""
            if peer is None or model == "kneser-ney"
            else f"{100 - 100 * row['test'] / peer['test']:.1f} %"
        )
        chosen = "; ".join(
            f"{at}: "
            + ", ".join(f"{rank} ({weight:.2f})" for rank, weight in zip(*plan, strict=True))
            for at, plan in row.get("plans", {}).items()
        )
        lines.append(
            f"| {corpus} | {order} | {model} | {row['valid']:.2f} | {row['test']:.2f} | {gain} | {chosen} "
            f"| {row['seconds']:.1f} | {row['cpu_seconds']:.1f} | {row['megabytes']:.0f} |"
        )
    return lines


def claims(rows: list[dict[str, Any]]) -> list[str]:
    """What was claimed before the runs, and whether it holds."""
    perplexity_of = {(row["corpus"], row["order"], row["model"]): row["test"] for row in rows}
    lines = []
    for (corpus, order, model), test in perplexity_of.items():
        peer = perplexity_of.get((corpus, order, "kneser-ney"))
        if model != "default" or peer is None:
            continue
        gain = 100 - 100 * test / peer
        least, where = GAINS[corpus], f"{corpus}, order {order}"
        lines.append(
            f"{_verdict(gain >= least)}: {where}: default at least {least} % below MKN: {gain:.1f} %"
        )
        lines.append(f"{_verdict(test <= peer)}: {where}: default not above MKN")
    if ("ptb", 5, "default") in perplexity_of:
        test = perplexity_of["ptb", 5, "default"]
        lines.append(
            f"{_verdict(test < MOST_PTB_5)}: ptb, order 5: default below {MOST_PTB_5:.0f}: {test:.2f}"
        )
    return lines


def _verdict(holds: bool) -> str:
    return "holds" if holds else "DOES NOT HOLD"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=CORPORA)
    parser.add_argument("--orders", nargs="+", type=int, default=[3, 5])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--out", default="out")
    parser.add_argument("--quick", action="store_true", help="Penn Treebank, order 3")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        corpus, order, model = args.one
        print(json.dumps(fit_one(corpus, int(order), model)))
        return
    corpora, orders = (["ptb"], [3]) if args.quick else (args.corpora, args.orders)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    store = out / "perplexity.jsonl"
    rows = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    done = {(row["corpus"], row["order"], row["model"]) for row in rows}
    for corpus in corpora:
        for order in orders:
            for model in args.models:
                if (corpus, order, model) in done:
                    continue
                # A process of its own, so that memory is that of this fit.
                job = [sys.executable, __file__, "--one", corpus, str(order), model]
                line = subprocess.run(
                    job, check=True, stdout=subprocess.PIPE, text=True
                ).stdout.splitlines()[-1]
                rows.append(json.loads(line))
                with store.open("a") as file:
                    file.write(line + "\n")
                print(table(rows[-1:])[-1], flush=True)
    lines = [*table(rows), "", *(f"- {line}" for line in claims(rows))]
    (out / "perplexity.md").write_text("# Perplexities\n\n" + "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
