"""Targets of model files: the stored files of every format, and mutations of them."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mutations import Rng, mutated_arrays, mutated_bytes, mutated_plain, pick
from outcomes import answers_to
from questions import questions_for

import tacit

STORED = Path(__file__).parents[2] / "tests" / "files" / "stored"

OPEN = "0" * 64  # in place of the digest
_OWN = ("version", "digest")


@dataclass(frozen=True)
class Mutant:
    """The files of an input, and whether they carry a digest that is not theirs."""

    files: dict[str, bytes]
    damaged: bool


class ModelTarget:
    """A model file, with or without a digest."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = path.stem, path

    @cached_property
    def _content(self) -> bytes:
        return self._path.read_bytes()

    @cached_property
    def _parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The header as plain JSON, and the arrays."""
        from safetensors import safe_open

        with safe_open(self._path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return json.loads(file.metadata()["tacit"]), arrays

    @property
    def original(self) -> dict[str, bytes]:
        """The file before any mutation."""
        return {"m.tacit": self._content}

    def mutant(self, rng: Rng, other: bytes) -> Mutant:
        """Bytes changed at random, or the content edited and signed again."""
        header, arrays = self._parts
        what = int(rng.integers(10))
        if what < 2:
            content = mutated_bytes(rng, self._content, other)
            return Mutant({"m.tacit": content}, damaged="digest" in header)
        if what == 2:
            return Mutant({"m.tacit": _other_container(rng, self._content)}, damaged=False)
        if what < 6:
            header = mutated_plain(rng, header, _OWN)
        elif what < 9 or not header:
            arrays = mutated_arrays(rng, arrays)
        else:
            header, arrays = mutated_plain(rng, header, _OWN), mutated_arrays(rng, arrays)
        return Mutant(
            {"m.tacit": signed(header, arrays, doubled=rng.random() < 0.02)}, damaged=False
        )

    def ask(self, folder: Path) -> dict[str, Any]:
        """The answers of the model in a folder."""
        model = tacit.load(folder / "m.tacit")
        return answers_to(questions_for(model))


def signed(header: dict[str, Any], arrays: dict[str, Any], *, doubled: bool = False) -> bytes:
    """A model file with a right digest; `doubled` puts a field there twice."""
    import numpy as np
    from safetensors.numpy import save

    with_digest = header.get("format", 3) == 3 or "digest" in header
    text = json.dumps({**header, "digest": OPEN} if with_digest else header)
    if doubled:
        text = text.replace("{", '{"arguments": {}, ', 1)
    content = {name: np.array(array, order="C") for name, array in arrays.items()}
    return _with_digest(save(content, metadata={"tacit": text}))


def _with_digest(content: bytes) -> bytes:
    """The bytes with the digest in place of the zeros."""
    mark = b'\\"digest\\": \\"'
    digest = hashlib.sha256(content).hexdigest().encode()
    return content.replace(mark + OPEN.encode(), mark + digest, 1)


def _other_container(rng: Rng, content: bytes) -> bytes:
    """The header of safetensors with other types, shapes and places, and a right digest."""
    (length,) = struct.unpack("<Q", content[:8])
    head, rest = json.loads(content[8 : 8 + length]), content[8 + length :]
    what = int(rng.integers(4))
    if what == 0:
        size = pick(rng, (0, 1, length - 1, length + 1, 2**31, 2**60, 2**64 - 1))
        return struct.pack("<Q", size) + content[8:]
    if what == 1:
        deep = b"[" * 50_000
        return struct.pack("<Q", len(deep)) + deep + rest
    plain = json.loads(head.get("__metadata__", {}).get("tacit", "{}"))
    if "digest" in plain:
        head["__metadata__"]["tacit"] = json.dumps({**plain, "digest": OPEN})
    if what == 2:
        text = '{"estimator": "LatentTree", "format": 3, "digest": "' + OPEN + '", "arguments": '
        head["__metadata__"] = {"tacit": text + "[" * 100_000 + "]" * 100_000 + "}"}
    else:
        entries = {name: head[name] for name in head if name != "__metadata__"}
        head = {**mutated_plain(rng, entries), "__metadata__": head["__metadata__"]}
    text_bytes = json.dumps(head).encode("utf-8", "surrogatepass")
    return _with_digest(struct.pack("<Q", len(text_bytes)) + text_bytes + rest)


def model_targets() -> list[ModelTarget]:
    """A target for each stored file."""
    return [ModelTarget(path) for path in sorted(STORED.glob("*.tacit"))]


def classes_covered() -> set[str]:
    """The classes of the stored files."""
    return {target._parts[0]["estimator"] for target in model_targets()}
