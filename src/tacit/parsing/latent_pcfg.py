"""Latent-variable grammars learnt from a treebank, as scikit-learn estimators."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.core.estimator_tags import TakesText
from tacit.core.model import Model
from tacit.core.progress import reporting
from tacit.core.threads import n_threads
from tacit.errors import (
    DataError,
    FileFormatError,
    NegativeProbabilityError,
    NotAvailableError,
    TooExpensiveError,
)
from tacit.parsing.data.grammar_input import prepared_trees, tree_list, words_and_tags
from tacit.parsing.data.parse_trees import ParseTree
from tacit.parsing.learn.fit import WAYS, GrammarSettings, fit_grammar
from tacit.parsing.model.grammar import LatentGrammar
from tacit.parsing.model_files import GRAMMAR_FILE

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import GrammarSymbols
    from tacit.parsing.query.grammar import Forest, Posterior
    from tacit.parsing.query.labelled_brackets import LabelledScore
    from tacit.parsing.query.max_brackets import Choices

NEGATIVE = ("floor", "nan", "raise")
_LOCK = threading.Lock()
FLOOR = 1e-3  # of the plain grammar's probability


class ScoredTree(NamedTuple):
    """A tree, and how many of its labelled spans (of two children or one word) are expected to be right."""

    tree: ParseTree
    n_right: float


class LatentPCFG(TakesText, Model):
    """A grammar of binary trees whose labels have hidden states, learnt from a treebank.

    Function tags and empty words are left out, chains of single brackets are one label, and of more than two
    children the first stands beside the rest. A sentence gets the tree that is expected to have most labelled
    spans right, among spans that the grammar of one state does not rule out.

    Parameters
    ----------
    n_states : int
        Hidden states of each label (with learn="spectral": the rank of its tensors). 1 is a plain PCFG.
    learn : {"auto", "spectral", "em"}
        "spectral": tensors from moments of what is below and around nodes (Cohen et al., 2013). "em": EM from
        `n_restarts` random starts. "auto": nodes are also clustered by the singular vectors of these moments,
        tables counted and polished by a few steps of EM; posteriors of spans are the mean of both, scores of
        trees those of the tables.
    min_count : int
        Words seen less often stand for all words that look like them.
    threshold : float
        Least share of a labelled span in all trees of the grammar of one state to be looked at.
    max_words : int
        Longer sentences are refused: the work grows with the third power.
    n_restarts : int
        Starts of learn="em"; the one of the largest likelihood is kept.
    max_iter : int, optional
        Steps of EM; unless given 20 of learn="em" and 3 of learn="auto".
    negative : {"floor", "nan", "raise"}
        What the logarithm of a tree becomes whose score (learn="spectral") is not positive: a thousandth of
        the plain grammar's probability, NaN, or an error.
    n_jobs : int or None
        Threads; the model does not depend on it.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    symbols_ : GrammarSymbols
        Labels, words and tags.
    grammars_ : tuple of LatentGrammar
        What was learnt; of several the posteriors of spans are averaged.
    coarse_ : LatentGrammar
        The same with one state.
    diagnostics_ : dict
        Sizes, likelihoods; after parsing "sentences", "non_positive" (sentences whose score is not) and
        "no_tree" (those that no tree of the grammar fits: they get a flat one).

    Examples
    --------
    >>> trees = ["(S (NP (D the) (N cat)) (VP (V sees) (NP (D a) (N dog))))"] * 3
    >>> model = LatentPCFG(n_states=1, min_count=1).fit(trees)
    >>> print(model.parse("a dog sees the cat".split()))
    (S (NP (D a) (N dog)) (VP (V sees) (NP (D the) (N cat))))
    """

    kind = "grammar"
    abilities = frozenset({"score", "parse"})

    symbols_: GrammarSymbols
    grammars_: tuple[LatentGrammar, ...]
    coarse_: LatentGrammar
    diagnostics_: dict[str, Any]
    _file = GRAMMAR_FILE

    def __init__(
        self,
        n_states: int = 16,
        learn: str = "auto",
        *,
        min_count: int = 3,
        threshold: float = 5e-5,
        max_words: int = 250,
        n_restarts: int = 1,
        max_iter: int | None = None,
        negative: str = "floor",
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_states = n_states
        self.learn = learn
        self.min_count = min_count
        self.threshold = threshold
        self.max_words = max_words
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.negative = negative
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from trees.

        Parameters
        ----------
        X : list of ParseTree, path, file object, or list of texts in brackets
            See `tacit.parsing.data.parse_trees.read_trees`.
        y : None
            Not used.

        Raises
        ------
        DataError
            There is no tree, or brackets are not balanced.
        """
        settings = self._settings()
        trees = prepared_trees(X)
        with reporting(self.progress) as report:
            found = fit_grammar(trees, settings, report)
        self.symbols_, self.diagnostics_ = found.symbols, found.diagnostics
        self.grammars_, self.coarse_ = found.parts, found.coarse
        return self

    def _settings(self) -> GrammarSettings:
        check_choice("learn", self.learn, WAYS)
        check_choice("negative", self.negative, NEGATIVE)
        for name in ("n_states", "min_count", "n_restarts", "max_words"):
            check_count(name, getattr(self, name))
        check_count("max_iter", self.max_iter, none_is="the usual number of steps")
        check_number("threshold", self.threshold)
        return GrammarSettings(
            self.n_states,
            self.learn,
            self.min_count,
            self.n_restarts,
            self.max_iter,
            seed_from(self.random_state),
            self.n_jobs,
        )

    # -- trees of sentences -------------------------------------------------------------------------

    def parse(self, sentence: Any) -> ParseTree:
        """The tree of a sentence.

        Parameters
        ----------
        sentence : list of words, of (word, tag) pairs, or text
            A text is cut at blanks. Tags are kept as given; a tag that training had not, or None, says
            nothing, and the word is tagged like one without.

        Raises
        ------
        DataError
            There is no word.
        TooExpensiveError
            There are more than `max_words`.
        """
        return self._parsed(words_and_tags(sentence))

    def predict(self, X: Iterable[Any]) -> list[ParseTree]:
        """The tree of each of some sentences, see `parse`."""
        pairs = [words_and_tags(sentence) for sentence in X]
        with ThreadPoolExecutor(n_threads(self.n_jobs) or 1) as pool:
            return list(pool.map(self._parsed, pairs))

    def n_best(self, sentence: Any, n: int = 10) -> list[ScoredTree]:
        """The best trees of a sentence, the best first, see `parse`."""
        from tacit.parsing.query.max_brackets import n_best_choices

        check_count("n", n)
        words, tags = words_and_tags(sentence)
        forest, found = self._forest(words, tags)
        if forest is None or found is None:
            return [ScoredTree(self._flat(words, tags), 0.0)]
        trees: dict[ParseTree, float] = {}
        for value, root, chosen in n_best_choices(forest, found, n):
            trees.setdefault(self._tree(forest, root, chosen, words, tags), value)
        return [ScoredTree(*each) for each in trees.items()]

    def _parsed(self, sentence: tuple[list[str], list[str | None]]) -> ParseTree:
        from tacit.parsing.query.max_brackets import best_choices

        words, tags = sentence
        forest, found = self._forest(words, tags)
        if forest is None or found is None:
            return self._flat(words, tags)
        _, root, chosen = best_choices(forest, found)
        return self._tree(forest, root, chosen, words, tags)

    def _forest(
        self, words: list[str], tags: list[str | None]
    ) -> tuple[Forest | None, Posterior | None]:
        from tacit.parsing.query.grammar import mean_posterior, posterior, sentence_forest

        self._check_fitted()
        if not words:
            raise DataError("a sentence without words has no tree; leave it out")
        if len(words) > self.max_words:
            steps = len(words) ** 3 / 6 * len(self.coarse_.rules)
            raise TooExpensiveError(
                f"a sentence of {len(words)} words takes about {steps:.1e} steps; cut it, or fit with "
                f"max_words={len(words)}"
            )
        numbers = {tag: number for number, tag in enumerate(self.symbols_.tags)}
        codes = [self.symbols_.word_code(word) for word in words]
        known = [-1 if tag is None else numbers.get(tag, -1) for tag in tags]
        self._note("sentences")
        forest = sentence_forest(self.coarse_, codes, known, self.threshold)
        if forest is None:
            self._note("no_tree")
            return None, None
        parts = [posterior(grammar, forest, codes, known) for grammar in self.grammars_]
        if any(part.sign <= 0 for part in parts):
            self._note("non_positive")
        found = mean_posterior(parts)
        if found is None:
            found = posterior(self.coarse_, forest, codes, known)
        return forest, found

    def _note(self, what: str) -> None:
        with _LOCK:  # several threads may parse
            self.diagnostics_[what] = self.diagnostics_.get(what, 0) + 1

    def _tree(
        self,
        forest: Forest,
        root: int,
        chosen: Choices,
        words: list[str],
        tags: Sequence[str | None],
    ) -> ParseTree:
        from tacit.parsing.data.treebank import whole_tree

        def children(item: int) -> tuple[int, int] | None:
            edge = chosen.get(item)
            return None if edge is None else (int(forest.left[edge]), int(forest.right[edge]))

        labels = [self.symbols_.labels[label] for label in forest.label]
        return whole_tree(root, labels, children, words, tags)

    def _flat(self, words: list[str], tags: Sequence[str | None]) -> ParseTree:
        """All words side by side, those without a tag under their likeliest one."""
        lexicon, leaves = self.coarse_.lexicon, []
        for word, tag in zip(words, tags, strict=True):
            likeliest = self.symbols_.tags[lexicon.likeliest_tag(self.symbols_.word_code(word))]
            leaves.append(ParseTree(likeliest if tag is None else tag, (), word))
        return ParseTree("TOP", tuple(leaves))

    # -- given trees --------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The natural log-probability of each tree with its words; -inf where it has a rule not seen before.

        Parameters
        ----------
        X : trees, as `fit` takes them

        Raises
        ------
        DataError
            A tree holds nothing but empty words.
        NegativeProbabilityError
            A score is not positive, and negative="raise".
        """
        from tacit.parsing.data.treebank import coded_trees
        from tacit.parsing.query.grammar import tree_scores

        self._check_fitted()
        trees = tree_list(X)
        spoken = prepared_trees(trees)
        if len(spoken) < len(trees):
            raise DataError("a tree holds nothing but empty words and has no score; leave it out")
        coded = coded_trees(spoken, self.symbols_)
        signs, logs = tree_scores(self.grammars_[0], coded)
        plain = tree_scores(self.coarse_, coded)[1]
        bad = (signs <= 0) & (plain > -np.inf)
        if bad.any():
            self.diagnostics_["non_positive_trees"] = int(bad.sum())
            if self.negative == "raise":
                raise NegativeProbabilityError(
                    f"{bad.sum()} of {len(bad)} trees have a score that is not positive; pass "
                    f'negative="floor" or learn="auto"'
                )
        floor = np.log(FLOOR) + plain if self.negative == "floor" else np.full(len(bad), np.nan)
        return np.where(bad, floor, np.where(plain > -np.inf, logs, -np.inf))

    def log_prob(self, tree: Any) -> float:
        """The natural log-probability of one tree with its words, see `score_samples`."""
        return float(self.score_samples([tree])[0])

    def evaluate(
        self, X: Any, *, given_tags: bool = True, convention: str = "all"
    ) -> LabelledScore:
        """How well the trees of the words of some trees agree with these.

        Parameters
        ----------
        X : trees, as `fit` takes them
        given_tags : bool
            Whether the tags of the words are told.
        convention : {"all", "evalb"}
            See `tacit.parsing.query.labelled_brackets.labelled_score`.
        """
        from tacit.parsing.query.labelled_brackets import labelled_score

        trees = prepared_trees(X)
        sentences = [
            [(word, tag if given_tags else None) for word, tag in tree.leaves()] for tree in trees
        ]
        return labelled_score(trees, self.predict(sentences), convention=convention)

    def score(self, X: Any, y: Any = None) -> float:
        """The labelled F1 of trees found for the words and tags of some trees, from 0 to 1."""
        return self.evaluate(X).f1

    # -- within -------------------------------------------------------------------------------------

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        rules, lexicon = self.coarse_.rules, self.coarse_.lexicon
        if not np.array_equal(lexicon.tag_of_label, self.symbols_.tag_of_label):
            raise FileFormatError("the tags of the lexicon are not those of the labels")
        parts = (LatentGrammar(rules, lexicon, **part) for part in values["grammars_"])
        self.grammars_ = tuple(parts) or (self.coarse_,)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called, or the model came from a file."""
        return hasattr(self, "grammars_")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotAvailableError(
                f"this {type(self).__name__} was not fitted yet; call fit first"
            )
