"""Word alignment: IBM model 1 (Brown et al., 1993), hidden Markov models (Vogel, Ney & Tillmann, 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.reproduce.language.translation.sentence_pairs import EMPTY, Ids, SentencePairs

Array = NDArray[np.float64]
Links = NDArray[np.bool_]

N_STEPS = 5  # of EM, for each of the two models
EMPTY_PROB = 0.2  # of the empty word, in the hidden Markov model
REACH = 7  # longer jumps have the probability of jumps of this length


@dataclass(frozen=True, eq=False)
class TranslationTable:
    """Probabilities of target words given source words that stand in the same sentence pair."""

    sources: Ids  # (entry,)  sorted by source, then by target
    targets: Ids  # (entry,)
    probs: Array  # (entry,)
    n_targets: int

    def prob(self, sources: Ids, targets: Ids) -> Array:
        """Probabilities of target words given source words of the same shape; 0 for pairs never seen."""
        keys = self.sources * self.n_targets + self.targets
        pair_keys = np.asarray(sources * self.n_targets + targets)
        places = np.minimum(np.searchsorted(keys, pair_keys), len(keys) - 1)
        return np.where(keys[places] == pair_keys, self.probs[places], 0.0)

    def best_targets(self) -> dict[int, int]:
        """The most probable target word of each source word."""
        order = np.lexsort((-self.targets, self.probs))  # the best come last, and win
        return dict(zip(self.sources[order].tolist(), self.targets[order].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Cells:
    """For each target word of all pairs the entries of the empty word and of all source words."""

    entries: Ids  # (cell,)
    row_starts: Ids  # (target word,)
    pair_starts: Ids  # (pair,)
    n_sources: Ids  # (pair,)
    n_targets: Ids  # (pair,)


def aligned_cells(pairs: SentencePairs) -> tuple[TranslationTable, Cells]:
    """A uniform translation table of all words that stand together, and the cells of all pairs."""
    n_sources = np.array([len(source) for source in pairs.sources])
    n_targets = np.array([len(target) for target in pairs.targets])
    n_words = len(pairs.target_words)
    keys = [
        (np.append(EMPTY, source)[None, :] * n_words + target[:, None]).ravel()
        for source, target in zip(pairs.sources, pairs.targets, strict=True)
    ]
    known, entries = np.unique(np.concatenate(keys), return_inverse=True)
    sizes = n_targets * (n_sources + 1)
    row_sizes = np.repeat(n_sources + 1, n_targets)
    table = TranslationTable(known // n_words, known % n_words, np.ones(len(known)), n_words)
    return normalised(table, table.probs), Cells(
        entries,
        np.cumsum(row_sizes) - row_sizes,
        np.cumsum(sizes) - sizes,
        n_sources,
        n_targets,
    )


def normalised(table: TranslationTable, counts: NDArray[Any]) -> TranslationTable:
    """A table whose probabilities are proportional to counts."""
    totals = np.bincount(table.sources, counts)[table.sources]
    probs = np.divide(counts, totals, out=np.zeros(len(counts)), where=totals > 0)
    return TranslationTable(table.sources, table.targets, probs, table.n_targets)


def model_1_step(table: TranslationTable, cells: Cells) -> tuple[TranslationTable, float]:
    """One step of EM of IBM model 1, and the log-likelihood before it.

    Every target word comes from the empty word or one of the source words, all equally probable.
    """
    probs = table.probs[cells.entries]
    row_sizes = np.repeat(cells.n_sources + 1, cells.n_targets)
    totals = np.add.reduceat(probs, cells.row_starts)
    posteriors = probs / np.repeat(totals, row_sizes)
    counts = np.bincount(cells.entries, posteriors, minlength=len(table.probs))
    return normalised(table, counts), float(np.log(totals / row_sizes).sum())


@dataclass(frozen=True, eq=False)
class HmmAlignment:
    """A hidden Markov model of alignments: words, jumps between source positions, and posteriors of links."""

    table: TranslationTable
    jumps: Array  # (2 reach + 1,)
    log_likelihood: float  # of the model before the last step
    posteriors: Array  # (cell,)  of that model, too


def hmm_step(table: TranslationTable, cells: Cells, jumps: Array) -> HmmAlignment:
    """One step of EM of the hidden Markov model.

    Jumps are normalised over the positions of a sentence; their expected counts take the place of an exact
    M-step, as usual.
    """
    from tacit.reproduce.loops.alignment import hmm_counts

    posteriors, counts = np.empty(len(cells.entries)), np.zeros(len(jumps))
    log_likelihood = hmm_counts(
        table.probs,
        cells.entries,
        cells.pair_starts,
        cells.n_sources,
        cells.n_targets,
        jumps,
        EMPTY_PROB,
        posteriors,
        counts,
    )
    words = np.bincount(cells.entries, posteriors, minlength=len(table.probs))
    counts = np.maximum(counts, 1e-6 * counts.sum())  # all jumps stay possible
    return HmmAlignment(normalised(table, words), counts / counts.sum(), log_likelihood, posteriors)


def align(pairs: SentencePairs) -> tuple[TranslationTable, list[Ids]]:
    """The translation table of the hidden Markov model, and the source position of every target word.

    A position is the one with the highest posterior, -1 for the empty word.
    """
    table, cells = aligned_cells(pairs)
    for _ in range(N_STEPS):
        table, _ = model_1_step(table, cells)
    jumps = np.full(2 * REACH + 1, 1 / (2 * REACH + 1))
    for _ in range(N_STEPS):
        fitted = hmm_step(table, cells, jumps)
        table, jumps = fitted.table, fitted.jumps
    posteriors = fitted.posteriors
    positions = []
    for low, n_source, n_target in zip(
        cells.pair_starts, cells.n_sources, cells.n_targets, strict=True
    ):
        rows = posteriors[low : low + n_target * (n_source + 1)].reshape(n_target, n_source + 1)
        positions.append(rows.argmax(axis=1) - 1)
    return table, positions


def symmetrised(source_of: Ids, target_of: Ids) -> Links:
    """(source, target) links from alignments in both directions: grow-diag-final-and (Koehn et al., 2005).

    Parameters
    ----------
    source_of : (target,)
        The source position of each target word, or -1.
    target_of : (source,)
        The target position of each source word, or -1.
    """
    n_source, n_target = len(target_of), len(source_of)
    one = {(int(i), j) for j, i in enumerate(source_of) if i >= 0}
    two = {(i, int(j)) for i, j in enumerate(target_of) if j >= 0}
    either, links = one | two, one & two
    rows, columns = {i for i, _ in links}, {j for _, j in links}

    def add(link: tuple[int, int]) -> None:
        links.add(link)
        rows.add(link[0])
        columns.add(link[1])

    grows = True
    while grows:
        grows = False
        for i, j in sorted(links):
            for link in ((i + di, j + dj) for di in (-1, 0, 1) for dj in (-1, 0, 1)):
                if link in either - links and (link[0] not in rows or link[1] not in columns):
                    add(link)
                    grows = True
    for rest in (one, two):
        for link in sorted(rest - links):
            if link[0] not in rows and link[1] not in columns:
                add(link)
    out = np.zeros((n_source, n_target), bool)
    for link in links:
        out[link] = True
    return out
