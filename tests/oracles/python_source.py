"""Compiled loops run as the Python they were written in."""

import contextlib

import pytest


@contextlib.contextmanager
def python_source(*modules):
    """Within the block, every compiled function of these modules is its own Python source."""
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield
