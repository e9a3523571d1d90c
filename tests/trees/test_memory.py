"""How much memory a large table takes; and many columns under one hidden node."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tacit import LatentClass
from tacit.toy import random_tables, sample_codes
from tacit.toy.trees import named_topology

SCRIPT = """
import json, resource, sys, time
import numpy as np
import tacit
from tacit.toy import random_tables, sample_codes
from tacit.toy.trees import named_topology

def peak():  # megabytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def present():  # what is held now, which may be less than was held at some time
    try:
        with open("/proc/self/statm") as pages:
            return int(pages.read().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return peak()

n_rows, learn, structure = int(sys.argv[1]), sys.argv[2], sys.argv[3]
topology = named_topology("bin7")
tree = topology.rooted([f"x{j}" for j in range(64)])
truth = random_tables(tree, 4, 2, 0, diagonal=2.0)
tacit.LatentTree(2, learn=learn).fit(sample_codes(truth, 1000, 1))  # compiles
codes = np.empty((n_rows, 64), dtype=np.int8)
for start in range(0, n_rows, 10_000):
    codes[start : start + 10_000] = sample_codes(truth, min(10_000, n_rows - start), start)
before, began = present(), time.process_time()
model = tacit.LatentTree(2, structure, learn).fit(codes)
result = {"megabytes": peak() - before, "seconds": time.process_time() - began}
result["score"] = model.score(codes[:1000])
print(json.dumps(result))
"""


def fitted_apart(n_rows, learn, structure):
    """A fit in a process of its own: megabytes beyond the data, CPU seconds, score."""
    arguments = [sys.executable, "-c", SCRIPT, str(n_rows), learn, structure]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("learn", ["auto", "spectral"])
def test_a_million_rows_of_64_columns_take_less_than_a_gigabyte_and_a_half(learn):
    usage = fitted_apart(1_000_000, learn, "hidden-chow-liu")
    print(learn, usage)
    assert usage["megabytes"] < 1500


def test_five_hundred_columns_hang_on_one_hidden_node():
    """Their product is far below what a double can hold."""
    tree = named_topology("star500").rooted([f"x{j}" for j in range(500)])
    truth = random_tables(tree, 6, 2, 0, diagonal=0.3)
    codes = sample_codes(truth, 200, 1)
    model = LatentClass(2, pseudo_counts=1.0).fit(codes)
    states = model.transform(codes)
    assert states.max(axis=1) == pytest.approx(1.0, abs=1e-3)
    assert 20 < states[:, 0].sum() < 180
    prior = model.diagnostics_["objective"] - model.score(codes) * 200
    assert prior < 0  # the objective is the log-likelihood and the prior's density
    assert model.score(codes) > LatentClass(1, pseudo_counts=1.0).fit(codes).score(codes)
    assert np.isfinite(model.diagnostics_["trace"]).all()
