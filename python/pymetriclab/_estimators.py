"""What the classes of learners share, and MetricLab: estimators for scikit-learn that run the command."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._command import _params, _run
from ._files import Array, MetricLabError
from ._models import Metric, Model, Objects, load

if TYPE_CHECKING:
    from typing_extensions import Self

_UNKNOWN = "%(name)s: no classes are known: want fit of rows and their classes"


def _validated(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
    """scikit-learn's own check, whose home and words changed with version 1.6. Missing cells are allowed if they are imputed."""
    missing = getattr(estimator, "impute", False)
    options: "dict[str, Any]" = {"y": y, "dtype": np.float64, "order": "C", "reset": reset}
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:
        return estimator._validate_data(X, **options, force_all_finite="allow-nan" if missing else True)
    return validate_data(estimator, X, **options, ensure_all_finite="allow-nan" if missing else True)


def _csv(header: "Sequence[str]", X: Array, codes: Optional[NDArray[Any]]) -> bytes:
    """A table: a code, if there are codes, and features in each row. repr is the shortest text that reads back as the same number."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in header]
    rows = (",".join("" if v != v else repr(v) for v in row) for row in X.tolist())
    if codes is not None:
        rows = (f"{code},{row}" for code, row in zip(codes.tolist(), rows))
    return ("\n".join([",".join(quoted), *rows]) + "\n").encode()


def _directory() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="metriclab-")


def _bytes(path: str) -> bytes:
    with open(path, "rb") as f:
        return f.read()


class _Learned(BaseEstimator):
    """What all share: a run of the command, and the file that it writes."""

    _learner: str
    _own: "tuple[str, ...]" = ()  # parameters that are the learner's
    n_jobs: Optional[int]
    verbose: bool
    max_memory: Optional[str]
    command: Optional[str]

    def _recipe(self) -> "list[str]":
        """The flags of the learner. Parameters at their defaults are left out, since some go with others only."""
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        given = {name.replace("_", "-"): getattr(self, name) for name in self._own if getattr(self, name) != defaults.get(name)}
        return [f"--learner={self._learner}", *_params(given), *([] if "passes" in self._own else self._given(passes="passes"))]

    def _given(self, **flags: str) -> "list[str]":
        """The flags whose parameters are given."""
        return [f"--{flag}={value}" for flag, name in flags.items() for value in [getattr(self, name, None)] if value is not None]

    def _call(self, *args: str, given: "bytes | NDArray[Any]" = b"") -> bytes:
        return _run([*args, *self._given(**{"max-memory": "max_memory"})], given, command=self.command, n_jobs=self.n_jobs, verbose=self.verbose)

    def _fit(self, *flags: str, given: "bytes | NDArray[Any]" = b"", **arrays: NDArray[Any]) -> None:
        """Runs metriclab fit. given is standard input, and each of arrays a file whose flag is its name."""
        with _directory() as folder:
            files = [f"--{name}={os.path.join(folder, name)}.npy" for name in arrays]
            for name, array in arrays.items():
                np.save(os.path.join(folder, name), array)
            out = os.path.join(folder, "model.json")
            self._call("fit", *flags, *files, *self._recipe(), f"--out={out}", given=given)
            self._saved = _bytes(out)
            self.model_ = load(out)

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


class _RowLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Learned):
    """A learner of a distance of rows. After fit: model_ (a Metric), components_ (L), n_features_in_."""

    standardise: bool
    impute: bool
    model_: Metric

    def _fit_rows(self, X: Array, codes: Optional[NDArray[Any]], **arrays: NDArray[Any]) -> None:
        """metriclab fit of a table. Names of features and missing cells need text; other rows go as they lie in memory."""
        flags = [] if self.standardise else ["--no-standardise"]
        if codes is not None:
            flags += self._given(pairs="n_constraints")
            state: Optional[int] = getattr(self, "random_state", None)
            flags += [] if state is None else [f"--seed={state + 1}"]
        names = [str(n).strip() for n in getattr(self, "feature_names_in_", ())]
        if self.impute:
            flags.append("--impute=mean")
        if len({*names} - {""}) < X.shape[1]:  # there are none, or none that tell columns apart
            names = [f"x{j + 1}" for j in range(X.shape[1])] if self.impute else []
        if not names:
            self._fit("-", "--format=npy", *flags, given=X, **arrays, **({} if codes is None else {"labels": codes}))
        else:
            label = "class"
            while label in names:
                label += "_"
            if codes is not None:
                flags.append(f"--label={label}")
                names.insert(0, label)
            self._fit("-", "--header=yes", *flags, given=_csv(names, X, codes), **arrays)
        self._n_features_out = self.model_.width or 0

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates of the rows of X, in which Euclidean distances are the learned ones."""
        check_is_fitted(self)
        return self.model_.transform(_validated(self, X, reset=False))

    @property
    def components_(self) -> Array:
        """L: the learned distance of x and y is the length of L(x − y). There is none under a kernel."""
        return self.model_.factor

    def get_mahalanobis_matrix(self) -> Array:
        """M = L'L: the squared distance of x and y is (x − y)'M(x − y)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """The learned distance of each pair: pairs is n × 2 × features."""
        check_is_fitted(self)
        p = np.asarray(pairs)
        if p.ndim != 3 or p.shape[1] != 2:
            raise MetricLabError(f"pairs has the shape {p.shape}, want n x 2 x features")
        x, y = (_validated(self, p[:, i], reset=False) for i in (0, 1))
        if self.model_.width is None:
            return np.array([self.model_.distances(a[None], b[None])[0, 0] for a, b in zip(x, y)])
        d = self.model_.transform(x) - self.model_.transform(y)
        return cast(Array, np.sqrt(np.einsum("ij,ij->i", d, d)))

    def pair_score(self, pairs: ArrayLike) -> Array:
        """The opposite of pair_distance: the larger, the more alike."""
        return -self.pair_distance(pairs)

    def _more_tags(self) -> "dict[str, Any]":  # before scikit-learn 1.6
        return {"allow_nan": self.impute}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.impute
        return tags


class _DataLearner(_RowLearner):
    """A learner of rows alone."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learns from the rows of X, n × features. y is not used."""
        self._fit_rows(_validated(self, X, reset=True), None)
        return self


