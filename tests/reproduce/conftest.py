"""Data that experiments look for, made up."""

import numpy as np
import pytest

from tacit.reproduce.language import texts, translations
from tacit.reproduce.numbers import towns
from tacit.reproduce.parsing import brackets, grammars
from tacit.reproduce.sequences import tags
from tacit.reproduce.trees import splice_sites, stocks


@pytest.fixture(scope="session")
def folder_of_stocks(tmp_path_factory):
    """Prices of 62 stocks on 300 days, which rise and fall with a market and with groups."""
    rng = np.random.default_rng(0)
    market, groups = rng.normal(size=(300, 1)), rng.normal(size=(300, 6))
    noise = rng.normal(size=(300, 62))
    steps = 0.7 * market + 0.7 * np.repeat(groups, 11, axis=1)[:, :62] + noise
    prices = np.exp(0.01 * np.cumsum(steps, axis=0))
    days = np.datetime64("2001-01-01") + np.arange(300)
    lines = [",".join(["date", *(f"S{place}" for place in range(62))])]
    lines += [
        ",".join([str(day), *(f"{price:.6f}" for price in row)])
        for day, row in zip(days, prices, strict=True)
    ]
    folder = tmp_path_factory.mktemp("data")
    path = folder / "sp500_daily" / "adjusted_close_1999_2021.csv"
    path.parent.mkdir()
    path.write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def made_up_stocks(folder_of_stocks, monkeypatch):
    """The folder that loaders look in; what experiments remember of another is forgotten."""
    caches = (stocks.stock_moves, stocks._split, stocks.fit, stocks._warm_up)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_stocks))
    yield folder_of_stocks
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="session")
def folder_of_sites(folder_of_stocks):
    """Sequences around signals and splice junctions, whose classes differ in how often letters occur."""
    rng = np.random.default_rng(1)
    folder = folder_of_stocks  # loaders look in one folder

    def letters(shares, length):
        return "".join(rng.choice(list("ACGT"), size=length, p=shares))

    lines = ["label,sequence"]
    for number in range(240):
        shares = [0.4, 0.1, 0.1, 0.4] if number % 2 else [0.2, 0.3, 0.3, 0.2]
        lines.append(f"{number % 2},{letters(shares, 100)}AATAAA{letters(shares, 100)}")
    path = folder / "polya_omni_aataaa" / "polya_omni_AATAAA_10300.csv"
    path.parent.mkdir()
    path.write_text("\n".join(lines) + "\n")
    kinds = {"EI": [0.4, 0.2, 0.2, 0.2], "IE": [0.2, 0.2, 0.2, 0.4], "N": [0.25] * 4}
    lines = [
        f"{kind}, S{number}, {letters(shares, 60)}"
        for number in range(100)
        for kind, shares in kinds.items()
    ]
    lines[5] = lines[5][:-2] + "NR"
    lines += lines[:30]  # sequences that occur twice
    path = folder / "splice" / "splice.data"
    path.parent.mkdir()
    path.write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def made_up_sites(folder_of_sites, monkeypatch):
    """The folder that loaders look in; what experiments remember of another is forgotten."""
    caches = (splice_sites._dna_sequences, splice_sites.split_of, splice_sites._warm_up)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_sites))
    yield folder_of_sites
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="session")
def folder_of_towns(folder_of_stocks):
    """Attributes of 300 towns in five groups, some of them skewed; crime goes with one group."""
    from tacit.datasets.communities import _ATTRIBUTES, _TOWN_COLUMNS

    rng = np.random.default_rng(2)
    groups = rng.normal(size=(300, 5))
    numbers = np.repeat(groups, 25, axis=1)[:, : len(_ATTRIBUTES)]
    numbers = numbers + 0.6 * rng.normal(size=numbers.shape)
    numbers[:, ::3] = np.exp(numbers[:, ::3])
    crime = np.exp(groups[:, 1] + 0.5 * rng.normal(size=300))
    rows = np.column_stack([numbers, crime])
    rows = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    lines = [
        ",".join([*(["1"] * len(_TOWN_COLUMNS)), *(f"{cell:.2f}" for cell in row)]) for row in rows
    ]
    cells = lines[7].split(",")
    cells[len(_TOWN_COLUMNS) + 3] = "?"
    lines[7] = ",".join(cells)
    path = folder_of_stocks / "communities_crime" / "communities.data"
    path.parent.mkdir()
    path.write_text("\n".join(lines) + "\n")
    return folder_of_stocks


@pytest.fixture
def made_up_towns(folder_of_towns, monkeypatch):
    """The folder that loaders look in; what experiments remember of another is forgotten."""
    caches = (towns.towns, towns.split_of, towns._kernel_tree)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_towns))
    yield folder_of_towns
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="session")
def folder_of_tags(folder_of_stocks):
    """Sentences of five tags whose next one depends on the two before it."""
    rng = np.random.default_rng(3)
    moves = rng.dirichlet(np.full(6, 0.3), size=(6, 6))
    moves[:, :, 5] = 0.1  # the end
    moves /= moves.sum(axis=2, keepdims=True)
    moves[5, 5, 5] = 0.0

    def sentence():
        before, actual = (5, 5), []
        while len(actual) < 40:
            chances = moves[before]
            tag = int(rng.choice(6, p=chances / chances.sum()))
            if tag == 5:
                break
            actual.append("ABCDE"[tag])
            before = before[1], tag
        return " ".join(actual or ["A"])

    folder = folder_of_stocks / "postags"
    folder.mkdir()
    for part, n in (("train", 150), ("dev", 40), ("test", 40)):
        text = "\n".join(sentence() for _ in range(n)) + "\n"
        (folder / f"en_ewt.upos.{part}.txt").write_text(text)
    return folder_of_stocks


