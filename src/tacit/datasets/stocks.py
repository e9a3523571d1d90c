"""Prices of stocks, day by day."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.datasets.folder import DataFile
from tacit.errors import ArgumentError

Columns = dict[str, NDArray[Any]]

_VALUES = ("closes", "moves")
_FILE = DataFile(
    "sp500_daily/adjusted_close_1999_2021.csv",
    "a header (date, then tickers), then lines of a day and its adjusted closing prices with commas "
    "between them",
    "github.com/Pooksoft/PooksoftSP500EquityPriceDataSet, daily_adjusted, column adjusted_close",
)


def load_sp500(values: str = "closes") -> Columns:
    """Adjusted closing prices of 362 stocks of the S&P 500 on 5402 days from 1999 to 2021.

    These are the members of 2021 that had a price on each of the days: those that fell out or came later are
    not among them.

    Parameters
    ----------
    values : {"closes", "moves"}
        The prices, or whether each went up from one day to the next.

    Returns
    -------
    dict
        ``"closes"``: ``date`` and a column of prices for each ticker. ``"moves"``: a column for each ticker,
        1 where the price rose and 0 where it fell or stayed; a row less, since the first day has no day
        before it, and no ``date``, so that it can be learnt from as it is.
    """
    if values not in _VALUES:
        raise ArgumentError(f"there are no {values!r}; there are {', '.join(_VALUES)}")
    closes = _closes()
    if values == "closes":
        return closes
    return {
        ticker: (np.diff(prices) > 0).astype(np.int8)
        for ticker, prices in closes.items()
        if ticker != "date"
    }


def _closes() -> Columns:
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(io.BytesIO(_FILE.read()))
    except pa.ArrowException as error:
        raise _FILE.wrong(str(error)) from error
    if not table.num_columns or table.column_names[0] != "date":
        raise _FILE.wrong("the first column is not 'date'")
    wrong = [
        field.name
        for field in table.schema
        if not (pa.types.is_date if field.name == "date" else _is_number)(field.type)
        or table[field.name].null_count
    ]
    if wrong:
        raise _FILE.wrong(f"column {wrong[0]!r} has cells that are not {_kind(wrong[0])}")
    return {
        name: table[name].to_numpy().astype("M8[D]" if name == "date" else np.float64)
        for name in table.column_names
    }


def _kind(column: str) -> str:
    return "days (1999-11-01)" if column == "date" else "numbers"


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