class _ClassLearner(ClassifierMixin, _RowLearner):
    """A learner of classes, and a nearest-neighbour classifier. After fit: classes_, too.

    The first predict_proba runs metriclab predict, which fits five times more; what it learns is kept until fit.
    """

    n_neighbors: int
    model_: Model

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learns from the rows of X, n × features, and their classes y."""
        return self._fit_classes(X, y)

    def _fit_classes(self, X: ArrayLike, y: Any) -> Self:
        rows, y = _validated(self, X, y, reset=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise MetricLabError("y has 1 class, want at least 2")
        self._fit_rows(rows, codes)
        self._calibrations: "dict[int, tuple[float, float]]" = {}  # by n_neighbors
        self._rows, self._codes = rows, codes
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Classes of the rows of X, by the n_neighbors nearest rows of fit."""
        check_is_fitted(self, "classes_", msg=_UNKNOWN)
        rows = _validated(self, X, reset=False)
        return cast("NDArray[Any]", self.classes_[self.model_.predict(self._rows, self._codes, rows, self.n_neighbors)])

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each of classes_ for the rows of X, len(X) x classes, as of metriclab predict --probabilities.

        It is (share + shift)**power of the votes of the n_neighbors nearest rows of fit, divided by the sum over classes.
        Rows of fit that were held out tell shift and power. predict has the most probable class.
        """
        check_is_fitted(self, "classes_", msg=_UNKNOWN)
        X = _validated(self, X, reset=False)
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
        with _directory() as folder:
            table, new, model, labels = (os.path.join(folder, name) for name in ("table", "new", "model.json", "labels.npy"))
            rows = [(table, self._rows, self._codes), (new, self._rows[:1], self._codes[:1])]
            if self.model_.header:
                flags = [new, f"--train={table}"]
                for path, x, codes in rows:
                    with open(path, "wb") as f:
                        f.write(_csv([self.model_.label, *self.model_.features], x, codes))
            else:
                flags = [new + ".npy", f"--train={table}.npy", f"--labels={labels}"]
                for path, x, codes in rows:
                    np.save(path, x)
                np.save(labels, self._codes)
            with open(model, "wb") as f:
                f.write(self._saved)
            learned = json.loads(self._call("predict", *flags, f"--model={model}", f"--k={k}", "--probabilities", "--json"))["calibration"]
        return learned["shift"], learned["power"]


class _PairLearner(_ClassLearner):
    """A learner of pairs, given or drawn from classes. After fit of pairs: threshold_, the distance up to which a pair is predicted to be similar."""

    _table = False  # whether pairs are of a table, as those of kernels
    preprocessor: Optional[ArrayLike]
    model_: Any  # a Model of rows with classes, else a Vectors

    def fit(self, X: ArrayLike, y: Optional[ArrayLike] = None, *, documents: Optional[ArrayLike] = None) -> Self:
        """Learns from one of these:

        fit(X, y)                 rows, n × features, and their classes, of which pairs are drawn
        fit(pairs, y)             n × 2 × features, and 1 for a similar pair, −1 for a dissimilar one
        fit(triplets)             n × 3 × features: the first is nearer to the second than to the third
        fit(queries, judgements, documents=documents)
                                  rows, and lines of a query, a document, both by row number, and a grade, 0 for what is not relevant;
                                  without documents these are the queries
        """
        shape, about = np.asarray(X).shape, np.asarray(y).shape
        judged = about[1:] == (3,)
        if not judged and len(shape) != 3 and (self.preprocessor is None or len(shape) != 2):
            return self._fit_classes(X, y)
        for name in ("classes_", "_rows", "_codes"):
            self.__dict__.pop(name, None)
        self._fit_known(X, y, documents if judged else None, judged)
        return self

    def _fit_known(self, X: Any, y: Any, documents: Any, judged: bool) -> None:
        """fit of pairs, triplets or judgements."""
        flags = [] if self.standardise else ["--no-standardise"]
        if judged:
            queries = _validated(self, X, reset=True)
            found = queries if documents is None else _validated(self, documents, reset=False)
            self._fit("--documents=-", *flags, given=found, queries=queries, qrels=np.asarray(y, dtype=np.float64))
        else:
            rows, tuples = self._tuples(X)
            if tuples.shape[1] == 3:
                self._fit("--vectors=-", *flags, given=rows, triplets=tuples)
            elif tuples.shape[1] != 2 or y is None or np.shape(y) != tuples.shape[:1]:
                raise MetricLabError(f"X has the shape {np.shape(X)} and y {np.shape(y)}, want pairs, n x 2 x features, and n labels, or triplets")
            else:
                pairs = np.column_stack([tuples, np.where(np.asarray(y) > 0, 1, -1)])
                if self._table:
                    self._fit_rows(rows, None, pairs=pairs)
                else:
                    self._fit("--vectors=-", *flags, given=rows, pairs=pairs)
        self._n_features_out = self.model_.width or 0

    def _tuples(self, X: Any) -> "tuple[Array, NDArray[Any]]":
        """Rows, and the tuples of X by row number. Equal vectors are one row."""
        if self.preprocessor is not None and np.ndim(X) == 2:
            return _validated(self, self.preprocessor, reset=True), np.asarray(X)
        n, size, d = np.shape(X)
        rows, at = np.unique(_validated(self, np.reshape(X, (n * size, d)), reset=True), axis=0, return_inverse=True)
        return rows, at.reshape(n, size)

    @property
    def threshold_(self) -> float:
        threshold = getattr(self.model_, "threshold", None)
        if threshold is None:
            raise AttributeError("threshold_: this model was not learned from pairs of vectors, and has none")
        return float(np.sqrt(threshold))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Classes of the rows of X, by the n_neighbors nearest rows of fit; of pairs, 1 for similar ones and −1 for others."""
        if np.asarray(X).ndim == 3:
            return np.where(self.pair_distance(X) <= self.threshold_, 1, -1)
        return super().predict(X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Optional[ArrayLike] = None) -> float:
        """The share of rows whose class is right; of pairs, how often a similar one is nearer than a dissimilar one (AUC)."""
        if np.asarray(X).ndim == 3:
            return float(roc_auc_score(y, self.pair_score(X), sample_weight=sample_weight))
        return float(super().score(X, y, sample_weight))


