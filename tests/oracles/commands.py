"""The command line as tests call it."""

import csv
import io

from typer.testing import CliRunner

from tacit.cli import app


def tacit_says(*arguments, code=0, with_errors=False):
    """What `tacit` prints, with what it complains about if asked, or where it is to end with another code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output if code or with_errors else result.stdout


def rows_of(text):
    """The rows of a table that was printed."""
    return list(csv.DictReader(io.StringIO(text)))
