"""Jelinek-Mercer smoothing and absolute discounting of a text, word for word from their formulas.

Jelinek and Mercer (1980), and equations 9.1 and 9.2 of Parikh (2015). Probabilities are fractions, from
dictionaries of counts of the text in every order: slow, exact, and with nothing of Tacit in it.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Gram = tuple[str, ...]
BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"


class Interpolated:
    """P(w | h) = kept(c(h, w)) / c(h) + weight(h) P(w | h without its first word).

    Parameters
    ----------
    lines
        Of words; `n_pads` ``<s>`` are put in front of each and one ``</s>`` behind.
    discounts
        Of each order. That of order 1 goes to a uniform distribution over all words but ``<s>``, ``<unk>``
        among them; zero for none.
    """

    def __init__(
        self, lines: Sequence[Sequence[str]], discounts: Sequence[Fraction], n_pads: int
    ) -> None:
        self.order, self.discounts = len(discounts), discounts
        self.words = sorted({word for line in lines for word in line} | {END, UNKNOWN})
        self.counts: list[Counter[Gram]] = []
        for n in range(1, self.order + 1):
            grams: Counter[Gram] = Counter()
            for line in lines:
                text = (*[BEGIN] * n_pads, *line, END)
                for at in range(n_pads, len(text)):  # of each word that is predicted
                    if at - n + 1 >= 0:
                        grams[text[at - n + 1 : at + 1]] += 1
            self.counts.append(grams)

    def prob(self, context: Gram, word: str) -> Fraction:
        """P(word | context), of a context of any length."""
        context = context[max(len(context) - self.order + 1, 0) :]
        lower = self.prob(context[1:], word) if context else Fraction(1, len(self.words))
        n = len(context) + 1
        after = {gram[-1]: c for gram, c in self.counts[n - 1].items() if gram[:-1] == context}
        if not after:
            return lower
        total = sum(after.values())
        kept = self.kept(after.get(word, 0), self.discounts[n - 1])
        weight = 1 - sum(self.kept(c, self.discounts[n - 1]) for c in after.values()) / total
        return kept / total + weight * lower

    def kept(self, count: int, discount: Fraction) -> Fraction:
        """What is left of a count."""
        raise NotImplementedError


class JelinekMercer(Interpolated):
    """The mean of relative frequencies and the order below; the discount is the weight of the latter."""

    def kept(self, count: int, discount: Fraction) -> Fraction:
        return (1 - discount) * count


class AbsoluteDiscounting(Interpolated):
    """A constant is subtracted from each count."""

    def kept(self, count: int, discount: Fraction) -> Fraction:
        return max(count - discount, Fraction(0))
