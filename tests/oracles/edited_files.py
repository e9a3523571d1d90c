"""Model files that were edited and signed again: the digest is right, the content is not."""

from collections import ChainMap

from tacit.core.files.container import read_file, write_file
from tacit.core.files.fields import Source


def edited(path, arrays=None, change=None, **header):
    """Write a file again with some of its content replaced, or left out where the new one is None.

    `change` is a function of the header and the arrays that changes them.
    """
    old, old_arrays = read_file(path)
    kept = {key: value for key, value in (old | header).items() if value is not None}
    stored = {
        name: array for name, array in (old_arrays | (arrays or {})).items() if array is not None
    }
    if change is not None:
        change(kept, stored)
    write_file(path, kept, stored)


def copied(form, value, **sizes):
    """A value written to a header and arrays, and read back."""
    arrays = {}
    plain = form.write(value, "x", arrays)
    return form.read(plain, "x", Source(arrays), ChainMap(dict(sizes)))
