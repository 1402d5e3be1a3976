"""What saved files hold: metrics, models, learned kernels, similarities."""

from __future__ import annotations

import math
import os
import re
from typing import Any, BinaryIO, Callable, Iterator, Optional, Union, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._files import KINDS, Array, FormatError, MetricLabError, _blanks, _Envelope, _Fields, _is_whole, _no_surrogates, _read, _value

TIE = 1e-12  # squared distances within this share of the nearest of them are equal to predict
_BLOCK = 1 << 22  # numbers of a block of distances
_MAX_DIM = 2**31 - 1
_MAX_PASSES = 10**9


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

    @property
    def factor(self) -> Array:
        """L, r x dim: the learned distance of x and y is the length of L(x - y)."""
        raise MetricLabError("this distance is between images under a kernel, or of vectors divided by their lengths: there is no matrix")

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
    def factor(self) -> Array:
        return self.L

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
    def factor(self) -> Array:
        return np.eye(self.dim) + self.basis.T @ (self.root - np.eye(len(self.root))) @ self.basis

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
        needs: "dict[str, list[str]]" = {"linear": [], "polynomial": ["degree", "offset"], "gaussian": ["gamma"]}
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

    @property
    def factor(self) -> Array:
        return self.metric.factor / self._scale if len(self._scale) else self.metric.factor

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
            X = X[self.features]  # type: ignore[index]
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

    @property
    def factor(self) -> Array:
        return super().factor if self.unit else self.metric.factor * self.scale

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

    dim is the number of coordinates that the learner fitted, 0 of a kernel; kernel is K, n x n; the squared distance of i and j is K_ii + K_jj - 2 K_ij. There is no map
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
        self.dim = s.whole("dim", 1, n) if "dim" in s else 0
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
    resolvent = s.floats("resolvent", None) if "resolvent" in s else np.empty(0)
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
KINDS.update({
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
})


def load(file: Union[str, "os.PathLike[str]", BinaryIO], *, max_bytes: int = 4 << 30) -> "Union[Metric, Objects]":
    """Reads a model, a metric, a projection or a learner of pairs that metriclab saved.

    What metriclab fit --triplets wrote is an Objects, all else a Metric.

    file is a path or a binary file. Of more than max_bytes nothing is parsed. The checksum, the
    version, all sizes and all numbers are checked: FormatError tells what is wrong.
    """
    if hasattr(file, "read"):
        raw, name = _read(cast(BinaryIO, file), max_bytes), getattr(file, "name", "the file")
    else:
        with open(file, "rb") as f:
            raw, name = _read(f, max_bytes), os.fspath(file)
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
