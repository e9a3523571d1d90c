"""`tacit fit hmm` on columns of several kinds, and with states that are known, against the estimator."""

import csv

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says

KINDS = {"state": "categorical", "speed": "gaussian", "clicks": "poisson"}
COLUMNS = [word for name, kind in KINDS.items() for word in ("--column", f"{name}={kind}")]
N = 30


def trips():
    """A frame of four sequences, its rows in no order; states are known at some positions."""
    rng = np.random.default_rng(0)
    hidden = np.cumsum(rng.random((4, N)) < 0.15, axis=1).ravel() % 2
    frame = {
        "id": np.repeat(list("badc"), N),
        "time": np.tile(np.arange(N), 4),
        "state": np.where(hidden ^ (rng.random(4 * N) < 0.1), "open", "shut"),
        "speed": (6.0 * hidden + rng.normal(size=4 * N)).round(3),
        "clicks": rng.poisson(2 + 5 * hidden),
        "stage": np.where(np.arange(4 * N) % 10 == 3, 1 - hidden, -1),
    }
    order = rng.permutation(4 * N)
    return {name: column[order] for name, column in frame.items()}


TRIPS = trips()


def write(path, frame):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(frame)
        for row in zip(*frame.values(), strict=True):
            writer.writerow(["" if cell == -1 else cell for cell in row])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the frame, the same with other names of columns, and a model of it."""
    directory = tmp_path_factory.mktemp("trips")
    write(directory / "trips.csv", TRIPS)
    names = {"id": "who", "time": "when"}
    write(directory / "named.csv", {names.get(name, name): TRIPS[name] for name in TRIPS})
    fit = ["fit", "hmm", directory / "trips.csv", "-o", directory / "trips.tacit", *COLUMNS]
    printed = tacit_says(*fit, "--states", 2)
    assert printed.startswith("4 sequences, 120 positions, 3 columns; hidden states: 2; saved as")
    return directory


def test_fit_learns_what_the_estimator_learns_from_the_frame(folder):
    same, loaded = tacit.HMM(2, emissions=KINDS).fit(TRIPS), tacit.load(folder / "trips.tacit")
    assert loaded.names_ == tuple(KINDS)
    assert loaded.transitions_ == pytest.approx(same.transitions_, rel=1e-9)
    assert loaded.columns_["speed"]["means_"] == pytest.approx(same.columns_["speed"]["means_"])
    assert loaded.score(TRIPS) == pytest.approx(same.score(TRIPS), rel=1e-9)


def test_columns_of_other_names_are_the_sequence_and_the_time(run, folder, tmp_path):
    out = tmp_path / "m.tacit"
    fit = ("fit", "hmm", "named.csv", "-o", out, *COLUMNS, "--states", 2, "--column", "when=time")
    run(*fit, "--sequence", "who", "--validation", "named.csv")
    score = run("score", out, "named.csv")
    assert score == run("score", "trips.tacit", "trips.csv")
    rows = rows_of(run("predict", out, "named.csv", "--states"))
    assert [row["who"] for row in rows] == [
        name for name in dict.fromkeys(TRIPS["id"].tolist()) for _ in range(N)
    ]
    paths = tacit.load(folder / "trips.tacit").predict(TRIPS)
    assert [int(row["state"]) for row in rows] == np.concatenate(paths).tolist()
    assert rows_of(run("sample", out, "-n", 1, "--length", 2))[0].keys() == {"who", *KINDS}


def test_gaps_are_filled(run, folder, tmp_path):
    gaps = {name: column[:N].astype(object) for name, column in TRIPS.items() if name != "stage"}
    gaps["state"][4] = gaps["speed"][4] = gaps["clicks"][7] = ""
    write(tmp_path / "gaps.csv", gaps)
    rows = rows_of(run("impute", "trips.tacit", tmp_path / "gaps.csv"))
    frame = {name: [None if cell == "" else cell for cell in gaps[name]] for name in gaps}
    full = tacit.load(folder / "trips.tacit").impute(frame)
    assert [row["state"] for row in rows] == [cell for each in full for cell in each["state"]]
    for name in ("speed", "clicks"):
        cells = [cell for each in full for cell in each[name]]
        assert [float(row[name]) for row in rows] == pytest.approx(cells, rel=1e-9)
    printed = run("impute", "trips.tacit", tmp_path / "gaps.csv", "-o", tmp_path / "full.csv")
    assert printed.startswith("3 cells of 30 positions filled")


def test_shapes_durations_and_known_states_go_with_columns_of_several_kinds(run, tmp_path):
    out = tmp_path / "m.tacit"
    fit = ("fit", "hmm", "trips.csv", "-o", out, *COLUMNS, "--states", 2, "--max-iter", 20)
    run(*fit, "--transitions", "cyclic", "--durations", "table", "--max-duration", 5)
    same = tacit.HMM(
        2, emissions=KINDS, transitions="cyclic", durations="table", max_duration=5, max_iter=20
    ).fit(TRIPS)
    assert tacit.load(out).durations_.hazards == pytest.approx(same.durations_.hazards, rel=1e-6)
    run(*fit, "--known-states", "stage")
    loaded = tacit.load(out)
    assert loaded.columns_["speed"]["means_"][:, 0] == pytest.approx([6, 0], abs=0.5)
    same = tacit.HMM(2, emissions=KINDS, max_iter=20)
    same.fit(TRIPS, states=TRIPS["stage"])
    assert loaded.transitions_ == pytest.approx(same.transitions_, rel=1e-9)
    assert loaded.names_ == tuple(KINDS)


def in_order(column):
    """Sequence by sequence, as they first appear."""
    ids = TRIPS["id"].tolist()
    first = np.array([ids.index(name) for name in ids])
    return column[np.argsort(first, kind="stable")]


@pytest.mark.parametrize("kind", ["categorical", "gaussian"])
def test_known_states_are_a_column_of_tables_of_one_kind_too(run, tmp_path, kind):
    out, name = tmp_path / "m.tacit", "state" if kind == "categorical" else "speed"
    write(tmp_path / "one.csv", {key: TRIPS[key] for key in ("id", name, "stage")})
    more = ("--symbol", name) if kind == "categorical" else ("--emissions", kind)
    fit = ("fit", "hmm", tmp_path / "one.csv", "-o", out, "--sequence", "id", *more)
    run(*fit, "--states", 2, "--max-iter", 5, "--known-states", "stage")
    values = in_order(TRIPS[name])
    same = tacit.HMM(2, emissions=kind, max_iter=5).fit(
        values, lengths=[N] * 4, states=in_order(TRIPS["stage"])
    )
    assert tacit.load(out).transitions_ == pytest.approx(same.transitions_, rel=1e-9)
    assert "there is no column 'x'" in run(*fit, "--states", 2, "--known-states", "x", code=1)
    assert "--states N" in run(*fit, "--known-states", "stage", code=2)


def test_options_that_do_not_go_together_are_refused(run, tmp_path):
    fit = ("fit", "hmm", "trips.csv", "-o", tmp_path / "m.tacit", "--states", 2)
    wrong = {
        "leave one of them out": (*COLUMNS, "--emissions", "gaussian"),
        "names all columns": (*COLUMNS, "--symbol", "state"),
        "which names all": (*COLUMNS, "--drop", "stage"),
        "speed=gaussian": ("--column", "speed"),
        "says already": (*COLUMNS, "--column", "id=sequence", "--sequence", "time"),
        "--emissions gaussian": ("--column", "clicks=poisson", "--covariance", "tied"),
    }
    for message, options in wrong.items():
        assert message in " ".join(run(*fit, *options, code=2).replace("│", "").split())
    assert "emissions['speed']" in run(*fit, "--column", "speed=fast", code=1)
    assert "there is no column 'pace'" in run(*fit, "--column", "pace=gaussian", code=1)
    known = run(*fit, *COLUMNS, "--known-states", "state", code=1)
    assert "the numbers of states" in known
    assert "from 0 to 1" in run(*fit, *COLUMNS, "--known-states", "clicks", code=1)
    (tmp_path / "lines.txt").write_text("a b\nb a\n")
    lines = (*fit[:2], tmp_path / "lines.txt", *fit[3:])
    assert "a row for each symbol" in run(*lines, "--known-states", "stage", code=1)
