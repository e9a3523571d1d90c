"""`tacit fit table`: the model that fits a table."""

from __future__ import annotations

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded
from tacit.cli.options import Data


@unfolded
def table(
    data: Data,
    output: learning.Output,
    effort: learning.Effort = learning.EffortName.default,
    *,
    rows: learning.TableRows,
    running: learning.Running,
) -> None:
    """Learn the model that fits the table DATA; the first thing to try.

    It is a kernel-tree where a column holds numbers, else a tree. `tacit info` shows what each column was
    taken for; --column says what it is.

    For example: tacit fit table train.csv -o model.tacit --column zip=category
    """
    from tacit.core.files.container import check_suffix
    from tacit.numbers.fit_table import model_for

    check_suffix(output)  # before the work, not after it
    model = model_for(rows.of(data), rows.kinds(), effort=effort.value, **running.arguments())
    learning.learn_and_save(model, data, output, rows, json=running.json)
