"""Data that experiments look for, made up."""

import numpy as np
import pytest

from tacit.experiments import stocks


@pytest.fixture(scope="session")
def folder_of_stocks(tmp_path_factory):
    """Prices of 62 stocks on 300 days, which rise and fall with a market and with groups."""
    rng = np.random.default_rng(0)
    market, groups = rng.normal(size=(300, 1)), rng.normal(size=(300, 6))
    own = rng.normal(size=(300, 62))
    steps = 0.7 * market + 0.7 * np.repeat(groups, 11, axis=1)[:, :62] + own
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
    caches = (stocks.stock_moves, stocks._split, stocks._learnt, stocks._warm_up)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(folder_of_stocks))
    yield folder_of_stocks
    for cache in caches:
        cache.cache_clear()
