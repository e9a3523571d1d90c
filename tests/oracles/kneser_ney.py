"""Interpolated modified Kneser-Ney of a text, word for word from the formulas of Chen and Goodman (1998).

Probabilities are fractions, from dictionaries of counts: slow, exact, and with nothing of Tacit in it.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Gram = tuple[str, ...]
BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"


class ModifiedKneserNey:
    """The model of lines of words, one ``<s>`` in front of each and one ``</s>`` behind.

    The highest order uses counts, lower orders after how many different words an n-gram occurs; where it
    begins with ``<s>`` nothing can stand before it, and its count stays (as SRILM and KenLM have it). Below
    order 1, all words but ``<s>`` are alike, ``<unk>`` among them.
    """

    def __init__(self, lines: Sequence[Sequence[str]], order: int) -> None:
        self.order = order
        texts = [(BEGIN, *line, END) for line in lines]
        self.words = sorted({word for line in lines for word in line} | {END, UNKNOWN})
        seen = [
            Counter(text[at : at + n] for text in texts for at in range(len(text) - n + 1))
            for n in range(1, order + 1)
        ]
        self.counts: list[Counter[Gram]] = []
        for n in range(1, order + 1):
            if n == order:
                used = Counter(seen[n - 1])
            else:
                used = Counter(longer[1:] for longer in seen[n])
                used.update({gram: c for gram, c in seen[n - 1].items() if gram[0] == BEGIN})
            used.pop((BEGIN,), None)  # it follows nothing
            self.counts.append(used)
        self.discounts = [self._discounts(n) for n in range(1, order + 1)]

    def _discounts(self, n: int) -> tuple[Fraction, Fraction, Fraction]:
        """D1, D2 and D3+ of an order."""
        n1, n2, n3, n4 = (
            sum(count == times for count in self.counts[n - 1].values()) for times in (1, 2, 3, 4)
        )
        y = Fraction(n1, n1 + 2 * n2)
        return 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3

    def prob(self, context: Gram, word: str) -> Fraction:
        """P(word | context), of a context of any length."""
        context = context[max(len(context) - self.order + 1, 0) :]
        lower = self.prob(context[1:], word) if context else Fraction(1, len(self.words))
        n = len(context) + 1
        after = {gram: c for gram, c in self.counts[n - 1].items() if gram[:-1] == context}
        total = sum(after.values())
        if not total:
            return lower
        d1, d2, d3 = self.discounts[n - 1]
        count = after.get((*context, word), 0)
        taken = {0: 0, 1: d1, 2: d2}.get(count, d3)
        once, twice = (sum(c == times for c in after.values()) for times in (1, 2))
        more = sum(c >= 3 for c in after.values())
        return (count - taken + (d1 * once + d2 * twice + d3 * more) * lower) / total