class MetricLab(_ClassLearner):
    """metriclab fit as a transformer and a nearest-neighbour classifier, by the name of a learner.

    learner       its name (see: metriclab learners)
    params        dict of the learner's parameters; those not given have their defaults
    n_neighbors   of predict and score
    pairs, passes, seed   those of metriclab fit, None for the default
    standardise   whether each feature gets mean 0 and standard deviation 1
    impute        whether NaN, a missing cell, becomes the mean of its column; else it is an error
    n_jobs        cores of the command, None for all
    verbose       whether to show what the command says
    max_memory    the limit of one object, such as "8GiB"; None for the default
    command       path of metriclab; None for METRICLAB of the environment, or the one of this package, or on the PATH

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
        n_jobs: Optional[int] = None,
        verbose: bool = False,
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
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command

    def _recipe(self) -> "list[str]":
        return [f"--learner={self.learner}", *_params(self.params), *self._given(pairs="pairs", passes="passes", seed="seed")]


class _Comparisons(_Learned):
    """A learner of a kernel or of coordinates of objects, from comparisons.

    After fit: model_ (an Objects), embedding_, a row of coordinates for each object, NaN for one in no comparison.
    """

    model_: Objects

    def fit(self, X: ArrayLike, y: Optional[ArrayLike] = None) -> Self:
        """Learns from triplets, n × 3: object a is nearer to the second than to the third. Objects have numbers from 0.

        With responses y, n numbers, that is so where they are 1, and the other way round where they are −1 or 0.
        """
        triplets = self._turned(X, y)
        self._fit("--triplets=-", given=triplets)
        z = self.model_.coordinates(self.model_.dim or 2)
        self.embedding_ = np.full((int(triplets.max()) + 1, z.shape[1]), np.nan)
        self.embedding_[[int(name) for name in self.model_.names]] = z
        return self

    @staticmethod
    def _turned(X: ArrayLike, y: Optional[ArrayLike]) -> NDArray[np.int64]:
        triplets = np.ascontiguousarray(X, dtype=np.int64)
        if triplets.ndim != 2 or triplets.shape[1] != 3 or len(triplets) == 0 or triplets.min() < 0:
            raise MetricLabError(f"X has the shape {triplets.shape}, want triplets of numbers of objects, n x 3")
        return triplets if y is None else np.where((np.asarray(y) > 0)[:, None], triplets, triplets[:, [0, 2, 1]])

    def fit_transform(self, X: ArrayLike, y: Optional[ArrayLike] = None) -> Array:
        """embedding_, after fit."""
        return cast(Array, self.fit(X, y).embedding_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """1 for each triplet whose object a is nearer to the second than to the third by the learned distances, else −1."""
        check_is_fitted(self)
        at = {int(name): i for i, name in enumerate(self.model_.names)}
        a, near, far = np.array([[at[int(i)] for i in row] for row in np.asarray(X)]).T
        d = self.model_.distances(squared=True)
        return np.where(d[a, near] < d[a, far], 1, -1)

    def score(self, X: ArrayLike, y: Optional[ArrayLike] = None) -> float:
        """The share of triplets, or of responses, that predict has right."""
        return float((self.predict(self._turned(X, y)) == 1).mean())


class _Rounds(_Learned):
    """A learner of rounds, in one pass by metriclab learn."""

    def _learn(self, lines: "list[dict[str, Any]]", *flags: str) -> "list[dict[str, Any]]":
        """The answers to the lines. The last has the state."""
        with _directory() as folder:
            out = os.path.join(folder, "learner.json")
            text = "".join(json.dumps(line) + "\n" for line in lines).encode()
            told = self._call("learn", *self._recipe(), *flags, f"--state-every={len(lines)}", f"--save={out}", given=text)
            self._saved = _bytes(out)
        return [json.loads(line) for line in told.splitlines()]


class _Similarity(_Rounds):
    """A learner of a similarity x'Wy. After fit: matrix_ (W)."""

    matrix_: Array

    def fit(self, X: ArrayLike, y: Optional[ArrayLike] = None, *, documents: Optional[ArrayLike] = None) -> Self:
        """Learns in one pass from triplets, n × 3 × features: the first is more like the second than like the third.

        fit(queries, judgements, documents=documents) learns from all triplets of a query, a document and one of a lower grade;
        judgements are lines of a query, a document, both by row number, and a grade. Without documents these are the queries.
        """
        if y is None:
            n, _, d = np.shape(X)
            rows, triplets = np.reshape(X, (n * 3, d)), np.arange(n * 3).reshape(n, 3)
        else:
            found = X if documents is None else documents
            rows, judged, at = np.vstack([X, found]), np.asarray(y), len(X)  # type: ignore[arg-type]
            triplets = np.array([(q, at + i, at + j) for q in np.unique(judged[:, 0]) for of in [judged[judged[:, 0] == q, 1:]] for i, a in of for j, b in of if a > b], dtype=int)
            if len(triplets) == 0:
                raise MetricLabError("y: no query has documents of different grades")
        with _directory() as folder:
            path = os.path.join(folder, "vectors.npy")
            np.save(path, np.asarray(rows, dtype=np.float64))
            answers = self._learn([{"a": a, "near": b, "far": c} for a, b, c in triplets.tolist()], f"--vectors={path}")
        self.matrix_ = np.array(answers[-1]["state"]["w"])
        return self

    def pair_score(self, pairs: ArrayLike) -> Array:
        """The similarity of each pair: pairs is n × 2 × features."""
        check_is_fitted(self)
        p = np.asarray(pairs, dtype=np.float64)
        return cast(Array, np.einsum("ij,jk,ik->i", p[:, 0], self.matrix_, p[:, 1]))


