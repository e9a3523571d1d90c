"""Tables of categories (genes, votes, insurances, words) and of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.datasets.folder import DataFile
from tacit.errors import ArgumentError

Columns = dict[str, NDArray[Any]]

_VOTES = (
    "handicapped_infants",
    "water_project",
    "budget_resolution",
    "physician_fee_freeze",
    "el_salvador_aid",
    "religious_groups_in_schools",
    "anti_satellite_test_ban",
    "aid_to_contras",
    "mx_missile",
    "immigration",
    "synfuels_cutback",
    "education_spending",
    "superfund_right_to_sue",
    "crime",
    "duty_free_exports",
    "south_africa_act",
)

# As in the documentation of the challenge: M... describe the post code area (of the customer), P... the
# contributions to a kind of policy, A... the number of such policies.
_COIL = (
    *("MOSTYPE", "MAANTHUI", "MGEMOMV", "MGEMLEEF", "MOSHOOFD", "MGODRK", "MGODPR", "MGODOV"),
    *("MGODGE", "MRELGE", "MRELSA", "MRELOV", "MFALLEEN", "MFGEKIND", "MFWEKIND", "MOPLHOOG"),
    *("MOPLMIDD", "MOPLLAAG", "MBERHOOG", "MBERZELF", "MBERBOER", "MBERMIDD", "MBERARBG"),
    *("MBERARBO", "MSKA", "MSKB1", "MSKB2", "MSKC", "MSKD", "MHHUUR", "MHKOOP", "MAUT1", "MAUT2"),
    *("MAUT0", "MZFONDS", "MZPART", "MINKM30", "MINK3045", "MINK4575", "MINK7512", "MINK123M"),
    *("MINKGEM", "MKOOPKLA", "PWAPART", "PWABEDR", "PWALAND", "PPERSAUT", "PBESAUT", "PMOTSCO"),
    *("PVRAAUT", "PAANHANG", "PTRACTOR", "PWERKT", "PBROM", "PLEVEN", "PPERSONG", "PGEZONG"),
    *("PWAOREG", "PBRAND", "PZEILPL", "PPLEZIER", "PFIETS", "PINBOED", "PBYSTAND", "AWAPART"),
    *("AWABEDR", "AWALAND", "APERSAUT", "ABESAUT", "AMOTSCO", "AVRAAUT", "AAANHANG", "ATRACTOR"),
    *("AWERKT", "ABROM", "ALEVEN", "APERSONG", "AGEZONG", "AWAOREG", "ABRAND", "AZEILPL"),
    *("APLEZIER", "AFIETS", "AINBOED", "ABYSTAND", "CARAVAN"),
)


_NEWSGROUPS = {"1": "comp", "2": "rec", "3": "sci", "4": "talk"}

# Name: the file, the columns before the sequence, the source.
_POLYA = {
    "omni": (
        "polya_omni_aataaa/polya_omni_AATAAA_10300.csv",
        ("label",),
        "github.com/likesum/DeeReCT-PolyA, data/human/omni_polyA_data (10300 of the AATAAA sequences)",
    ),
    "dragon": (
        "polya_dragon/polya_dragon.csv",
        ("label", "motif", "fold"),
        "github.com/likesum/DeeReCT-PolyA, data/human/dragon_polyA_data",
    ),
}


def load_splice(ambiguous: str = "missing") -> Columns:
    """Splice junctions in genes (UCI): the class, and 60 letters around the junction.

    Parameters
    ----------
    ambiguous : {"missing", "letter"}
        How the 60 letters that stand for several nucleotides are given: None, or the letter (``N`` for any,
        ``D`` for A, G or T, ``R`` for A or G, ``S`` for C or G).

    Returns
    -------
    dict
        ``class`` (``EI``, ``IE``, ``N``) and ``p0`` to ``p59`` (``A``, ``C``, ``G``, ``T``; None where the
        letter stands for several), 3190 rows.
    """
    if ambiguous not in {"missing", "letter"}:
        raise ArgumentError(f"ambiguous={ambiguous!r} is not known; give 'missing' or 'letter'")
    file = DataFile(
        "splice/splice.data",
        "lines of class, name and 60 letters with commas between them, no header",
        "the UCI repository, Molecular Biology (Splice-junction Gene Sequences)",
    )
    rows = _rows(file, ",", 3)
    classes = np.array([row[0] for row in rows], dtype=object)
    alphabet = "ACGT" if ambiguous == "missing" else ascii_uppercase
    return {"class": classes, **_letters(file, [row[2] for row in rows], 60, alphabet)}


def load_house_votes() -> Columns:
    """Votes of the US House of Representatives in 1984 (UCI): the party, and 16 votes.

    Returns
    -------
    dict
        ``party`` (``democrat``, ``republican``) and the votes by subject (``y``, ``n``; None where neither is
        known), 435 rows.
    """
    file = DataFile(
        "house_votes_84/house-votes-84.data",
        "lines of party and 16 votes (y, n, ?) with commas between them, no header",
        "the UCI repository, Congressional Voting Records",
    )
    rows = _rows(file, ",", 1 + len(_VOTES))
    return {
        name: np.array([None if row[column] == "?" else row[column] for row in rows], dtype=object)
        for column, name in enumerate(("party", *_VOTES))
    }


def load_coil2000() -> Columns:
    """Customers of an insurance company (CoIL challenge 2000, training part).

    Returns
    -------
    dict
        86 columns of integers, the last (``CARAVAN``) being the one to predict; 5822 rows.
    """
    file = DataFile(
        "coil2000/ticdata2000.txt",
        "lines of 86 integers with tabs between them, no header",
        "the UCI repository, Insurance Company Benchmark (COIL 2000)",
    )
    rows = _rows(file, "\t", len(_COIL))
    return {
        name: np.array([int(row[column]) for row in rows], dtype=np.int64)
        for column, name in enumerate(_COIL)
    }


def load_news20_w100() -> Columns:
    """Which of 100 words stand in a message to a newsgroup, after Sam Roweis.

    Returns
    -------
    dict
        ``newsgroup`` (``comp``, ``rec``, ``sci``, ``talk``) and a column of 0 and 1 for each word; 16242
        rows.
    """
    file = DataFile(
        "news20_w100/news20_w100.csv",
        "a header, then lines of newsgroup (1 to 4) and 100 values 0 or 1 with commas between them",
        "github.com/probml/pmtkdata, 20news_w100/20news_w100.mat",
    )
    header, *rows = _rows(file, ",", 101)
    groups = np.array([_NEWSGROUPS.get(row[0]) for row in rows], dtype=object)
    words = np.array([row[1:] for row in rows], dtype=np.int8)
    return {
        "newsgroup": groups,
        **{word: words[:, column] for column, word in enumerate(header[1:])},
    }


def load_polya(name: str = "omni") -> Columns:
    """Human DNA around true and false poly(A) signals: 206 letters.

    Parameters
    ----------
    name : {"omni", "dragon"}
        10300 sequences of the Omni-PolyA set with the signal AATAAA (Magana-Mora et al. 2017), or the 14740
        of Dragon PolyA Spotter with twelve signals in five folds (Kalkatawi et al. 2012).

    Returns
    -------
    dict
        ``label`` (``0``, ``1``), for ``"dragon"`` also ``motif`` and ``fold``, and ``p0`` to ``p205`` (``A``,
        ``C``, ``G``, ``T``; None where the letter stands for several). The signal is at ``p100`` to ``p105``.
    """
    if name not in _POLYA:
        raise ArgumentError(f"there is no set {name!r}; there are {', '.join(_POLYA)}")
    path, before, source = _POLYA[name]
    file = DataFile(path, f"a header ({','.join(before)},sequence), then lines of these", source)
    rows = _rows(file, ",", len(before) + 1)[1:]
    described = {
        name: np.array([row[column] for row in rows], dtype=object)
        for column, name in enumerate(before)
    }
    return {**described, **_letters(file, [row[-1] for row in rows], 206)}


def _rows(file: DataFile, delimiter: str, width: int) -> list[list[str]]:
    """The lines of a file, split into fields; each must have this many."""
    rows = [
        [field.strip() for field in line.split(delimiter)]
        for line in file.read().decode("utf-8").splitlines()
        if line.strip()
    ]
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise file.wrong(f"line {number} has {len(row)} fields instead of {width}")
    return rows


def _letters(
    file: DataFile, sequences: Sequence[str], length: int, alphabet: str = "ACGT"
) -> Columns:
    """Sequences of letters as one column for each position; letters outside the alphabet are None."""
    for number, sequence in enumerate(sequences, start=1):
        if len(sequence) != length or not sequence.isascii():
            raise file.wrong(f"sequence {number} does not have {length} letters")
    signs = np.frombuffer("".join(sequences).upper().encode(), dtype=np.uint8)
    letters = np.full(128, None, dtype=object)
    for letter in alphabet:
        letters[ord(letter)] = letter
    cells = letters[signs.reshape(-1, length)]
    return {f"p{position}": cells[:, position] for position in range(length)}
