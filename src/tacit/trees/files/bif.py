"""BIF, the interchange format of Bayesian networks.

Written files can be read by other programs. Names and categories in BIF are words of letters, digits and
underscores; where ours are different, a similar word is written, and the exact ones are noted in the
properties ``tacit_name`` and ``tacit_categories``, which other programs ignore or preserve.
Hidden variables have ``property latent = yes``.
"""

from tacit.trees.files.bif_network import BifNetwork, BifTable, BifVariable
from tacit.trees.files.bif_reading import parse_bif, read_bif
from tacit.trees.files.bif_trees import BifTree, bif_from_tables, tree_from_bif, write_bif
from tacit.trees.files.bif_writing import bif_text, write_bif_network

__all__ = [
    "BifNetwork",
    "BifTable",
    "BifTree",
    "BifVariable",
    "bif_from_tables",
    "bif_text",
    "parse_bif",
    "read_bif",
    "tree_from_bif",
    "write_bif",
    "write_bif_network",
]
