"""Phrase-based translation by beam search, and lists of the best translations."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.reproduce.language.translation.phrases import LONGEST, N_FEATURES, PhraseTable
from tacit.reproduce.language.translation.sentence_pairs import Ids

if TYPE_CHECKING:
    from tacit.language.kneser_ney_lm import KneserNeyLM

Array = NDArray[np.float64]

# Features: language model, four of phrases, numbers of phrases, words and unknown words, words jumped over
LANGUAGE, PHRASES, WORDS, UNKNOWN, JUMPS = 0, N_FEATURES + 1, N_FEATURES + 2, N_FEATURES + 3, -1
FEATURES = N_FEATURES + 5
START_WEIGHTS = np.array([0.6, 0.2, 0.2, 0.2, 0.2, 0.0, 0.5, -1.0, -0.1])

MOST_WORDS = 62  # of a source sentence: covered words are the bits of one number
TRIES = 20  # derivations that are looked at for each translation of a list


@dataclass(frozen=True)
class Beam:
    """How far the search goes."""

    size: int = 60  # hypotheses kept for each number of covered words
    n_candidates: int = 240  # from which they are taken
    reach: int = 5  # source words that may be jumped over
    n_best: int = 100  # translations of a list


@dataclass(frozen=True, eq=False)
class Options:
    """The translations of all phrases of a source sentence, sorted by span."""

    first: Ids  # (option,)
    last: Ids  # (option,)
    spans: Ids  # (n + 1, n + 1, 2)  the options of each span, from and to
    texts: list[str]
    words: Ids  # (word,)  numbers in the language model
    starts: Ids  # (option + 1,)
    features: Array  # (option, feature)  without language model and jumps


@dataclass(frozen=True, eq=False)
class BestList:
    """Different translations of one sentence, the best first, with the features of one derivation each."""

    texts: list[str]
    features: Array  # (translation, feature)
    scores: Array  # (translation,)  of the search


@dataclass(frozen=True, eq=False)
class Decoder:
    """A phrase table and an n-gram model with back-off weights."""

    table: PhraseTable
    model: KneserNeyLM
    beam: Beam = field(default_factory=Beam)

    def options(self, sentence: str) -> Options:
        """The options of a sentence; words without a translation are copied."""
        words = sentence.split()
        numbers = self.table.source_words.ids(sentence).tolist()
        n = len(words)
        spans = np.zeros((n + 1, n + 1, 2), np.int64)
        rows: list[tuple[int, int, str, Array]] = []
        for low in range(n):
            for high in range(low + 1, min(low + LONGEST, n) + 1):
                spans[low, high, 0] = len(rows)
                for target, features in self.table.translations.get(tuple(numbers[low:high]), ()):
                    text = " ".join(self.table.target_words.words[word] for word in target)
                    rows.append((low, high, text, _features(features, len(target))))
                if high == low + 1 and spans[low, high, 0] == len(rows):
                    rows.append((low, high, words[low], _features(np.zeros(N_FEATURES), 1, 1)))
                spans[low, high, 1] = len(rows)
        texts = [text for _, _, text, _ in rows]
        target_words = [word for text in texts for word in text.split()]
        return Options(
            np.array([row[0] for row in rows]),
            np.array([row[1] for row in rows]),
            spans,
            texts,
            self.model.vocabulary_.ids(target_words).astype(np.int64),
            np.cumsum([0, *(len(text.split()) for text in texts)]),
            np.array([row[3] for row in rows]),
        )

    def translations(self, sentence: str, weights: Array) -> BestList:
        """The best translations of a sentence.

        In the search a negative weight of the language model counts as zero, and so does a weight that
        rewards jumps: otherwise its estimates would not be bounds.
        """
        n = len(sentence.split())
        if not 0 < n <= MOST_WORDS:
            log_prob = self.model.score_samples([sentence])[0]
            features = np.zeros((1, FEATURES))
            features[0, [LANGUAGE, WORDS, UNKNOWN]] = log_prob, n, n
            return BestList([sentence], features, features @ weights)
        options = self.options(sentence)
        graph = _searched(self, options, weights, n)
        return _best_list(self, options, graph)


def _features(of_phrase: Array, n_words: int, n_unknown: int = 0) -> Array:
    out = np.zeros(FEATURES)
    out[1 : N_FEATURES + 1] = of_phrase
    out[PHRASES], out[WORDS], out[UNKNOWN] = 1.0, n_words, n_unknown
    return out


# -- search -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Graph:
    """Hypotheses and the options that lead from one to the next; node 0 is the beginning."""

    scores: list[float]  # (node,)  of the best way to it
    edges: list[
        list[tuple[int, int, float]]
    ]  # into each node, best first: node before, option, score
    ends: list[tuple[int, float]]  # nodes that cover all words, with the score of the end


def _searched(decoder: Decoder, options: Options, weights: Array, n: int) -> _Graph:
    from tacit.language.data.vocabulary import END
    from tacit.language.model.backoff import packed
    from tacit.language.query.backoff import begin_state
    from tacit.reproduce.loops.decoding import (
        beam_search,
        completion_estimates,
        phrase_log_prob,
        phrase_log_probs,
    )

    beam, grams = decoder.beam, decoder.model.model_
    model = packed(grams)
    base = options.features @ weights
    lm_weight, jump_weight = max(float(weights[LANGUAGE]), 0.0), max(-float(weights[JUMPS]), 0.0)
    alone = base + lm_weight * phrase_log_probs(model, options.words, options.starts)
    estimates = completion_estimates(options.first, options.last, alone, n)
    room = 1 + n * beam.size
    nodes = (
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room),
    )
    room = n * beam.n_candidates
    edges = (
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room),
    )
    n_nodes, n_edges, first_end = beam_search(
        model,
        begin_state(grams),
        options.words,
        options.starts,
        options.spans,
        options.first,
        options.last,
        base,
        estimates,
        (beam.size, beam.n_candidates, beam.reach, LONGEST),
        (lm_weight, jump_weight),
        nodes,
        edges,
    )
    into: list[list[tuple[int, int, float]]] = [[] for _ in range(n_nodes)]
    columns = (column[:n_edges].tolist() for column in edges)
    for node, *edge in zip(*columns, strict=True):
        into[node].append(tuple(edge))
    stop = np.array([END])
    ends = [
        (node, lm_weight * phrase_log_prob(model, nodes[1][node], stop, 0, 1)[0])
        for node in range(first_end, n_nodes)
    ]
    return _Graph(nodes[3][:n_nodes].tolist(), into, ends)


def _best_list(decoder: Decoder, options: Options, graph: _Graph) -> BestList:
    """The best different translations: derivations in the order of their scores, from the ends (A*).

    The score of a node is that of the best way to it, which makes the estimate exact.
    """
    heap: list[tuple[float, int, int, int, float, Any]] = []
    for node, score in graph.ends:
        heap.append((-(graph.scores[node] + score), len(heap), node, 0, score, None))
    heapq.heapify(heap)
    count = len(heap)
    texts: dict[str, tuple[float, list[int]]] = {}
    n_best, n_tries = decoder.beam.n_best, 0
    while heap and len(texts) < n_best and n_tries < TRIES * n_best:
        negative, _, node, at, behind, path = heapq.heappop(heap)
        edges = graph.edges[node]
        if at + 1 < len(edges):  # the next way into the same node
            count += 1
            item = (-(edges[at + 1][2] + behind), count, node, at + 1, behind, path)
            heapq.heappush(heap, item)
        before, option, score = edges[at]
        path = (option, path)
        if before > 0:
            count += 1
            rest = behind + score - graph.scores[before]
            heapq.heappush(heap, (negative, count, before, 0, rest, path))
            continue
        n_tries += 1
        derivation = _unrolled(path)
        text = " ".join([options.texts[option] for option in derivation])
        if text not in texts:
            texts[text] = -negative, derivation
    features = np.array([_path_features(options, path) for _, path in texts.values()])
    scores = np.array([score for score, _ in texts.values()])
    features[:, LANGUAGE] = decoder.model.score_samples(list(texts))
    return BestList(list(texts), features, scores)


def _unrolled(path: Any) -> list[int]:
    options = []
    while path is not None:
        option, path = path
        options.append(option)
    return options


def _path_features(options: Options, path: Sequence[int]) -> Array:
    """The features of a derivation; that of the language model is left out."""
    features = options.features[path].sum(axis=0)
    ends = np.append(0, options.last[path][:-1])
    features[JUMPS] = np.abs(options.first[path] - ends).sum()
    return np.asarray(features)
