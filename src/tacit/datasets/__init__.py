"""Real data by name: loaders only; nothing is shipped.

The loaders look in the folder that the environment variable ``TACIT_DATA`` names. Where a file is not there,
the error says which one, in what form, and where it comes from. `digits_table` and `breast_cancer_table` need
no folder: scikit-learn brings the data along.

Tables come as a dict of columns, sequences as a list of them; every estimator takes them as they are.
`load_corpus` gives the words of a text as numbers; language models take the path of a text, too.
"""

from typing import TYPE_CHECKING

__all__ = [
    "DENSITY_NAMES",
    "NUMBERS_NAMES",
    "Density",
    "Pautomac",
    "breast_cancer_table",
    "digits_table",
    "load_coil2000",
    "load_communities",
    "load_corpus",
    "load_density",
    "load_house_votes",
    "load_multi30k",
    "load_news20_w100",
    "load_numbers",
    "load_pautomac",
    "load_polya",
    "load_postags",
    "load_sp500",
    "load_splice",
    "load_tagged_text",
    "load_topic_labels",
    "load_topics",
    "load_treebank",
    "load_word_vectors",
    "pautomac_numbers",
]

_HOMES = {
    "DENSITY_NAMES": "density",
    "NUMBERS_NAMES": "numbers",
    "Density": "density",
    "Pautomac": "sequences",
    "breast_cancer_table": "demo",
    "digits_table": "demo",
    "load_coil2000": "tables",
    "load_communities": "communities",
    "load_corpus": "texts",
    "load_density": "density",
    "load_house_votes": "tables",
    "load_multi30k": "translations",
    "load_news20_w100": "tables",
    "load_numbers": "numbers",
    "load_pautomac": "sequences",
    "load_polya": "tables",
    "load_postags": "sequences",
    "load_sp500": "stocks",
    "load_splice": "tables",
    "load_tagged_text": "treebanks",
    "load_topic_labels": "topics",
    "load_topics": "topics",
    "load_treebank": "treebanks",
    "load_word_vectors": "treebanks",
    "pautomac_numbers": "sequences",
}

if TYPE_CHECKING:
    from tacit.datasets.communities import load_communities
    from tacit.datasets.demo import breast_cancer_table, digits_table
    from tacit.datasets.density import DENSITY_NAMES, Density, load_density
    from tacit.datasets.numbers import NUMBERS_NAMES, load_numbers
    from tacit.datasets.sequences import Pautomac, load_pautomac, load_postags, pautomac_numbers
    from tacit.datasets.stocks import load_sp500
    from tacit.datasets.tables import (
        load_coil2000,
        load_house_votes,
        load_news20_w100,
        load_polya,
        load_splice,
    )
    from tacit.datasets.texts import load_corpus
    from tacit.datasets.topics import load_topic_labels, load_topics
    from tacit.datasets.translations import load_multi30k
    from tacit.datasets.treebanks import load_tagged_text, load_treebank, load_word_vectors
else:
    # Hidden from type checkers, which would otherwise believe that any name exists.

    def __getattr__(name: str) -> object:
        """Import a loader when it is first asked for (PEP 562)."""
        import importlib

        if name not in _HOMES:
            raise AttributeError(f"tacit.datasets has no {name!r}; it has {__all__}")
        return getattr(importlib.import_module(f"tacit.datasets.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
