"""Compiled loops that several families share, and what must be checked before any compiled loop.

A compiled loop reads and writes memory without looking at bounds. So none is given a number from outside
before something has compared it with the size that it indexes, in a form that cannot overflow: ``length <=
size - start``, never ``start + length <= size``. What comes from outside, and which check stands before which
loops:

Model files
    `core.files.container` compares the digest, types and shapes with the bytes of the file,
    `core.files.fields` every array with its declared axes and `core.files.ranges` (``below``, ``offsets``,
    ``places``, ``parts_within``, ``probabilities``, ``covariances``). Then: language
    backoff, ensemble, sums; messages patterns, expected_counts; numbers gaussian; sequences automata,
    forward_backward, hmm, viterbi, semi_markov, segment_paths, gaussian_densities; parsing charts,
    inside_outside, chunking, constituent_context, projective; topics topics.
Counts folders
    `language.files.counts`: a digest of each file; words, contexts and suffixes below their sizes, starts
    that rise. Then: language ngrams, smoothing, exchange, low_rank.
ARPA files
    `language.files.arpa`: announced sizes against the bytes of the file, before arrays of them are allocated.
    language arpa takes bytes and looks at their end before each read; it finds contexts by their words, and
    an n-gram without its context is an error.
Text
    language tokens takes bytes, with the end of its buffers; words become numbers by the vocabulary alone.
Word counts
    `topics.data.document_files`: announced sizes by `core.limits`; topics documents compares each document
    and word with these. `topics.data.read_documents` looks at the places of sparse matrices, which SciPy does
    not. Then: topics document_sums, topics.
Tables of users
    `core.input.values` compares codes with the levels that they stand for; `core.input.encode` and
    `core.input.integer_matrices` (by core codes) make codes from -1 to one less than the number of
    categories; `core.input.sample_weight` checks weights. Then: trees counting, bits, classes, class_em,
    class_start, class_prior, class_exchange, many_states, features; messages patterns, expected_counts; core
    kmeans.
Numbers of users
    `core.input.number_matrix` and `sequences.data.number_sequences`: finite or missing. They index nothing.
    Then: core kernel_features, blurred_bins; numbers gaussian; sequences gaussian_em, gaussian_expectations,
    gaussian_densities.
Sequences of users
    `sequences.data.read_sequences`: lengths are not negative, and their exact sum is the number of symbols;
    symbols are codes of the alphabet. Then: sequences hmm, ngrams, prefixes, automata, gibbs, viterbi,
    forward_backward, semi_markov, segment_paths.
Trees and graphs of users
    `trees.structure.topology` and `junction.structure.graphs` check names, leaves and cycles; loops get the
    places in lists that they made. Then: trees views, neighbour_joining, grouping, features.
Treebanks, tags and sentences
    `parsing.data`: words and tags become numbers of the model's own lists, spans lie within their sentence.
    Then: parsing grammar_em, chunking, constituent_context, projective, charts.
States of language models
    `language.language_queries` (by ``_checked_state``) and `language.kenlm` compare a state that a user gives
    with the number of contexts. Then: language backoff, ensemble.

Loops without indices from anywhere, on matrices of one shape: core acceleration, jacobi. Word alignment and
decoding (reproduce alignment, decoding) are given what `language.data` made.

``make bounds`` runs the tests with compiled loops that look at every bound, and ``make fuzz`` gives damaged
and edited files of every kind to their readers.
"""
