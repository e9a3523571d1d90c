"""Weights of features, tuned on lists of translations by batch MIRA (Cherry & Foster, 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.reproduce.language.translation.bleu import SIZE, bleu, statistics
from tacit.reproduce.language.translation.decoder import LANGUAGE, BestList

Array = NDArray[np.float64]

N_EPOCHS = 15
MOST_STEP = 0.01  # the largest step of an update
DECAY = 0.999  # of the statistics of earlier sentences


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of translations of a text, with references."""

    texts: list[list[str]]  # of each sentence
    features: list[Array]  # (translation, feature), of each sentence
    statistics: list[Array]  # (translation, statistic) of BLEU, of each sentence

    @staticmethod
    def of(lists: Sequence[BestList], references: Sequence[str]) -> Lists:
        """Of the decoder's lists."""
        bleu_statistics = [
            statistics(best_list.texts, reference)
            for best_list, reference in zip(lists, references, strict=True)
        ]
        texts, features = [item.texts for item in lists], [item.features for item in lists]
        return Lists(texts, features, bleu_statistics)

    def joined(self, other: Lists) -> Lists:
        """Both lists of every sentence; translations that are in both come from the other."""
        texts, features, bleu_statistics = [], [], []
        columns = (self.texts, self.features, self.statistics)
        others = (other.texts, other.features, other.statistics)
        for (old, *old_rows), (new, *new_rows) in zip(
            zip(*columns, strict=True), zip(*others, strict=True), strict=True
        ):
            known = set(new)
            missing = [at for at, text in enumerate(old) if text not in known]
            texts.append([*new, *(old[at] for at in missing)])
            joined_features, joined_statistics = (
                np.concatenate([rows, before[missing]])
                for rows, before in zip(new_rows, old_rows, strict=True)
            )
            features.append(joined_features)
            bleu_statistics.append(joined_statistics)
        return Lists(texts, features, bleu_statistics)

    def with_language(self, log_probs: Array) -> Lists:
        """With other log-probabilities of the language model, those of all translations in turn."""
        ends = np.cumsum([len(rows) for rows in self.features])
        features = []
        for rows, part in zip(self.features, np.split(log_probs, ends[:-1]), strict=True):
            changed = rows.copy()
            changed[:, LANGUAGE] = part
            features.append(changed)
        return replace(self, features=features)

    @property
    def all_texts(self) -> list[str]:
        """The translations of all sentences in turn."""
        return [text for texts in self.texts for text in texts]

    def best(self, weights: Array) -> list[str]:
        """The best translation of every sentence."""
        places = [int((rows @ weights).argmax()) for rows in self.features]
        return [texts[at] for texts, at in zip(self.texts, places, strict=True)]

    def bleu(self, weights: Array) -> float:
        """BLEU of the best translations, between 0 and 1."""
        rows = zip(self.features, self.statistics, strict=True)
        return float(
            bleu(np.sum([judged[(one @ weights).argmax()] for one, judged in rows], axis=0))
        )

    def oracle(self) -> list[str]:
        """The translation of every sentence that gives the text the best BLEU, found one after another."""
        chosen = [int(rows[:, :4].sum(axis=1).argmax()) for rows in self.statistics]
        total = np.sum([rows[at] for rows, at in zip(self.statistics, chosen, strict=True)], axis=0)
        for _ in range(3):
            for number, rows in enumerate(self.statistics):
                others = total - rows[chosen[number]]
                chosen[number] = int(bleu(others + rows).argmax())
                total = others + rows[chosen[number]]
        return [texts[at] for texts, at in zip(self.texts, chosen, strict=True)]


def tuned_weights(lists: Lists, start: Array, rng: np.random.Generator) -> Array:
    """Weights that give the best translations a high BLEU.

    Sentences are visited in a random order. Each moves the weights so that the translation that is good by
    BLEU and by the model ("hope") is ahead of the one that is good by the model alone ("fear") by the
    difference of their BLEU. Weights are averaged within each epoch; the best average of all is returned.
    """
    weights = start.copy()
    best, highest = start, -1.0
    background = np.full(SIZE, 1.0)
    for _ in range(N_EPOCHS):
        total = np.zeros_like(weights)
        for number in rng.permutation(len(lists.features)):
            rows, judged = lists.features[number], lists.statistics[number]
            scores = rows @ weights
            sums = background + judged
            gains = bleu(sums) * sums[:, -1]  # in words of the references (Chiang et al., 2008)
            hope, fear = int((scores + gains).argmax()), int((scores - gains).argmax())
            difference = rows[hope] - rows[fear]
            loss = gains[hope] - gains[fear] - difference @ weights
            length = float(difference @ difference)
            if loss > 0 and length > 0:
                weights = weights + min(MOST_STEP, loss / length) * difference
            background = DECAY * (background + judged[int(scores.argmax())])
            total += weights
        average = total / len(lists.features)
        if (reached := lists.bleu(average)) > highest:
            best, highest = average, reached
    return best