@pytest.fixture
def made_up_tags(folder_of_tags, monkeypatch):
    """The folder that loaders look in; what experiments remember of another is forgotten."""
    caches = (tags.tags_of, tags._warm_up)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_tags))
    yield folder_of_tags
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="session")
def folder_of_texts(folder_of_stocks):
    """Four corpora of forty words in groups that follow each other; some lines are blank."""
    rng = np.random.default_rng(4)
    moves = rng.dirichlet(np.full(5, 0.2), size=5)  # of groups of eight words

    def line():
        group, actual = int(rng.integers(5)), []
        while rng.random() > 0.15:
            actual.append(f"w{group}{int(8 * rng.random() ** 2)}")
            group = int(rng.choice(5, p=moves[group]))
        return " ".join(actual)

    for corpus in texts.CORPORA:
        folder = folder_of_stocks / "lm" / corpus
        folder.mkdir(parents=True)
        for part, n in (("train", 160), ("valid", 40), ("test", 40)):
            lines = [line() for _ in range(n)]
            rare = [f"rare{number}" for number in range(4)] if part == "train" else []
            (folder / f"{part}.txt").write_text("\n".join([*lines, *rare, "<unk> w00"]) + "\n")
    return folder_of_stocks


@pytest.fixture
def made_up_texts(folder_of_texts, monkeypatch):
    """The folder that loaders look in; what experiments remember of another is forgotten."""
    caches = (texts.fit_and_score, texts.texts_of, texts._few_lines, texts._warm_up, texts._classes)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_texts))
    yield folder_of_texts
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="session")
def folder_of_translations(folder_of_stocks):
    """Sentences of thirty words; in translations neighbours change places, and a particle stands in front."""
    rng = np.random.default_rng(6)
    moves = rng.dirichlet(np.full(30, 0.1), size=30)
    folder = folder_of_stocks / "multi30k"
    folder.mkdir()
    for part, n in (("train", 200), ("val", 15), ("test_2016_flickr", 15)):
        english, others = [], {language: [] for language in translations.NAMES}
        for _ in range(n):
            words = [int(rng.integers(30))]
            while len(words) < 4 or (rng.random() > 0.2 and len(words) < 9):
                words.append(int(rng.choice(30, p=moves[words[-1]])))
            english.append(" ".join(f"e{word}" for word in words))
            for at in range(0, len(words) - 1, 2):
                words[at : at + 2] = words[at + 1], words[at]
            for language, lines in others.items():
                lines.append(" ".join(["da", *(f"{language}{word // 2}" for word in words)]))
        for language, lines in {"en": english, **others}.items():
            (folder / f"{part}.{language}").write_text("\n".join(lines) + "\n")
    return folder_of_stocks


@pytest.fixture
def made_up_translations(folder_of_translations, monkeypatch):
    """The folder that loaders look in; what experiments remember of another is forgotten."""
    caches = (
        translations.system_of,
        translations.rescored,
        translations.weights_of,
        translations.scored_lists,
        translations.sentences_of,
        translations._warm_up,
    )
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_translations))
    yield folder_of_translations
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="session")
def folder_of_treebanks(folder_of_stocks):
    """Trees, tagged text and word vectors of a small grammar, its words many times as many."""
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.toy import sample_trees

    rng = np.random.default_rng(5)

    def other_words(tree):
        if tree.word is not None:
            return ParseTree(tree.label, (), f"{tree.word}{rng.integers(5)}")
        return ParseTree(tree.label, tuple(map(other_words, tree.children)))

    def put(path, text):
        (folder_of_stocks / path).parent.mkdir(parents=True, exist_ok=True)
        (folder_of_stocks / path).write_text(text)

    words = set()
    for number, name in enumerate(brackets.TREEBANKS):
        trees = [other_words(tree) for tree in sample_trees(80, random_state=number)]
        put(f"treebanks/{name}/{name}.mrg", "".join(f"{tree}\n" for tree in trees))
        words |= {word for tree in trees for word, _ in tree.leaves()}
    for name in ("conll2000", "brown"):
        trees = [other_words(tree) for tree in sample_trees(20, random_state=9)]
        lines = [" ".join(f"{w}|||{t}" for w, t in tree.leaves()) for tree in trees]
        put(f"tagged_text/{name}_universal.txt", "\n".join(lines) + "\n")
    words = sorted(words)
    for language in ("en", "es"):
        bits = {word: format(rng.integers(8), "03b") for word in words}
        lines = "".join(f"{word}\t{path}\n" for word, path in bits.items())
        put(f"embeddings/brown_clusters_{language}.tsv", lines)
    for name, size in (("glove100_en", 10), ("cca50_en", 8)):
        rows = rng.normal(size=(len(words), size)).astype(np.float32)
        np.savez(folder_of_stocks / "embeddings" / f"{name}.npz", words=np.array(words), vecs=rows)
    for name in set(grammars.TREEBANKS) - set(brackets.TREEBANKS):
        trees = "".join(f"{tree}\n" for tree in sample_trees(80, random_state=7))
        put(f"treebanks/{name}/{name}.mrg", trees)
    return folder_of_stocks


@pytest.fixture
def made_up_treebanks(folder_of_treebanks, monkeypatch):
    """The folder that loaders look in; what experiments remember of another is forgotten."""
    caches = (
        brackets.bank_of,
        brackets.clusters_of,
        brackets._texts,
        brackets._vectors,
        brackets._contexts,
        brackets._by_metric,
        brackets.chosen_parameters,
        grammars.trees_of,
        grammars.fit,
        grammars.parsed,
    )
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_treebanks))
    yield folder_of_treebanks
    for cache in caches:
        cache.cache_clear()
