"""Survey, section 3.3: the next part of speech by weighted automata, EM and n-grams.

The survey reports the experiment of Balle et al. with two bases of Hankel blocks: single symbols, and the
most frequent substrings. Its treebank is not free; `load_postags` has another, of 12,544 training sentences,
with 17 universal tags as in the survey and with 49 of its own. The numbers of states are chosen on validation
sentences.
"""

from __future__ import annotations

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method
from tacit.reproduce.sequences import tags
from tacit.reproduce.sequences.tags import HANKEL, NGRAMS, STUDY, TagCase

UNIGRAM, BIGRAM, TRIGRAM = (
    Method(name, NGRAMS, (("order", order),))
    for order, name in enumerate(("unigram", "bigram", "trigram"), start=1)
)
SYMBOLS = Method("spectral, symbols", HANKEL, (("basis", 1000), ("max_length", 1)), as_printed=True)
SUBSTRINGS = Method(
    "spectral, substrings", HANKEL, (("basis", 500), ("max_length", 4)), as_printed=True
)
BY_EM = Method("EM", tags.EM, (("n_restarts", 3), ("max_iter", 100)))
TACIT_WEIGHTED = Method("Tacit weighted automaton", tags.WEIGHTED)
TACIT_PROBABILISTIC = Method(
    "Tacit probabilistic automaton", tags.PROBABILISTIC, (("learn", "em"),)
)
SPECTRAL = (SYMBOLS, SUBSTRINGS)
SURVEY = (UNIGRAM, BIGRAM, TRIGRAM, *SPECTRAL, BY_EM)
METHODS = (*SURVEY, TACIT_WEIGHTED, TACIT_PROBABILISTIC)

TACIT_FORMS = {SUBSTRINGS.name: TACIT_WEIGHTED.name, BY_EM.name: TACIT_PROBABILISTIC.name}
MUCH_LESS = 0.1  # of the time


def best_size(runs: Runs, method: Method) -> int:
    """The number of states that errs least often on the validation sentences."""
    return min(runs.sizes, key=lambda size: runs.at(size).median("wrong_aside", method=method))


def at_best(runs: Runs, method: Method, measure: str = "wrong") -> float:
    """A result with that number of states."""
    return runs.at(best_size(runs, method)).median(measure, method=method)


@inequality(
    "with the number of states chosen on validation sentences, EM and both bases err less often than "
    "unigrams and bigrams, on every set of tags"
)
def _ahead_of_short_contexts(runs: Runs) -> Finding:
    outcomes = [
        at_best(tagset, method) < at_best(tagset, other)
        for tagset in runs.by_case()
        for method in (*SPECTRAL, BY_EM)
        for other in (UNIGRAM, BIGRAM)
    ]
    shown = " and ".join(
        ", ".join(f"{m.name} {at_best(tagset, m):.4f}" for m in (BIGRAM, *SPECTRAL, BY_EM))
        for tagset in runs.by_case()
    )
    return counted("comparisons", outcomes, shown=f"; {shown}")


@inequality("the nearer basis is nearer to EM than half of EM's distance from bigrams")
def _comparable(runs: Runs) -> Finding:
    near_and_far = []
    for tagset in runs.by_case():
        by_em, bigram = at_best(tagset, BY_EM), at_best(tagset, BIGRAM)
        near = min(abs(at_best(tagset, method) - by_em) for method in SPECTRAL)
        near_and_far.append((near, bigram - by_em))
    shown = "; ".join(f"{near:.4f} and {distant:.4f}" for near, distant in near_and_far)
    return Finding(all(near < distant / 2 for near, distant in near_and_far), shown)


@inequality(f"with these, either basis takes less than {MUCH_LESS:g} of the time of EM")
def _much_faster(runs: Runs) -> Finding:
    ratios = [
        at_best(tagset, method, "seconds") / at_best(tagset, BY_EM, "seconds")
        for tagset in runs.by_case()
        for method in SPECTRAL
    ]
    shown = " and ".join(f"{ratio:.4f}" for ratio in ratios)
    return Finding(all(ratio < MUCH_LESS for ratio in ratios), f"{shown} of the time of EM")


def _table(runs: Runs) -> str:
    """The results of every method, with the number of states that was chosen."""
    parts = []
    for tagset in runs.by_case():
        rows = []
        for method in METHODS:
            states = "" if method.learn == NGRAMS else str(best_size(tagset, method))
            wrong, nats, seconds = (
                at_best(tagset, method, m) for m in ("wrong", "nats", "seconds")
            )
            rows.append((method.name, [states, f"{wrong:.4f}", f"{nats:.4f}", f"{seconds:.3f}"]))
        parts += [tagset.case.kind, *aligned(["states", "wrong", "nats", "CPU s"], rows)]
    return "\n".join(parts)


EXPERIMENT = Experiment(
    name="wfa-pos",
    title="Survey, section 3.3: the next part of speech",
    claim=(
        "In predicting the next part of speech, EM and spectral learning of weighted automata perform "
        "comparably and better than unigrams and bigrams; the spectral algorithm takes significantly less "
        "time than EM."
    ),
    parts=(_ahead_of_short_contexts, _comparable, _much_faster),
    settings={
        "paper": STUDY.settings((TagCase(), TagCase("xpos")), METHODS, (2, 5, 10, 20, 30, 50), 1),
        "small": STUDY.settings((TagCase(n_train=5000),), METHODS, (2, 5, 10, 20), 1),
        "tiny": STUDY.settings((TagCase("upos", 120, 30, 30),), METHODS, (2, 4), 1),
    },
    lines=lines(SURVEY, TACIT_FORMS),
    panel_title=lambda case: f"{case.kind}, {case.n_train} training sentences",
    measures=("wrong", "seconds"),
    tacit_forms=TACIT_FORMS,
    over="random starts",
    check_data=lambda: tags.tags_of(TagCase()),
    table=_table,
)
