"""metriclab from Python: read what it has learned, teach it online, fit it in a Pipeline.

    import metriclab

    model = metriclab.load("wine.json")            # written by: metriclab fit wine.csv ... --out wine.json
    Z = model.transform(X)                         # Euclidean distances of rows of Z are the learned ones
    D = model.distances(X, Y)                      # the same distances, one row of X to one of Y
    y = model.predict(X_train, y_train, X, k=3)    # the classes of the k nearest training rows

    with metriclab.Learner("pola", save="pola.json") as learner:   # metriclab learn
        answer = learner.pair([0, 1], [2, 1], label=-1)

    metriclab.MetricLab("lmnn").fit(X, y).predict(X)               # metriclab fit, for scikit-learn

One file, Python 3.9 or newer and NumPy; only MetricLab needs scikit-learn. load needs no
metriclab: docs/format.md specifies the files. Learner and MetricLab run the command, which is
the argument command, or the environment variable METRICLAB, or metriclab on the PATH.
"""

from __future__ import annotations

import base64
import binascii
import csv
import hashlib
import json
import math
import os
import queue
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from typing import Any, BinaryIO, Callable, Iterator, Mapping, Optional, Union, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["CommandError", "FormatError", "Learner", "Metric", "MetricLab", "MetricLabError", "Model", "RefusedLine", "load"]

FORMAT_VERSION = 1  # of files: the newest that load reads
TIE = 1e-12  # squared distances within this share of the nearest of them are equal to predict
_BLOCK = 1 << 22  # numbers of a block of distances
_MAX_DIM = 2**31 - 1
_MAX_PASSES = 10**9

Array = NDArray[np.float64]


class MetricLabError(ValueError):
    """What this module raises beside TypeError and errors of the system."""


class FormatError(MetricLabError):
    """A file that is not of metriclab, newer, damaged, too large, or of a kind that load does not read."""


class CommandError(MetricLabError):
    """The command could not be found, or failed. Its message is that of the command."""


class RefusedLine(MetricLabError):
    """metriclab learn refused a line, and has learned nothing from it."""


# ---------------------------------------------------------------------------
# Files: docs/format.md


def load(file: Union[str, "os.PathLike[str]", BinaryIO], *, max_bytes: int = 4 << 30) -> "Union[Metric, Objects]":
    """Reads a model, a metric, a projection or a learner of pairs that metriclab saved.

    What metriclab fit --triplets wrote is an Objects, all else a Metric.

    file is a path or a binary file. Of more than max_bytes nothing is parsed. The checksum, the
    version, all sizes and all numbers are checked: FormatError tells what is wrong.
    """
    if hasattr(file, "read"):
        raw, name = _read(file, max_bytes), getattr(file, "name", "the file")  # type: ignore[arg-type]
    else:
        with open(file, "rb") as f:  # type: ignore[arg-type]
            raw, name = _read(f, max_bytes), os.fspath(file)  # type: ignore[arg-type]
    try:
        if len(raw) > max_bytes:
            raise FormatError(f"more than max_bytes = {max_bytes} bytes")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as e:
            raise FormatError(f"not a metriclab file: no UTF-8 at byte {e.start}") from None
        start = _blanks(text, 0)
        if text[start : start + 1] != "{":
            raise FormatError(f"not a metriclab file: it begins with {text[start:start + 16]!r}, want an object of JSON")
        if re.search(r"\\u[dD][89a-fA-F]", text):
            _no_surrogates(_value(text, start)[0])
        envelope, end = _Envelope.read(text, start)
        if _blanks(text, end) != len(text):
            raise FormatError("damaged: more follows the object")
        return envelope.build()
    except FormatError as e:
        raise FormatError(f"{name}: {e}") from None


def _read(f: BinaryIO, most: int) -> bytes:
    """What f holds, up to somewhat more than the most that is allowed. A larger read takes its memory at once."""
    parts, size = [], 0
    while size <= most:
        part = f.read(1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


_BLANKS = re.compile(r"[ \t\r\n]*")
_TOKENS = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+', re.DOTALL)


def _blanks(text: str, at: int) -> int:
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr]


def _compact(text: str) -> str:
    """JSON without blanks between its tokens, as the checksum takes it."""
    if not any(c in text for c in " \t\r\n"):
        return text
    return _TOKENS.sub(lambda m: m.group(1) or "", text)


def _distinct(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError("a field is there twice")
    return out


def _no_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("damaged: a text has a lone surrogate") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _float(text: str) -> float:
    v = float(text)
    if v == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        raise ValueError(f"{text[:40]} is too small for a float64")
    return v


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_float)