class _Maps(_Rounds):
    """A learner of maps of objects to few prototypes. After fit: maps_, n × objects, each predicted before its costs; losses_, their mean costs."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learns from rounds of assignment costs from 0 to 1: n × objects × prototypes. y is not used."""
        answers = self._learn([{"cost": cost} for cost in np.asarray(X, dtype=np.float64).tolist()])
        self.maps_, self.losses_ = np.array([a["map"] for a in answers]), np.array([a["loss"] for a in answers])
        return self


class _Constrained(_Learned):
    """A learner of a kernel close to a given one. After fit: kernel_."""

    def fit(self, X: ArrayLike, y: "Sequence[Mapping[str, Any]]") -> Self:
        """Learns from a kernel matrix of n objects and constraints, such as {"i": 0, "j": 1, "at_most": 1.2}: see metriclab help gram."""
        with _directory() as folder:
            gram, model, kernel = (os.path.join(folder, name) for name in ("gram.npy", "model.json", "kernel.npy"))
            np.save(gram, np.asarray(X, dtype=np.float64))
            lines = "".join(json.dumps(dict(line)) + "\n" for line in y).encode()
            self._call("fit", f"--gram={gram}", "--constraints=-", *self._recipe(), f"--out={model}", f"--kernel-out={kernel}", given=lines)
            self._saved, self.kernel_ = _bytes(model), np.load(kernel)
        return self
