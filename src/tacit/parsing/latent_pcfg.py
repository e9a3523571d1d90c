"""Latent-variable grammars learnt from a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.core.estimator_tags import TakesText
from tacit.core.limits import shown
from tacit.core.model import Model, Scored, checked_summary
from tacit.core.threads import n_threads
from tacit.errors import (
    ArgumentError,
    DataError,
    FileFormatError,
    NegativeProbabilityError,
    TooExpensiveError,
)
from tacit.parsing.data.grammar_input import (
    prepared_trees,
    sentence_list,
    tree_list,
    words_and_tags,
)
from tacit.parsing.data.parse_trees import ParseTree
from tacit.parsing.data.treebank import GrammarSymbols, coded_trees
from tacit.parsing.learn.fit import LEARNERS, GrammarSettings, fit_grammar
from tacit.parsing.model.grammar import LatentGrammar
from tacit.parsing.model_files import GRAMMAR_FILE
from tacit.parsing.moments.given_features import check_functions
from tacit.parsing.query.grammar import tree_scores
from tacit.parsing.query.sentence_trees import ScoredTree, SentenceMarginals, SentenceParser
from tacit.parsing.query.summary import grammar_summary

if TYPE_CHECKING:
    from tacit.core.summary import Summary

NEGATIVE = ("floor", "nan", "raise")
FLOOR = 1e-3  # of the plain grammar's probability


class LatentPCFG(TakesText, Scored, Model):
    """A grammar of binary trees whose labels have hidden states, learnt from a treebank.

    Function tags and empty words are left out, chains of unary brackets become one label, and trees are made
    binary to the right. A sentence gets the tree with the largest expected number of right labelled spans,
    among the spans that the grammar of one state does not rule out.

    Parameters
    ----------
    n_states : int
        Hidden states of each label (with learn="spectral": the rank of its tensors). 1 is a plain PCFG.
    learn : {"auto", "spectral", "em"}
        "spectral": tensors from moments of inside and outside features of nodes (Cohen et al., 2013). "em":
        EM from `n_restarts` random starts. "auto": both tensors and tables; EM of the tables starts from
        clusters of the nodes by their singular vectors and takes a few steps. Posteriors of spans are the
        mean of both, scores of trees those of the tables.
    features : pair of callables, optional
        Of learn="spectral" and "auto": functions phi of an inside tree and psi of an outside tree (Cohen et
        al., 2013), in place of Tacit's own. The first gets the binary tree below a node, a `ParseTree`; the
        second all around it, a `tacit.parsing.data.outside_trees.OutsideTree`. Each returns a list of
        features (any hashables), a dict of feature to number, or an array of numbers. Features of different
        labels are different, and are scaled by their rarity. Files hold the fitted grammar without them.
    min_count : int
        Rarer words are replaced by their class: letters, figures, hyphen, ending.
    threshold : float
        Labelled spans of a smaller posterior probability in the grammar of one state are left out.
    max_words : int
        Longer sentences are refused: the work grows with the third power.
    n_restarts : int
        Starts of learn="em"; the one of the largest likelihood is kept.
    max_iter : int, optional
        Steps of EM; by default 20 for learn="em" and 3 for learn="auto".
    negative : {"floor", "nan", "raise"}
        Log-probability of a tree whose score (learn="spectral") is not positive: that of a thousandth of the
        plain grammar's probability, NaN, or an error.
    n_jobs : int or None
        Threads; the model does not depend on it.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (fraction done, text).
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    symbols_ : GrammarSymbols
        Labels, words and tags.
    grammars_ : tuple of LatentGrammar
        The learnt grammars: posteriors of spans are averaged; the first gives the scores of trees.
    coarse_ : LatentGrammar
        The plain grammar, of one state.
    diagnostics_ : dict
        Sizes and log-likelihoods.

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
        features: Any = None,
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
        self.features = features
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
        with self._working() as report:
            fitted = fit_grammar(trees, settings, report)
        self.symbols_, self.diagnostics_ = fitted.symbols, fitted.diagnostics
        self.grammars_, self.coarse_ = fitted.grammars, fitted.coarse
        return self

    def _settings(self) -> GrammarSettings:
        check_choice("learn", self.learn, LEARNERS)
        check_choice("negative", self.negative, NEGATIVE)
        for name in ("n_states", "min_count", "n_restarts", "max_words"):
            check_count(name, getattr(self, name))
        check_count("max_iter", self.max_iter, none_is="the usual number of steps")
        self._check_threshold()
        check_functions(self.features)
        if self.features is not None and self.learn == "em":
            raise ArgumentError(
                'features with learn="em", which uses none; give learn="spectral" or "auto"'
            )
        return GrammarSettings(
            self.n_states,
            self.learn,
            self.min_count,
            self.n_restarts,
            self.max_iter,
            seed_from(self.random_state),
            self.n_jobs,
            self.features,
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
        return self._parsed(words_and_tags(sentence))[0]

    def predict(self, X: Iterable[Any], *, return_repairs: bool = False) -> Any:
        """The tree of each of several sentences, in `n_jobs` threads; see `parse`.

        Parameters
        ----------
        X : iterable of sentences
        return_repairs : bool
            Also return numbers of sentences: "no_tree", those that no tree of the grammar fits, so that all
            words stand side by side; "non_positive", those whose score by a learnt grammar is not positive.

        Returns
        -------
        list of ParseTree, or (list of ParseTree, dict of str to int)
        """
        sentences = sentence_list(X)
        with ThreadPoolExecutor(n_threads(self.n_jobs) or 1) as pool:
            parsed = list(pool.map(self._parsed, sentences))
        trees = [tree for tree, _ in parsed]
        repairs = Counter({"no_tree": 0, "non_positive": 0})
        for _, repaired in parsed:
            repairs.update(repaired)
        return (trees, dict(repairs)) if return_repairs else trees

    def n_best(self, sentence: Any, n_trees: int = 10) -> list[ScoredTree]:
        """The best trees of a sentence, the best first; see `parse`."""
        check_count("n_trees", n_trees)
        words, tags = words_and_tags(sentence)
        return self._parser(words).n_best(words, tags, n_trees)

    def span_marginals(self, sentence: Any) -> SentenceMarginals:
        """mu(a, i, j): the sum of the probabilities of all trees that have a label over some words.

        All trees of the grammar count, whatever `threshold` is. With learn="auto" probabilities are those of
        the tables, as in `score_samples`.

        Parameters
        ----------
        sentence : list of words, of (word, tag) pairs, or text
            As for `parse`. Where tags are given, only trees with these tags count.

        Returns
        -------
        SentenceMarginals
            ``marginals`` and ``posteriors`` by (label, first word, word after the last), and the
            ``probability`` of the sentence. With learn="spectral" they may be negative; nothing is repaired.

        Examples
        --------
        >>> trees = ["(S (N a) (V b))", "(S (N a) (V c))"]
        >>> model = LatentPCFG(n_states=1, min_count=1).fit(trees)
        >>> marginals = model.span_marginals("a c")
        >>> round(marginals.marginals["S", 0, 2], 2)  # not 0.5: unseen words have some probability
        0.38
        >>> round(marginals.posteriors["S", 0, 2], 2)
        1.0
        """
        words, tags = words_and_tags(sentence)
        return self._parser(words, threshold=0.0).marginals(words, tags)

    def score_sentences(self, X: Iterable[Any], *, return_repairs: bool = False) -> Any:
        """The natural log-probability of each sentence: that of all its trees together.

        Parameters
        ----------
        X : iterable of sentences
            As `predict` takes them. Rare words are counted as their class.
        return_repairs : bool
            Also return {"non_positive": sentences whose score is not positive}; see `negative`.

        Returns
        -------
        (sentence,) array, or (array, dict of str to int)
            -inf where no tree of the grammar fits.

        Raises
        ------
        NegativeProbabilityError
            A score is not positive, and negative="raise".
        """
        signs, logs, plain = [], [], []
        for words, tags in sentence_list(X):
            parser = self._parser(words, threshold=0.0)
            score = parser.marginals(words, tags)
            signs.append(score.sign)
            logs.append(score.log_probability)
            plain.append(
                score.log_probability
                if score.sign > 0
                else parser.marginals(words, tags, self.coarse_).log_probability
            )
        return self._log_scores(signs, logs, plain, "sentences", return_repairs=return_repairs)

    def _parsed(
        self, sentence: tuple[list[str], list[str | None]]
    ) -> tuple[ParseTree, dict[str, int]]:
        return self._parser(sentence[0]).best(*sentence)

    def _parser(self, words: list[str], threshold: float | None = None) -> SentenceParser:
        """The fitted grammars, for a sentence that is not too long."""
        self._check_fitted()
        if not words:
            raise DataError("a sentence without words has no tree; leave it out")
        if len(words) > self.max_words:
            steps = len(words) ** 3 / 6 * len(self.coarse_.rules)
            raise TooExpensiveError(
                f"a sentence of {len(words)} words takes about {steps:.1e} steps; cut it, or fit with "
                f"max_words={len(words)}"
            )
        if threshold is None:
            self._check_threshold()
            threshold = self.threshold
        return SentenceParser(self.symbols_, self.coarse_, self.grammars_, threshold)

    def _check_threshold(self) -> None:
        check_number("threshold", self.threshold)
        if self.threshold >= 1:
            raise ArgumentError(
                f"threshold={shown(self.threshold)} leaves no tree; give a probability below 1"
            )

    # -- given trees --------------------------------------------------------------------------------

    def score_samples(self, X: Any, *, return_repairs: bool = False) -> Any:
        """The natural log-probability of each tree with its words; -inf where it has a rule not seen before.

        Parameters
        ----------
        X : trees, as `fit` takes them
        return_repairs : bool
            Also return {"non_positive": trees whose score is not positive}; see `negative`.

        Returns
        -------
        (tree,) array, or (array, dict of str to int)

        Raises
        ------
        DataError
            A tree holds nothing but empty words.
        NegativeProbabilityError
            A score is not positive, and negative="raise".
        """
        self._check_fitted()
        trees = tree_list(X)
        spoken = prepared_trees(trees)
        if len(spoken) < len(trees):
            raise DataError("a tree holds nothing but empty words and has no score; leave it out")
        coded = coded_trees(spoken, self.symbols_)
        signs, logs = tree_scores(self.grammars_[0], coded)
        plain = tree_scores(self.coarse_, coded)[1]
        return self._log_scores(signs, logs, plain, "trees", return_repairs=return_repairs)

    def _log_scores(
        self, signs: Any, logs: Any, plain: Any, noun: str, *, return_repairs: bool
    ) -> Any:
        """Log-probabilities, those of scores that are not positive as `negative` says."""
        signs, logs, plain = (
            np.asarray(values, dtype=np.float64) for values in (signs, logs, plain)
        )
        bad = (signs <= 0) & (plain > -np.inf)
        if bad.any() and self.negative == "raise":
            raise NegativeProbabilityError(
                f"{bad.sum()} of {len(bad)} {noun} have a score that is not positive; pass "
                f'negative="floor" or learn="auto"'
            )
        floor = np.log(FLOOR) + plain if self.negative == "floor" else np.full(len(bad), np.nan)
        scores: NDArray[np.float64] = np.where(bad, floor, np.where(plain > -np.inf, logs, -np.inf))
        return (scores, {"non_positive": int(bad.sum())}) if return_repairs else scores

    @checked_summary
    def summary(self) -> Summary:
        """Labels, states, the most frequent rules, and the likeliest rules and words of states, on a page."""
        return grammar_summary(self.symbols_, self.coarse_, self.grammars_, self.diagnostics_)

    # -- files --------------------------------------------------------------------------------------

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        rules, lexicon = self.coarse_.rules, self.coarse_.lexicon
        if not np.array_equal(lexicon.tag_of_label, self.symbols_.tag_of_label):
            raise FileFormatError("the tags of the lexicon are not those of the labels")
        parts = (LatentGrammar(rules, lexicon, **part) for part in values["grammars_"])
        self.grammars_ = tuple(parts) or (self.coarse_,)