def _value(text: str, at: int) -> "tuple[Any, int]":
    """The value of JSON that begins at text[at], and where it ends."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as e:
        raise FormatError(f"damaged: {e.msg} at character {e.pos}") from None
    except (ValueError, RecursionError) as e:
        raise FormatError(f"damaged: {str(e)[:100]}") from None


def _members(text: str, at: int) -> "tuple[dict[str, tuple[Any, int, int]], int]":
    """The fields of the object that begins at text[at], each with its value and place, and the end."""
    out: "dict[str, tuple[Any, int, int]]" = {}
    at = _blanks(text, at + 1)
    while text[at : at + 1] != "}":
        if out:
            if text[at : at + 1] != ",":
                raise FormatError(f"damaged: want , or }} at character {at}")
            at = _blanks(text, at + 1)
        name, at = _value(text, at)
        at = _blanks(text, at)
        if not isinstance(name, str) or name in out or text[at : at + 1] != ":":
            raise FormatError(f"damaged: want a name of its own and : before character {at}")
        start = _blanks(text, at + 1)
        value, at = _value(text, start)
        out[name] = value, start, at
        at = _blanks(text, at)
    return out, at + 1


class _Envelope:
    """What a file holds, checked as far as all kinds are alike."""

    def __init__(self, kind: str, params: Any, state: Any, text: str, state_at: int):
        self.kind, self.params, self.state, self._text, self._state_at = kind, params, state, text, state_at

    @staticmethod
    def read(text: str, at: int) -> "tuple[_Envelope, int]":
        members, end = _members(text, at)
        get = lambda name: members[name][0] if name in members else None  # noqa: E731
        if get("format") != "metriclab":
            raise FormatError(f"not a metriclab file: format is {str(get('format'))[:100]!r}, want 'metriclab'")
        version, kind = get("version"), get("kind")
        if not _is_whole(version) or version < 1:
            raise FormatError(f"damaged: version {str(version)[:100]}")
        if version > FORMAT_VERSION:
            raise FormatError(f"written by a newer metriclab: version {str(version)[:100]}, this module reads up to {FORMAT_VERSION}")
        _check("the file", {name: value for name, (value, _, _) in members.items()}, _DECLARED["file"])
        digest = hashlib.sha256()
        for part in (kind, *(_compact(text[slice(*members[name][1:])]) for name in ("params", "state"))):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(struct.pack("<Q", len(data)))
            digest.update(data)
        if digest.hexdigest() != get("sha256"):
            raise FormatError(f"damaged: checksum of the content is {digest.hexdigest()}, the file says {str(get('sha256'))[:100]}")
        return _Envelope(kind, get("params"), get("state"), text, members["state"][1]), end

    def build(self) -> "Union[Metric, Objects]":
        build = _KINDS.get(self.kind)
        if build is None:
            raise FormatError(f"it holds {self.kind[:100]!r}, which this module does not read, want one of {', '.join(_KINDS)}")
        try:
            declared = _DECLARED[self.kind]
            self.params, self.state = (_check(name, v, declared[name]) for name, v in (("params", self.params), ("state", self.state)))
            return build(self)
        except FormatError as e:
            raise FormatError(f"{self.kind}: {e}") from None

    def inner(self, name: str) -> "_Envelope":
        """The file that is the field name of the state."""
        members, _ = _members(self._text, self._state_at)
        start = members[name][1]
        if self._text[start] != "{":
            raise FormatError(f"damaged: {name} is no object")
        return _Envelope.read(self._text, start)[0]

    def fields(self) -> "tuple[_Fields, _Fields]":
        return _Fields(self.params), _Fields(self.state)


def _check(where: str, value: Any, declared: Any, beside: Mapping[str, Any] = {}) -> Any:
    """The value, with arrays in the place of base64, if it is what is declared: see _DECLARED."""

    def bad(want: str) -> FormatError:
        return FormatError(f"damaged: {where} is {str(value)[:100]}, want {want}")

    if isinstance(declared, list):
        if not isinstance(value, list):
            raise bad("a list")
        return [_check(where, v, declared[0]) for v in value]
    if isinstance(declared, dict):
        if not isinstance(value, dict):
            raise bad("an object")
        if "*" in declared:
            return {name: _check(f"{where}: {name[:100]!r}", v, declared["*"]) for name, v in value.items()}
        known = {n.rstrip("?"): n for n in declared}
        for name in value:
            if name not in known:
                raise FormatError(f"damaged: {where} has an unknown field {name[:100]!r}")
        for name, field in known.items():
            if name == field and name not in value:
                raise FormatError(f"damaged: {where} lacks the field {name}")
        return {name: _check(name, v, declared[known[name]], value) for name, v in value.items()}
    kind, _, rule = declared.partition(" ")
    if value is None:
        raise bad("a value")
    if kind == "any":
        return value
    if kind == "flag":
        if not isinstance(value, bool):
            raise bad("true or false")
    elif kind == "text":
        if not isinstance(value, str) or rule and value not in rule.split("|"):
            raise bad(rule or "a text")
    elif kind in ("floats", "bytes"):
        if not isinstance(value, str):
            raise bad("a text of base64")
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as e:
            raise FormatError(f"damaged: {where}: {e}") from None
        if len(value) != (len(raw) + 2) // 3 * 4 or base64.b64encode(raw[-(len(raw) % 3 or 3) :]).decode() != value[-4:]:
            raise FormatError(f"damaged: {where}: base64 that is not the one text of its bytes")
        if kind == "bytes":
            return raw
        if len(raw) % 8:
            raise FormatError(f"damaged: {where}: {len(raw)} bytes are no whole number of float64")
        out = np.frombuffer(raw, dtype="<f8").astype(np.float64)
        if not np.isfinite(out).all():
            raise FormatError(f"damaged: {where}: number {int(np.flatnonzero(~np.isfinite(out))[0])} is no finite number")
        return out
    else:
        try:
            right = _is_whole(value) or kind == "number" and isinstance(value, float)
            right = right and (kind == "number" and math.isfinite(float(value)) or kind == "whole" and -(2**63) <= value < 2**63 or kind == "count" and 0 <= value < 2**64)
        except OverflowError:
            right = False
        if not right or rule and not _within(value, rule, beside):
            raise bad(f"a {kind} {rule}".rstrip())
    return value


def _within(v: float, rule: str, beside: Mapping[str, Any]) -> bool:
    """Whether v is in a range such as "0, or >= 1 and <= 9". A bound may be a number or the field beside it of that name."""
    if rule.startswith("0, or "):
        return v == 0 or _within(v, rule[len("0, or ") :], beside)
    for part in rule.split(" and "):
        sign, bound = part.split()
        b = beside.get(bound, math.nan) if bound in beside else float(bound)
        if _is_whole(b) or isinstance(b, float):
            if not {">": v > b, ">=": v >= b, "<": v < b, "<=": v <= b}[sign]:
                return False
    return True


def _is_whole(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool)


class _Fields:
    """An object of JSON that has been checked."""

    def __init__(self, value: "dict[str, Any]"):
        self._v = value

    def __contains__(self, name: str) -> bool:
        return name in self._v

    def raw(self, name: str) -> Any:
        return self._v[name]

    def whole(self, name: str, least: int, most: int = 2**63 - 1) -> int:
        v = self._v[name]
        if not least <= v <= most:
            raise FormatError(f"damaged: {name} is {str(v)[:100]}, want a whole number from {least} to {most}")
        return v

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        v = float(self._v[name])
        if not least <= v <= most:
            raise FormatError(f"damaged: {name} is {v}, want a number from {least} to {most}")
        return v

    def floats(self, name: str, *shape: Optional[int]) -> Array:
        """Finite numbers, base64 of little-endian float64. Of the shape one size may be None: what is there."""
        out: Array = self._v.get(name, np.empty(0))
        n, known = len(out), 1
        for size in shape:
            known *= 1 if size is None else size
        free = None in shape
        if free and (known == 0 or n % known) or not free and n != known:
            raise FormatError(f"damaged: {name} has {n} numbers, want {'a multiple of ' if free else ''}{known}")
        return out.reshape([n // known if size is None else size for size in shape])


# What each kind of file must hold. ? marks a field that may be missing, * stands for any name, [x] is a list of x, and
# behind a number or a text is what it may be. The test of pkg/model writes and checks this:
# go test ./pkg/model -run TestPythonDeclarations -update
_DECLARED: "dict[str, Any]" = {
    "file": {"format":"text","kind":"text","params":"any","sha256":"text","state":"any","version":"whole"},
    "kernels/metric": {"params":{"kernel":{"degree?":"whole >= 1 and <= 1000000","gamma?":"number > 0","name":"text","offset?":"number >= 0"}},"state":{"dim":"whole","g":"floats","rows":"whole","shift?":"floats","support":"floats"}},
    "kernels/transformed": {"params":{"kernel":{"degree?":"whole >= 1 and <= 1000000","gamma?":"number > 0","name":"text","offset?":"number >= 0"}},"state":{"alpha?":"number","dim":"whole","s":"floats","support":"floats"}},
    "labels/fda": {"params":{},"state":{"mean":"floats","rows":"floats","values":"floats"}},
    "labels/lsa": {"params":{"centred":"flag"},"state":{"mean":"floats","rows":"floats","values":"floats"}},
    "labels/pca": {"params":{},"state":{"mean":"floats","rows":"floats","values":"floats"}},
    "metric/low-rank": {"params":{},"state":{"basis":"floats","dim":"whole","rank":"whole","root":"floats"}},
    "metric/mahalanobis": {"params":{},"state":{"dim":"whole","factor":"floats","rows":"whole"}},
    "model": {"params":{"given?":"text","impute_mean":"flag","learner":"text","pairs?":"whole","params":{"*":"text"},"passes?":"whole","raw":"flag","seed":"count"},"state":{"classes":["text"],"counts":["whole"],"layout":{"features":["text"],"header":"flag","label":"text","one_hot?":[{"categories":["text"],"column":"text"}],"width":"whole"},"learner_version":"whole","means":"floats","metric":"any","rows?":"whole","scale":"floats","shift":"floats"}},
    "model/triplets": {"params":{"learner":"text","params":{"*":"text"},"passes?":"whole"},"state":{"dim?":"whole","kernel":"floats","learner_version":"whole","named?":["whole"],"names":["text"]}},
    "model/vectors": {"params":{"learner":"text","params":{"*":"text"},"passes?":"whole","rank?":"whole","raw":"flag","triplets?":"flag","unit":"flag"},"state":{"dissimilar":"whole","learner_version":"whole","metric":"any","scale":"number","similar":"whole","threshold":"number","triplets?":"whole","version":"whole"}},
    "pairs/kernel-pola": {"params":{"b1":"number >= -1e100 and <= 1e100","gamma":"number >= 0","kernel":{"degree?":"whole >= 1 and <= 1000000","gamma?":"number > 0","name":"text","offset?":"number >= 0"}},"state":{"age":"whole","dim":"whole","factor":"floats","form":{"age":"whole","basis?":"floats","core":"floats","dim":"whole","log_shift":"number","order":"whole","resolvent?":"floats","seen":"whole","shift":"number","turns":"whole"},"points":"floats","threshold":"number"}},
    "pairs/lego": {"params":{"eta":"number > 0","l":"number > u and <= 1e100","u":"number > 0 and < l","update":"text always|violated"},"state":{"dim":"whole","factor":"floats"}},
    "pairs/pa": {"params":{"b0":"number >= -1e100 and <= 1e100","c":"number > 0","every?":"whole >= 0","m0?":"number >= 0 and <= 1e100","psd":"text step|end","rule":"text pa|pa1|pa2|pals","tol?":"number >= 0"},"state":{"form":{"age":"whole","basis?":"floats","core":"floats","dim":"whole","log_shift":"number","order":"whole","resolvent?":"floats","seen":"whole","shift":"number","turns":"whole"},"since?":"whole","threshold":"number"}},
    "pairs/pola": {"params":{"b1":"number >= -1e100 and <= 1e100","gamma":"number >= 0"},"state":{"form":{"age":"whole","basis?":"floats","core":"floats","dim":"whole","log_shift":"number","order":"whole","resolvent?":"floats","seen":"whole","shift":"number","turns":"whole"},"threshold":"number"}},
}  # end of declarations


# ---------------------------------------------------------------------------
# Metrics


def _sqdist(a: Array, b: Array) -> Array:
    """Squared Euclidean distances of the rows of a, few, and of b, from differences: nothing cancels."""
    out = np.empty((len(a), len(b)))
    step = max(1, _BLOCK // max(1, a.shape[1] * len(b)))
    for i in range(0, len(a), step):
        d = a[i : i + step, None, :] - b[None, :, :]
        out[i : i + step] = np.einsum("ijk,ijk->ij", d, d)
    return out


class Metric:
    """A learned distance of vectors with dim numbers. A row is an object.

    kind is that of the file. threshold is that of a learner of pairs, which calls a pair similar
    if its squared distance is at most this, and None of others.
    """

    kind: str
    dim: int
    threshold: Optional[float] = None

    @property
    def width(self) -> Optional[int]:
        """How many coordinates transform gives; None if there are none."""
        raise NotImplementedError

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates of the rows of X, n x width: their Euclidean distances are the learned distances."""
        return self._images(self._prepare(X))

    def distances(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, squared: bool = False) -> Array:
        """Learned distances of each row of X to each row of Y (of X without Y), len(X) x len(Y)."""
        x = self._points(self._prepare(X))
        out = self._between(x, x if Y is None else self._points(self._prepare(Y)))
        return out if squared else np.sqrt(out)

    def neighbours(self, X_train: ArrayLike, X: ArrayLike, k: Optional[int] = None) -> "tuple[Array, NDArray[np.intp]]":
        """The k nearest training rows to each row of X: distances and row numbers, both len(X) x k, nearest first.

        k is 5 by default, as of metriclab neighbours, or as many as there are training rows.

        Squared distances within 1e-12, relatively, of the first of their group are equal, and equal
        distances are in the order of the training rows, as in metriclab evaluate.
        """
        train, queries, k = self._asked(X_train, X, k)
        index = np.empty((len(queries), k), dtype=np.intp)
        sq = np.empty((len(queries), k))
        for j, groups in self._groups(train, queries, int(k)):
            found, d = (np.concatenate(part)[:k] for part in zip(*groups))
            index[j], sq[j] = found, d
        return np.sqrt(sq), index

    def _groups(self, train: Array, queries: Array, k: int) -> "Iterator[tuple[int, list[tuple[NDArray[np.intp], Array]]]]":
        """For each query its number and the groups of training rows at equal distances, nearest first, that hold its k nearest."""
        step = max(1, _BLOCK // len(train))
        for i in range(0, len(queries), step):
            for j, (candidates, d) in enumerate(self._candidates(train, queries[i : i + step], k), start=i):
                if not np.isfinite(d).all():
                    raise MetricLabError(f"row {j}: squared distances overflow: rescale the features")
                order = np.lexsort((candidates, d))
                candidates, d = candidates[order], d[order]
                groups, lo = [], 0
                while lo < k:
                    hi = max(lo + 1, int(np.searchsorted(d, d[lo] * (1 + TIE), side="right")))
                    tied = np.argsort(candidates[lo:hi], kind="stable")
                    groups.append((candidates[lo:hi][tied], d[lo:hi][tied]))
                    lo = hi
                yield j, groups

    def predict(self, X_train: ArrayLike, y_train: ArrayLike, X: ArrayLike, k: Optional[int] = None) -> NDArray[Any]:
        """The class of each row of X: that of most of its k nearest training rows.

        Rows as near as the k-th share the votes that nearer ones leave, so that the order of the
        training rows has no part in it. Of classes with as many votes, the one with the nearest
        row is taken, and of these the first.
        """
        y = np.asarray(y_train)
        rows = len(X_train)  # type: ignore[arg-type]
        if y.shape != (rows,):
            raise MetricLabError(f"y_train: shape {y.shape} does not fit {rows} training rows")
        classes, codes = np.unique(y, return_inverse=True)
        train, queries, k = self._asked(X_train, X, k)
        return classes[self._votes(train, codes, len(classes), queries, k)[1]]

    def _votes(self, train: Array, codes: NDArray[Any], classes: int, queries: Array, k: int) -> "tuple[Array, NDArray[np.intp]]":
        """The share of the votes that each class has of each query, and which class wins."""
        shares, out = np.empty((len(queries), classes)), np.empty(len(queries), dtype=np.intp)
        for j, groups in self._groups(train, queries, k):
            counts = [np.bincount(codes[rows], minlength=classes) for rows, _ in groups]
            last = counts[-1]
            nearer: NDArray[Any] = sum(counts[:-1], np.zeros(classes, dtype=int))
            votes = nearer * last.sum() + (k - nearer.sum()) * last  # times the rows of the last group, so that they are whole
            leads = votes == votes.max()
            out[j] = next(np.flatnonzero(leads & (c > 0))[0] for c in counts if (leads & (c > 0)).any())
            shares[j] = votes / (k * last.sum())
        return shares, out

    def _asked(self, X_train: ArrayLike, X: ArrayLike, k: Optional[int]) -> "tuple[Array, Array, int]":
        train, queries = self._points(self._prepare(X_train)), self._points(self._prepare(X))
        n = len(train)
        k = min(5, n) if k is None else k
        if not _is_whole(k) and not isinstance(k, np.integer) or not 1 <= k <= n:
            raise MetricLabError(f"k: {k} is not allowed, want 1 to {n}, the number of training rows")
        return train, queries, int(k)

    # What kinds differ in. Points are what distances are computed from: images, if there are any.

    def _images(self, p: Array) -> Array:
        raise NotImplementedError

    def _points(self, p: Array) -> Array:
        return self._images(p)

    def _between(self, x: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return _sqdist(x, y)

    def _candidates(self, train: Array, queries: Array, k: int) -> "list[tuple[NDArray[np.intp], Array]]":
        """Rows among which are the k nearest of each query and all that tie with them, and squared distances.

        A product of matrices finds them, up to a bound of its round-off; differences decide.
        """
        centre = train.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            t, q = train - centre, queries - centre
            tt, qq = np.einsum("ij,ij->i", t, t), np.einsum("ij,ij->i", q, q)
            about = qq[:, None] + tt - 2 * (q @ t.T)
            off = (t.shape[1] + 8) * 2.3e-16 * 4 * (qq + tt.max())
            least = np.partition(about, k - 1, axis=1)[:, k - 1]
            limit = least + 4 * TIE * np.abs(least) + 2 * off
        out = []
        for i, x in enumerate(queries):
            found = np.flatnonzero(~(about[i] > limit[i]))
            with np.errstate(over="ignore"):
                out.append((found, _sqdist(x[None], train[found])[0]))
        return out

    def _prepare(self, X: ArrayLike) -> Array:
        """X as the metric takes it."""
        x = np.asarray(X, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != self.dim:
            raise MetricLabError(f"X has the shape {x.shape}, want rows of {self.dim} numbers")
        if not self._missing_allowed and not np.isfinite(x).all():
            i, j = np.argwhere(~np.isfinite(x))[0]
            raise MetricLabError(f"row {i}, column {j}: {x[i, j]} is not allowed, want a finite number")
        return x

    _missing_allowed = False


class _Linear(Metric):
    """d(x, y) = ||L(x - y)||, L r x dim, and coordinates L(x - mean)."""

    def __init__(self, kind: str, L: Array, mean: Optional[Array] = None, threshold: Optional[float] = None):
        self.kind, self.L, self.dim, self.threshold, self._mean = kind, L, L.shape[1], threshold, mean

    @property
    def width(self) -> int:
        return max(1, len(self.L))

    @property
    def matrix(self) -> Array:
        """M = L'L, dim x dim."""
        return self.L.T @ self.L

    def _images(self, p: Array) -> Array:
        if len(self.L) == 0:
            return np.zeros((len(p), 1))
        return (p if self._mean is None else p - self._mean) @ self.L.T


class _LowRank(Metric):
    """d(x, y)^2 = (x - y)'W(x - y), W = I + U(F - I)U', with the rows of basis U', k x dim, and root F^(1/2)."""

    def __init__(self, kind: str, basis: Array, root: Array):
        self.kind, self.dim, self.basis, self.root = kind, basis.shape[1], basis, root

    @property
    def width(self) -> int:
        return self.dim

    @property
    def matrix(self) -> Array:
        """W, dim x dim."""
        return np.eye(self.dim) + self.basis.T @ ((self.root.T @ self.root - np.eye(len(self.root))) @ self.basis)

    def _images(self, p: Array) -> Array:
        z = p @ self.basis.T
        return p + (z @ self.root.T - z) @ self.basis


class _Kernel:
    """A kernel function by name and parameters."""

    def __init__(self, spec: Any):
        f = _Fields(spec)
        self.name = f.raw("name")
        needs = {"linear": [], "polynomial": ["degree", "offset"], "gaussian": ["gamma"]}
        if self.name not in needs:
            raise FormatError(f"damaged: kernel {self.name[:100]!r}, want one of {', '.join(needs)}")
        if sorted(spec) != sorted(["name", *needs[self.name]]):
            raise FormatError(f"damaged: the {self.name} kernel has {sorted(spec)}")
        if self.name == "gaussian":
            self.gamma = f.number("gamma")
        if self.name == "polynomial":
            self.degree, self.offset = f.whole("degree", 1), f.number("offset")

    def __call__(self, x: Array, y: Array) -> Array:
        """Values of each row of x with each row of y."""
        with np.errstate(over="ignore"):
            if self.name == "gaussian":
                return np.exp(-self.gamma * _sqdist(x, y))
            inner = x @ y.T
            return inner if self.name == "linear" else (inner + self.offset) ** self.degree

    def own(self, x: Array) -> Array:
        """Values of each row with itself."""
        with np.errstate(over="ignore"):
            if self.name == "gaussian":
                return np.ones(len(x))
            inner = np.einsum("ij,ij->i", x, x)
            return inner if self.name == "linear" else (inner + self.offset) ** self.degree


class _KernelMetric(Metric):
    """d(x, y) = ||G(k(x) - k(y))||, k(x) the kernel values of x with the support points; coordinates Gk(x) + shift."""

    def __init__(self, kind: str, dim: int, kernel: _Kernel, support: Array, G: Array, shift: Optional[Array] = None, threshold: Optional[float] = None):
        self.kind, self.dim, self.kernel, self.support, self.G, self._shift, self.threshold = kind, dim, kernel, support, G, shift, threshold

    @property
    def width(self) -> int:
        return max(1, len(self.G))

    def _images(self, p: Array) -> Array:
        if len(self.G) == 0:
            return np.zeros((len(p), 1))
        out = np.empty((len(p), len(self.G)))
        step = max(1, _BLOCK // max(1, len(self.support)))
        for i in range(0, len(p), step):
            out[i : i + step] = self.kernel(p[i : i + step], self.support) @ self.G.T
        return out if self._shift is None else out + self._shift


class _Transformed(Metric):
    """The distance of the kernel alpha k(x, y) + k(x)'S k(y): it has no coordinates."""

    def __init__(self, kind: str, dim: int, kernel: _Kernel, alpha: float, support: Array, S: Array):
        self.kind, self.dim, self.kernel, self.alpha, self.support, self.S = kind, dim, kernel, alpha, support, S

    width = None

    def transform(self, X: ArrayLike) -> Array:
        raise MetricLabError("this kernel metric sees what lies outside the span of the stored rows too, so it has no coordinates; it has distances")

    def _points(self, p: Array) -> Array:
        return p

    def _between(self, x: Array, y: Array) -> Array:
        out = self.alpha * (self.kernel.own(x)[:, None] - 2 * self.kernel(x, y) + self.kernel.own(y))
        if len(self.support):
            kx, ky = self.kernel(x, self.support), self.kernel(y, self.support)
            first = kx[:1].copy()
            kx, ky = kx - first, ky - first
            sx, sy = kx @ self.S, ky @ self.S
            step = max(1, _BLOCK // max(1, ky.size))
            for i in range(0, len(x), step):
                u = kx[i : i + step, None, :] - ky[None]
                out[i : i + step] += np.einsum("ijk,ijk->ij", u, sx[i : i + step, None, :] - sy[None])
        return np.maximum(out, 0)

    def _candidates(self, train: Array, queries: Array, k: int) -> "list[tuple[NDArray[np.intp], Array]]":
        return [(np.arange(len(train)), d) for d in self._between(queries, train)]


class Model(Metric):
    """What metriclab fit saved: a metric, and how rows are prepared for it.

    features, label   names of the columns of features, and of the class
    classes, counts   classes of the training rows, and how many rows each has
    learner, params   by which it was fitted; params are texts
    metric            the Metric of prepared rows

    X has a column per feature, in the order of features, NaN where a cell is missing; of a data
    frame the columns are found by name, if the training table had a header. A column of words that
    fit --one-hot made features of stands there as these features, called column=category, 1 or 0.
    """

    def __init__(self, envelope: _Envelope):
        p, s = envelope.fields()
        self.kind = envelope.kind
        self.learner, self.recipe = p.raw("learner"), dict(envelope.params)
        params = p.raw("params")
        if not self.learner:
            raise FormatError("damaged: the recipe is not complete")
        self.params = dict(params)
        for name, most in (("pairs", 10**9), ("passes", _MAX_PASSES)):
            if name in p:
                p.whole(name, 0, most)
        if "given" in p and p.raw("given") not in ("pairs", "chunklets"):
            raise FormatError("damaged: given is not pairs or chunklets")
        p.whole("seed", 1, 2**64 - 1)
        self.learner_version = s.whole("learner_version", 0)
        layout = _Fields(s.raw("layout"))
        self.header, self.label, self.features = layout.raw("header"), layout.raw("label"), layout.raw("features")
        if any("\r\n" in name for name in (self.label, *self.features)):
            raise FormatError("damaged: a name has the line end \\r\\n")
        self.classes = s.raw("classes")
        counts = s.raw("counts")
        if not self.classes:
            if "rows" not in s:
                raise FormatError("damaged: neither classes nor rows")
            s.whole("rows", 1, _MAX_DIM)
        if len(counts) != len(self.classes) or len(counts) == 1 and "given" not in p or not all(1 <= c <= _MAX_DIM for c in counts):
            raise FormatError("damaged: counts do not fit the classes")
        self.counts = list(counts)
        inner = envelope.inner("metric")
        if inner.kind not in _MEASURES:
            raise FormatError(f"damaged: its metric is of the kind {inner.kind[:100]!r}, want one of {', '.join(_MEASURES)}")
        self.metric = inner.build()
        self.dim = d = self.metric.dim
        columns = d + (self.label != "")
        words = layout.raw("one_hot") if "one_hot" in layout else []
        names, columns_of_words = [], []
        for w in words:
            one = _Fields(w)
            column, categories = one.raw("column"), one.raw("categories")
            if not 1 <= len(categories) <= 1000:
                raise FormatError(f"damaged: one_hot has {len(categories)} categories, want 1 to 1000")
            columns += 1 - len(categories)
            names += [f"{column}={c}" for c in categories]
            columns_of_words.append(column)
        plain = self.features[: len(self.features) - len(names)]
        if names != self.features[len(plain) :] or len({*plain, *columns_of_words, self.label}) != len(plain) + len(words) + 1:
            raise FormatError("damaged: one_hot does not fit the features")
        layout.whole("width", columns, _MAX_DIM)
        if len(self.features) != d or len({*self.features, self.label}) != d + 1:
            raise FormatError(f"damaged: {len(self.features)} names do not fit {d} features, or occur twice")
        impute, raw = p.raw("impute_mean"), p.raw("raw")
        self._fill, self._shift, self._scale = (s.floats(name, d if there else 0) for name, there in (("means", impute), ("shift", not raw), ("scale", not raw)))
        if not (self._scale > 0).all():
            raise FormatError("damaged: a scale is not more than 0")
        self._missing_allowed = True

    @property
    def width(self) -> Optional[int]:
        return self.metric.width

    def prepare(self, X: ArrayLike) -> Array:
        """The rows of X as the metric takes them: missing cells filled, features standardised."""
        return self._prepare(X)

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates of the rows of X: what metriclab transform writes."""
        if self.width is None:
            return self.metric.transform(X)
        if isinstance(self.metric, _Linear) and len(self.metric.L) == 0 or isinstance(self.metric, _KernelMetric) and len(self.metric.G) == 0:
            raise MetricLabError("the learned metric is 0: all points coincide")
        images = self._images(self._prepare(X))
        if not np.isfinite(images).all():
            raise MetricLabError(f"row {int(np.argwhere(~np.isfinite(images))[0][0])}: a coordinate overflows")
        return images

    def _prepare(self, X: ArrayLike) -> Array:
        columns = getattr(X, "columns", None)
        if self.header and columns is not None:
            missing = [f for f in self.features if f not in columns]
            if missing:
                raise MetricLabError(f"X has no column {missing[0]!r}; the features of the model are {', '.join(self.features)}"[:1000])
            X = X[self.features]  # type: ignore[index, call-overload]
        x = super()._prepare(X)
        holes = np.isnan(x)
        if holes.any():
            if not len(self._fill):
                i, j = np.argwhere(holes)[0]
                raise MetricLabError(f"row {i}, column {self.features[j]}: the cell is missing, and the model was fitted without --impute mean")
            x = np.where(holes, self._fill, x)
        if len(self._shift):
            with np.errstate(over="ignore", invalid="ignore"):
                x = (x - self._shift) / self._scale
        if not np.isfinite(x).all():
            i, j = np.argwhere(~np.isfinite(x))[0]
            raise MetricLabError(f"row {i}, column {self.features[j]}: the number is too large")
        return x

    def _images(self, p: Array) -> Array:
        return self.metric._images(p)

    def _points(self, p: Array) -> Array:
        return self.metric._points(p)

    def _between(self, x: Array, y: Array) -> Array:
        return self.metric._between(x, y)

    def _candidates(self, train: Array, queries: Array, k: int) -> "list[tuple[NDArray[np.intp], Array]]":
        return self.metric._candidates(train, queries, k)


def _mahalanobis(e: _Envelope) -> Metric:
    _, s = e.fields()
    dim, rows = s.whole("dim", 1, _MAX_DIM), s.whole("rows", 0)
    return _Linear(e.kind, s.floats("factor", rows, dim))


def _low_rank(e: _Envelope) -> Metric:
    _, s = e.fields()
    dim = s.whole("dim", 1, _MAX_DIM)
    k = s.whole("rank", 1, dim)
    basis, root = s.floats("basis", k, dim), s.floats("root", k, k)
    if not (root == root.T).all():
        raise FormatError("damaged: root is not symmetric")
    with np.errstate(over="ignore", invalid="ignore"):
        orthonormal = (np.abs(basis @ basis.T - np.eye(k)) <= 1e-8).all()
    if not orthonormal:
        raise FormatError("damaged: basis is not orthonormal")
    return _LowRank(e.kind, basis, root)


def _kernel_metric(e: _Envelope) -> Metric:
    p, s = e.fields()
    dim, r = s.whole("dim", 1, _MAX_DIM), s.whole("rows", 0)
    support = s.floats("support", None, dim)
    if (r == 0) != (len(support) == 0):
        raise FormatError(f"damaged: {r} rows and {len(support)} support points")
    shift = s.floats("shift", r) if "shift" in s else None
    return _KernelMetric(e.kind, dim, _Kernel(p.raw("kernel")), support, s.floats("g", r, len(support)), shift)


def _transformed(e: _Envelope) -> Metric:
    p, s = e.fields()
    dim = s.whole("dim", 1, _MAX_DIM)
    support = s.floats("support", None, dim)
    m = len(support)
    packed = s.floats("s", m * (m + 1) // 2)
    S = np.zeros((m, m))
    S[np.triu_indices(m)] = packed  # row by row, each from the diagonal on
    S += np.triu(S, 1).T
    alpha, kernel = s.number("alpha", 0) if "alpha" in s else 1.0, _Kernel(p.raw("kernel"))
    with np.errstate(over="ignore", invalid="ignore"):
        k = kernel(support, support)
        _check_gram(alpha * k + k @ S @ k)
    return _Transformed(e.kind, dim, kernel, alpha, support, S)


def _check_gram(k: Array) -> None:
    """Refuses a matrix that is not positive semi-definite, but for round-off."""
    if not np.isfinite(k).all():
        raise FormatError("damaged: a number of the kernel overflows")
    if k.any():
        k = k / np.abs(k).max()
        values = np.linalg.eigvalsh((k + k.T) / 2)
        if values[0] < -1e-10 * max(values[-1], 0):
            raise FormatError("damaged: the kernel is not positive semi-definite")


def _projection(e: _Envelope) -> Metric:
    p, s = e.fields()
    mean, values = s.floats("mean", None), s.floats("values", None)
    if not 1 <= len(values) <= len(mean) or not (values >= 0).all():
        raise FormatError(f"damaged: {len(values)} values in {len(mean)} dimensions, or one below 0")
    if e.kind == "labels/lsa" and not p.raw("centred") and mean.any():
        raise FormatError("damaged: a mean that is not 0 without centring")
    return _Linear(e.kind, s.floats("rows", len(values), len(mean)), mean)


class Vectors(Metric):
    """What metriclab fit --vectors wrote: a metric of vectors without columns.

    Vectors are divided by their lengths if unit is true, and multiplied by scale; metric compares
    these. A vector of zeros, which has no direction, is then an error. threshold is None of a model that was learned from comparisons.
    """

    def __init__(self, e: _Envelope):
        p, s = e.fields()
        self.kind, self.learner, self.unit, self.scale = e.kind, p.raw("learner"), p.raw("unit"), s.number("scale")
        if not self.learner:
            raise FormatError("damaged: the learner has no name")
        s.whole("version", 0)
        pairs = s.whole("similar", 0) + s.whole("dissimilar", 0)
        s.whole("learner_version", 0)
        compared = p.raw("triplets") if "triplets" in p else False
        if compared != ("triplets" in s and s.whole("triplets", 0) > 0) or compared and pairs:
            raise FormatError("damaged: the numbers of comparisons and pairs do not fit the recipe")
        threshold = s.number("threshold", 0, 0 if compared else math.inf)
        self.threshold = None if compared else threshold
        inner = e.inner("metric")
        if inner.kind not in ("metric/mahalanobis", "metric/low-rank"):
            raise FormatError(f"damaged: its metric is of the kind {inner.kind[:100]!r}, want metric/mahalanobis or metric/low-rank")
        self.metric = cast(Metric, inner.build())
        self.dim = self.metric.dim
        p.whole("passes", 0, _MAX_PASSES) if "passes" in p else 0
        if ("rank" in p and not 0 <= p.whole("rank", 0) <= self.dim) or not self.scale > 0 or p.raw("raw") and self.scale != 1:
            raise FormatError(f"damaged: scale {self.scale}, or a rank that does not fit {self.dim} dimensions")

    @property
    def width(self) -> Optional[int]:
        return self.metric.width

    def _prepare(self, X: ArrayLike) -> Array:
        x = super()._prepare(X)
        if self.unit:
            largest = np.abs(x).max(axis=1, keepdims=True)
            zeros = np.flatnonzero(largest == 0)
            if len(zeros):
                raise MetricLabError(f"unit: {len(zeros)} of {len(x)} vectors are zeros, the first in row {zeros[0]}: they have no direction")
            x = np.ldexp(x, -np.frexp(largest)[1])  # squares may overflow or vanish
            x = x / np.sqrt((x * x).sum(axis=1, keepdims=True))
        return x * self.scale

    def _images(self, p: Array) -> Array:
        return self.metric._images(p)


class Objects:
    """What metriclab fit --triplets wrote: a learned kernel of objects, which have names and no vectors.

    kernel is K, n x n; the squared distance of i and j is K_ii + K_jj - 2 K_ij. There is no map
    for other objects.
    """

    kind: str

    def __init__(self, e: _Envelope):
        p, s = e.fields()
        self.kind, self.learner = e.kind, p.raw("learner")
        if not self.learner:
            raise FormatError("damaged: the learner has no name")
        p.whole("passes", 0, _MAX_PASSES) if "passes" in p else 0
        s.whole("learner_version", 0)
        self.names = s.raw("names")
        n = len(self.names)
        if n < 3 or len(set(self.names)) != n or any(not name or "\n" in name or "\r" in name for name in self.names):
            raise FormatError("damaged: fewer than 3 names, or one that is empty, has a line end or occurs twice")
        if "dim" in s:
            s.whole("dim", 1, n)
        if "named" in s and (len(s.raw("named")) != n or min(s.raw("named")) < 1):
            raise FormatError("damaged: not one count for each object, of comparisons that name it")
        values = s.floats("kernel", n * (n + 1) // 2)
        if not (np.abs(values) <= 1e140).all():
            raise FormatError("damaged: a number of the kernel is beyond 1e140")
        self.kernel = np.zeros((n, n))
        self.kernel[np.triu_indices(n)] = values
        self.kernel += np.triu(self.kernel, 1).T
        _check_gram(self.kernel)

    def index(self, name: str) -> int:
        """The number of the object of that name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise MetricLabError(f"no object is called {name!r}") from None

    def distances(self, *, squared: bool = False) -> Array:
        """Learned distances of all objects, n x n."""
        diagonal = np.diag(self.kernel)
        out = np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * self.kernel, 0)
        return out if squared else np.sqrt(out)

    def coordinates(self, dim: int = 2) -> Array:
        """n x dim coordinates along which the objects vary most, as metriclab fit --coordinates writes them."""
        n = len(self.names)
        if not _is_whole(dim) or not 1 <= dim <= n:
            raise MetricLabError(f"dim: {dim} is not allowed, want 1 to {n}")
        mean = self.kernel.mean(axis=0)
        values, vectors = np.linalg.eigh(self.kernel - mean[:, None] - mean[None, :] + mean.mean())
        z = vectors[:, ::-1][:, :dim] * np.sqrt(np.maximum(values[::-1][:dim], 0))
        largest = np.abs(z).argmax(axis=0)
        sign = np.where(z[largest, np.arange(dim)] < 0, -1.0, 1.0)
        return z * sign


def _lower(packed: Array, n: int) -> Array:
    """The square matrix of which packed is the lower triangle, by rows; 0 above."""
    out = np.zeros((n, n))
    out[np.tril_indices(n)] = packed
    return out


def _form(value: Any, grows: bool = False) -> Array:
    """L, r x dim, of the quadratic form A = UCU' that a learner of pairs saves, A's nearest L'L. One that grows always has its U."""
    s = _Fields(value)
    dim, n = s.whole("dim", 0, _MAX_DIM), s.whole("order", 0)
    core = s.floats("core", n * (n + 1) // 2)
    if not (np.abs(core) <= 1e130).all():
        raise FormatError("damaged: a number of the core is beyond 1e130")
    s.whole("turns", 0, 4095)
    s.whole("age", 0, s.whole("seen", 0, 2**53))
    s.number("log_shift", -1000, 1000)
    resolvent = s.floats("resolvent", None) if "resolvent" in s else ()
    if len(resolvent) not in (0, n * n) or len(resolvent) and not 2.0**-400 <= s.number("shift") <= 2.0**400:
        raise FormatError(f"damaged: a resolvent of {len(resolvent)} numbers in a form of order {n}, or its shift")
    there = bool(len(s.raw("basis"))) if "basis" in s else False
    basis = s.floats("basis", n, dim) if there else None
    if n > dim or n == 0 and there or not there and n != 0 and (grows or n != dim):
        raise FormatError(f"damaged: a form of order {n} in {dim} dimensions")
    if n == 0:
        return np.zeros((0, dim))
    if basis is not None and not (np.abs(np.einsum("ij,ij->i", basis, basis) - 1) <= 1e-6).all():
        raise FormatError("damaged: a column of the basis has not length 1")
    c = _lower(core, n)
    values, vectors = np.linalg.eigh(c + np.tril(c, -1).T)
    keep = values > n * np.finfo(float).eps * np.abs(values).max()
    root = (vectors[:, keep] * np.sqrt(values[keep])).T[::-1]
    return root if basis is None else root @ basis


def _pair_learner(e: _Envelope) -> Metric:
    p, s = e.fields()
    if "since" in s:
        s.whole("since", 0, max(0, p.whole("every", 0) - 1 if "every" in p else 0))
    for name, beside, only in (("tol", "rule", "pals"), ("every", "psd", "end")):
        if name in p and p.raw(name) != 0 and p.raw(beside) != only:
            raise FormatError(f"damaged: {name} is {p.raw(name)}, and {beside} is not {only}")
    if "psd" in p and p.raw("psd") == "end" and len(s.raw("form").get("resolvent", ())):
        raise FormatError("damaged: a resolvent, which nothing needs with psd = end")
    L = _form(s.raw("form"))
    if L.shape[1] < 1:
        raise FormatError("damaged: a form in 0 dimensions")
    return _Linear(e.kind, L, threshold=s.number("threshold", -1e130, 1e130))


def _lego(e: _Envelope) -> Metric:
    p, s = e.fields()
    n = s.whole("dim", 1, _MAX_DIM)
    edge = 16
    whole, rest = divmod(n, edge)
    packed = s.floats("factor", edge * edge * whole * (whole + 1) // 2 + rest * n)
    with np.errstate(over="ignore"):
        if not np.isfinite(packed @ packed):
            raise FormatError("damaged: the square of the factor overflows")
    L = np.zeros((n, n))
    at = 0
    for top in range(0, n, edge):
        end = min(top + edge, n)
        L[top:end, :end] = packed[at : at + (end - top) * end].reshape(end - top, end)
        at += (end - top) * end
    return _Linear(e.kind, L, threshold=(p.number("u") + p.number("l")) / 2)


def _kernel_pola(e: _Envelope) -> Metric:
    p, s = e.fields()
    dim = s.whole("dim", 1, _MAX_DIM)
    s.whole("age", 0, 2**53)
    points = s.floats("points", None, dim)
    m = len(points)
    factor = s.floats("factor", m * (m + 1) // 2)
    form = _form(s.raw("form"), grows=True)
    if form.shape[1] != m:
        raise FormatError(f"damaged: a form in {form.shape[1]} dimensions, {m} points")
    lower = _lower(factor, m)
    if not (np.diag(lower) > 0).all():
        raise FormatError("damaged: a pivot of the factor is not more than 0")
    kernel = _Kernel(p.raw("kernel"))
    own = kernel.own(points)
    if not (np.abs(np.einsum("ij,ij->i", lower, lower) - own) <= 1e-9 * own + 1e-290).all():
        raise FormatError("damaged: the factor is not that of the kernel matrix of the points")
    if len({x.tobytes() for x in points + 0.0}) < m:
        raise FormatError("damaged: two points are equal")
    # Coordinates of x are z = lower^-1 k(x); G = form lower^-1.
    G = np.linalg.solve(lower.T, form.T).T if m else np.zeros((0, 0))
    if not np.isfinite(G).all():
        raise FormatError("damaged: the factor is singular")
    return _KernelMetric(e.kind, dim, kernel, points, G, threshold=s.number("threshold", -1e130, 1e130))


_MEASURES: "dict[str, Callable[[_Envelope], Metric]]" = {
    "metric/mahalanobis": _mahalanobis,
    "metric/low-rank": _low_rank,
    "kernels/metric": _kernel_metric,
    "kernels/transformed": _transformed,
}
_KINDS: "dict[str, Callable[[_Envelope], Union[Metric, Objects]]]" = {
    "model": Model,
    "model/vectors": Vectors,
    "model/triplets": Objects,
    **_MEASURES,
    "labels/pca": _projection,
    "labels/lsa": _projection,
    "labels/fda": _projection,
    "pairs/pola": _pair_learner,
    "pairs/pa": _pair_learner,
    "pairs/lego": _lego,
    "pairs/kernel-pola": _kernel_pola,
}


# ---------------------------------------------------------------------------
# The command


def _command(command: Optional[str]) -> str:
    """The path of metriclab: the argument, or METRICLAB of the environment, or what is on the PATH."""
    for given, where in ((command, "command"), (os.environ.get("METRICLAB"), "METRICLAB")):
        if given:
            found = shutil.which(given)
            if found is None:
                raise CommandError(f"{where}: {given} is no program that can be run")
            return found
    found = shutil.which("metriclab")
    if found is None:
        raise CommandError(
            "the command metriclab is not on the PATH: build it with go build -o metriclab ./cmd/metriclab, "
            "and give its path as command= or in the environment variable METRICLAB"
        )
    return found


def _params(params: Optional[Mapping[str, Any]]) -> "list[str]":
    """Flags of parameters. True and False become true and false, numbers keep every digit."""
    out = []
    for name, value in (params or {}).items():
        if isinstance(value, (bool, np.bool_)):
            value = str(value).lower()
        out += ["--param", f"{name}={value}"]
    return out


def _plain(value: Any) -> Any:
    """What is of NumPy, for JSON."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not allowed, want numbers and lists of them")


class Learner:
    """An online learner: metriclab learn as a process of its own, which answers each line at once.

        with metriclab.Learner("pola", params={"gamma": 0.1}, save="pola.json") as learner:
            learner.pair([0, 1], [2, 1], label=-1)   # learns; label 1 similar, -1 dissimilar
            learner.pair([0, 1], [2, 1])             # only predicts

    learner is the name of a learner (see: metriclab learn --help), or load a file of a saved one.
    save names a file for the learner, written when close is called or the with statement ends,
    also by an exception; save_every = n also writes it after every n-th line that is learned from. state_every = n adds "state" to every n-th answer. Answers are dicts.
    RefusedLine tells of a line that was refused: nothing was learned from it, and the learner goes
    on. CommandError tells that the process has ended. A Learner is for one thread at a time.
    timeout = s ends the process if an answer, or the end, takes more than s seconds: CommandError.
    A Learner that is forgotten ends its process too. After a fork it belongs to the parent alone.
    """

    def __init__(
        self,
        learner: Optional[str] = None,
        *,
        params: Optional[Mapping[str, Any]] = None,
        dim: Optional[int] = None,
        objects: Optional[int] = None,
        load: Union[str, "os.PathLike[str]", None] = None,
        save: Union[str, "os.PathLike[str]", None] = None,
        save_every: Optional[int] = None,
        state_every: Optional[int] = None,
        max_line: Optional[int] = None,
        command: Optional[str] = None,
        timeout: Optional[float] = None,
    ):
        if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
            raise MetricLabError(f"timeout: {timeout} is not allowed, want seconds > 0, or None")
        self._process: "Optional[subprocess.Popen[bytes]]" = None
        self._timeout, self._owner = timeout, os.getpid()
        args = [_command(command), "learn", "--skip-bad", *_params(params)]
        for flag, value in (("learner", learner), ("dim", dim), ("objects", objects), ("load", load), ("save", save), ("save-every", save_every), ("state-every", state_every), ("max-line", max_line)):
            if value is not None:
                args += [f"--{flag}={os.fspath(value) if hasattr(value, '__fspath__') else value}"]
        self._saves = save is not None
        self._process = process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _PROCESSES.add(process)
        self._forgotten = weakref.finalize(self, _end, process, self._owner)
        self._heard: "queue.SimpleQueue[tuple[str, bytes]]" = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=_listen, args=(pipe, name, self._heard), daemon=True)
            for pipe, name in ((process.stdout, "answer"), (process.stderr, "said"))
        ]
        for r in self._readers:
            r.start()
        self._open = 2  # pipes that have not ended
        self._said: "list[str]" = []
        self._refused = 0
        self._round: Optional[int] = None  # of the last answer
        self._interrupted = False

    def pair(self, x: ArrayLike, y: ArrayLike, label: Optional[int] = None) -> "dict[str, Any]":
        """A pair of vectors, 1 similar or -1 dissimilar; without a label it is only predicted."""
        line: "dict[str, Any]" = {"x": np.asarray(x).tolist(), "y": np.asarray(y).tolist()}
        return self.send(line if label is None else {**line, "label": label})

    def triplet(self, a: int, near: int, far: int) -> "dict[str, Any]":
        """Object a is closer to near than to far."""
        return self.send({"a": a, "near": near, "far": far})

    def nearer(self, a: int, b: int, c: int) -> "dict[str, Any]":
        """Predicts which of the objects b and c is nearer to a, and learns nothing."""
        return self.send({"a": a, "b": b, "c": c})

    def costs(self, cost: ArrayLike) -> "dict[str, Any]":
        """A round of assignment costs from 0 to 1: a row per object, a column per prototype."""
        return self.send({"cost": np.asarray(cost).tolist()})

    def send(self, line: Mapping[str, Any]) -> "dict[str, Any]":
        """Sends a line of the protocol, and returns its answer."""
        if self._process is None:
            raise CommandError("the learner is closed")
        if os.getpid() != self._owner:
            raise CommandError("the learner belongs to the process that made it, not to one that was forked from it")
        if self._interrupted:
            raise CommandError("a line was interrupted, so that answers and lines no longer match: close the learner")
        try:
            text = json.dumps(line, default=_plain, allow_nan=False)
        except ValueError as e:
            raise RefusedLine(f"{e}: want finite numbers") from None
        self._interrupted = True
        answer = self._exchange(text.encode() + b"\n")
        if answer is not None and "answer" in answer:
            answer["answer"] = self._check(line, answer["answer"])
        self._interrupted = False
        if answer is None:
            raise self._ended()
        if "refused" in answer:
            self._refused += 1
            raise RefusedLine(answer["refused"])
        return answer["answer"]

    def _check(self, line: Mapping[str, Any], heard: bytes) -> "dict[str, Any]":
        """What was heard, if it is an answer to the line. Else the process is ended: it would not fit the next one either."""
        try:
            answer = json.loads(heard, object_pairs_hook=_distinct, parse_constant=_no_constant)
            right = isinstance(answer, dict) and _is_whole(answer.get("round")) and (self._round is None or answer["round"] == self._round + 1)
            for asked, fields in (("x", "sqdist similar"), ("near", "sqnear sqfar"), ("b", "sqb sqc nearer"), ("cost", "map")):
                if right and asked in line:
                    right = all(isinstance(answer.get(f), (int, float)) for f in fields.split()) if asked != "cost" else isinstance(answer.get("map"), list) and len(answer["map"]) == len(line["cost"])
        except (ValueError, RecursionError):
            right = False
        if not right:
            raise self._killed(f"metriclab learn wrote {heard[:200]!r}, which is no answer to the line")
        self._round = answer["round"]
        return cast("dict[str, Any]", answer)

    def _exchange(self, line: bytes) -> "Optional[dict[str, Any]]":
        """Writes a line, and returns its answer or why it was refused; None if the process has ended."""
        process = cast("subprocess.Popen[bytes]", self._process)
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        # A program that reads nothing is ended, so that writing ends.
        watch = None if self._timeout is None else threading.Timer(self._timeout, process.kill)
        try:
            if watch:
                watch.daemon = True
                watch.start()
            process.stdin.write(line)  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            if deadline is not None and time.monotonic() >= deadline:
                raise self._killed(self._late()) from None
            return None
        finally:
            if watch:
                watch.cancel()
        while self._open == 2:
            name, heard = self._hear(deadline)
            if not heard:
                self._open -= 1
            elif name == "answer":
                return {"answer": heard}
            else:
                said = heard.decode("utf-8", "replace").rstrip("\r\n")
                refused = re.match(r"metriclab: line \d+: (.*)", said, re.DOTALL)
                if refused and not self._said:
                    return {"refused": refused.group(1)}
                self._said.append(said)
        return None

    def _late(self) -> str:
        return f"metriclab learn has not answered within {self._timeout} seconds"

    def _hear(self, deadline: Optional[float]) -> "tuple[str, bytes]":
        try:
            return self._heard.get() if deadline is None else self._heard.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self._killed(self._late()) from None

    def _killed(self, why: str) -> CommandError:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _end(process, self._owner)
        return CommandError("\n".join([f"{why}: the process is killed", *self._said[-20:]]))

    def _wait(self) -> int:
        """Ends the input, and waits for the process."""
        process = cast("subprocess.Popen[bytes]", self._process)
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        try:
            process.stdin.close()  # type: ignore[union-attr]
        except OSError:
            pass
        while self._open:
            name, heard = self._hear(deadline)
            if not heard:
                self._open -= 1
            elif name == "said":
                self._said.append(heard.decode("utf-8", "replace").rstrip("\r\n"))
        try:
            code = process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise self._killed(self._late()) from None
        self._process = None
        self._forgotten.detach()
        for r in self._readers:
            r.join()
        return code

    def _ended(self) -> CommandError:
        code = self._wait()
        return CommandError("\n".join(self._said[-20:]) or f"metriclab learn has ended with exit code {code}")

    def close(self) -> None:
        """Ends the process, which saves the learner first if save was given. A second call does nothing."""
        if self._process is None or os.getpid() != self._owner:
            return
        code = self._wait()
        saved = any(re.match(r"metriclab: the learner, after .* is in ", s) for s in self._said)
        # Refused lines have been told of; without them only success is 0.
        if code != 0 and (self._refused == 0 or code != 1 or self._saves and not saved):
            raise CommandError("\n".join(self._said[-20:]) or f"metriclab learn has ended with exit code {code}")

    def __enter__(self) -> "Learner":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self.close()
        except CommandError:
            if error is None:  # or what came first is told
                raise


_PROCESSES: "weakref.WeakSet[subprocess.Popen[bytes]]" = weakref.WeakSet()  # of Learners


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """Ends the process of a Learner that nobody closed: at the end of its input it saves, or is killed after 5 seconds."""
    if os.getpid() != owner:
        return
    try:
        process.stdin.close()  # type: ignore[union-attr]
    except OSError:
        pass
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _forked() -> None:
    """In a forked child: lets go of the pipes, or the parent's processes would never see the end of their input."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for process in list(_PROCESSES):
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None and not pipe.closed:
                os.dup2(nothing, pipe.fileno())  # closing would wait for the lock of a thread that is not here
    os.close(nothing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _listen(pipe: Any, name: str, heard: "queue.SimpleQueue[tuple[str, bytes]]") -> None:
    """Puts the lines of a pipe, and at its end an empty one."""
    with pipe:
        for line in pipe:
            heard.put((name, line))
    heard.put((name, b""))


# ---------------------------------------------------------------------------
# scikit-learn

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted
except ImportError:

    class MetricLab:
        """A metric learner for scikit-learn, which is not installed."""

        def __init__(self, *_: Any, **__: Any):
            raise ImportError("MetricLab needs scikit-learn: apt-get install python3-sklearn, or pip install scikit-learn")

else:

    def _validated(estimator: Any, X: Any, y: Any = "no_validation", *, missing: bool, reset: bool) -> Any:
        """scikit-learn's own check, whose home and words changed with version 1.6."""
        options: "dict[str, Any]" = {"y": y, "dtype": np.float64, "reset": reset}
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:
            options["force_all_finite"] = "allow-nan" if missing else True
            return estimator._validate_data(X, **options)
        options["ensure_all_finite"] = "allow-nan" if missing else True
        return validate_data(estimator, X, **options)

    def _write(path: str, header: "list[str]", X: Array, codes: NDArray[Any]) -> None:
        """Writes a table: a code and features in each row."""
        with open(path, "w", newline="", encoding="utf-8") as f:
            csv.writer(f, lineterminator="\n").writerow(header)
            for code, row in zip(codes.tolist(), X.tolist()):
                # The shortest text that reads back as the same number; an empty cell is a missing one.
                f.write(f"{code},{','.join('' if v != v else repr(v) for v in row)}\n")

    class MetricLab(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[no-redef]
        """metriclab fit as a transformer and a nearest-neighbour classifier.

        learner       its name (see: metriclab learners)
        params        dict of the learner's parameters; those not given have their defaults
        n_neighbors   of predict and score
        pairs, passes, seed   those of metriclab fit, None for the default
        standardise   whether each feature gets mean 0 and standard deviation 1
        impute        whether NaN, a missing cell, becomes the mean of its column; else it is an error
        max_memory    the limit of one object, such as "8GiB"; None for the default
        command       path of metriclab; None for METRICLAB of the environment, or the PATH

        After fit: model_ (a Model), classes_, n_features_in_; save writes the file of the model. The first
        predict_proba runs metriclab predict, which fits five times more; what it learns is kept until fit.
        """

        def __init__(
            self,
            learner: str = "itml",
            *,
            params: Optional[Mapping[str, Any]] = None,
            n_neighbors: int = 3,
            pairs: Optional[int] = None,
            passes: Optional[int] = None,
            seed: Optional[int] = None,
            standardise: bool = True,
            impute: bool = False,
            max_memory: Optional[str] = None,
            command: Optional[str] = None,
        ):
            self.learner = learner
            self.params = params
            self.n_neighbors = n_neighbors
            self.pairs = pairs
            self.passes = passes
            self.seed = seed
            self.standardise = standardise
            self.impute = impute
            self.max_memory = max_memory
            self.command = command

        def fit(self, X: ArrayLike, y: ArrayLike) -> "MetricLab":
            """Learns a metric from the rows of X, n x features, and their classes y."""
            X, y = _validated(self, X, y, missing=self.impute, reset=True)
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
            if len(self.classes_) < 2:
                raise MetricLabError("y has 1 class, want at least 2")
            names = [str(n).strip() for n in getattr(self, "feature_names_in_", ())]
            if len({*names} - {""}) < X.shape[1]:  # there are none, or none that tell columns apart
                names = [f"x{j + 1}" for j in range(X.shape[1])]
            label = "class"
            while label in names:
                label += "_"
            args = ["fit", "", "--header=yes", f"--label={label}", f"--learner={self.learner}", *_params(self.params)]
            for flag, value in (("pairs", self.pairs), ("passes", self.passes), ("seed", self.seed)):
                if value is not None:
                    args.append(f"--{flag}={value}")
            if not self.standardise:
                args.append("--no-standardise")
            if self.impute:
                args.append("--impute=mean")
            with tempfile.TemporaryDirectory(prefix="metriclab-") as folder:
                args[1], out = os.path.join(folder, "table.csv"), os.path.join(folder, "model.json")
                _write(args[1], [label, *names], X, codes)
                self._run([*args, f"--out={out}"])
                with open(out, "rb") as model:
                    self._saved = model.read()
                self.model_ = load(out)
            self._calibrations: "dict[int, tuple[float, float]]" = {}  # by n_neighbors
            self._rows, self._codes = X, codes
            self._n_features_out = self.model_.width or 0
            return self

        def transform(self, X: ArrayLike) -> Array:
            """Coordinates of the rows of X, in which Euclidean distances are the learned ones."""
            check_is_fitted(self)
            return self.model_.transform(_validated(self, X, missing=self.impute, reset=False))

        def predict(self, X: ArrayLike) -> NDArray[Any]:
            """Classes of the rows of X, by the n_neighbors nearest rows of fit."""
            check_is_fitted(self)
            X = _validated(self, X, missing=self.impute, reset=False)
            return self.classes_[self.model_.predict(self._rows, self._codes, X, self.n_neighbors)]

        def predict_proba(self, X: ArrayLike) -> Array:
            """The probability of each of classes_ for the rows of X, len(X) x classes, as of metriclab predict --probabilities.

            It is (share + shift)**power of the votes of the n_neighbors nearest rows of fit, divided by the sum over classes.
            Rows of fit that were held out tell shift and power. predict has the most probable class.
            """
            check_is_fitted(self)
            X = _validated(self, X, missing=self.impute, reset=False)
            train, queries, k = self.model_._asked(self._rows, X, self.n_neighbors)
            shares, won = self.model_._votes(train, self._codes, len(self.classes_), queries, k)
            if k not in self._calibrations:
                self._calibrations[k] = self._calibrate(k)
            shift, power = self._calibrations[k]
            p = (1 + shares / shift) ** power
            p /= p.sum(axis=1, keepdims=True)
            others = p.copy()
            rows = np.arange(len(p))
            others[rows, won] = 0
            p[rows, won] = np.maximum(p[rows, won], np.nextafter(others.max(axis=1), 2))  # in a tie by the last bit
            return cast(Array, p)

        def _calibrate(self, k: int) -> "tuple[float, float]":
            """What predict --probabilities learns from the rows of fit: shift and power."""
            with tempfile.TemporaryDirectory(prefix="metriclab-") as folder:
                table, new, model, out = (os.path.join(folder, name) for name in ("table.csv", "new.csv", "model.json", "out.json"))
                header = [self.model_.label, *self.model_.features]
                _write(table, header, self._rows, self._codes)
                _write(new, header, self._rows[:1], self._codes[:1])
                with open(model, "wb") as f:
                    f.write(self._saved)
                self._run(["predict", new, f"--train={table}", f"--model={model}", f"--k={k}", "--probabilities", "--json", f"--out={out}"])
                with open(out, encoding="utf-8") as answer:
                    learned = json.load(answer)["calibration"]
            return learned["shift"], learned["power"]

        def _run(self, args: "list[str]") -> None:
            limit = [] if self.max_memory is None else [f"--max-memory={self.max_memory}"]
            done = subprocess.run([_command(self.command), *args, *limit], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode != 0:
                said = done.stderr.decode("utf-8", "replace").strip()
                raise CommandError(said or f"metriclab {args[0]} has ended with exit code {done.returncode}")

        def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
            """Writes the model for load, and for metriclab transform, evaluate and plot."""
            check_is_fitted(self)
            path = os.fspath(file)
            whole = f"{path}.{os.getpid()}.tmp"  # replaces the file in one step, so that it is never half there
            try:
                with open(whole, "xb") as f:
                    f.write(self._saved)
                os.replace(whole, path)
            except BaseException:
                if os.path.exists(whole):
                    os.unlink(whole)
                raise

        def _more_tags(self) -> "dict[str, Any]":  # before scikit-learn 1.6
            return {"allow_nan": self.impute}

        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = self.impute
            return tags
