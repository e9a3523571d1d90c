"""The decorator of compiled loops: numba's, with a cache that many processes may share.

Numba keeps one index of a loop's compiled forms, and writes it before the forms themselves. Two processes
that compile a loop for different types at once may then each be given the form of the other, and one that is
killed in between leaves an index of forms that are not there, or of an older source. Here each form is a file
of its own that says what it is of. A cache that cannot be read or written is one that has nothing: the loop
is compiled.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
from functools import cache as once
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`; with ``cache=True`` the loop is cached where a folder can be written to, else not."""
    cache = options.pop("cache", False)

    def decorate(function: Callable[..., Any]) -> Any:
        loop = numba.njit(**options)(function)
        # With NUMBA_DISABLE_JIT there is nothing to cache.
        if cache and loop is not function:
            try:
                loop._cache = _Cache(function)  # noqa: SLF001 - as its enable_caching does
            except (RuntimeError, OSError):  # neither beside the source nor in the home of the user
                _say_that_it_is_off()
        return loop

    return decorate


@once
def _say_that_it_is_off() -> None:
    logging.getLogger(__name__).warning(
        "compiled loops are not kept, so each run compiles them again: neither the folder of Tacit nor "
        "the home of the user can be written to; set NUMBA_CACHE_DIR to a folder that can"
    )


class _Cache(FunctionCache):
    """The compiled forms of a loop on disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = _Forms(
            cache_path=locator.get_cache_path(),
            filename_base=self._impl.filename_base,
            source_stamp=locator.get_source_stamp(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled form for some types, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - a damaged pickle may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled form, if it can be written."""
        try:
            super().save_overload(sig, data)
        except OSError:  # a full disk, or a folder that is gone
            pass


class _Forms(IndexDataCacheFile):
    """A file for each compiled form, named for its types, with its source and types in front."""

    def save(self, key: Any, data: Any) -> None:
        """Write a form, whole or not at all."""
        # In the order of their use: what is not for us is not unpickled.
        parts = (self._version, (self._source_stamp, key), data)
        with self._open_for_write(str(self._path(key))) as file:
            for part in parts:
                file.write(self._dump(part))

    def load(self, key: Any) -> Any:
        """The form of a key, or None."""
        try:
            with self._path(key).open("rb") as file:
                if pickle.load(file) != self._version:  # noqa: S301 - the user's own cache, as numba's
                    return None
                if pickle.load(file) != (self._source_stamp, key):  # noqa: S301
                    return None
                return pickle.load(file)  # noqa: S301
        except FileNotFoundError:
            return None

    def flush(self) -> None:
        """Forget all forms."""
        for path in Path(self._cache_path).glob(self._data_name_pattern.split("{")[0] + "*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        # "t": numba's own files have a number there, which another Tacit may still use
        return Path(self._cache_path) / self._data_name_pattern.replace("{number:d}", f"t{digest}")
