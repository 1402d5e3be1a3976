"""How true probabilities are: the table of docs/guides/tables-more.md, of data sets that come with scikit-learn.

    go build -o metriclab ./cmd/metriclab && METRICLAB=./metriclab python3 scripts/calibration.py

Ten stratified divisions, 70 % to learn from, k = 5, features standardised. CalibratedClassifierCV learns the metric
anew within each of its five folds, as metriclab does. Means over divisions.
"""

import pathlib
import sys
import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import pymetriclab

K, BINS = 5, 15


def measures(p, y):
    """Log loss, of probabilities of 1e-15 or more; Brier score, summed over classes; expected calibration error: the mean over
    rows of |share of right ones − mean probability| of the class of most probability, the first of equals, in 15 bins of equal
    width, a limit in the upper bin; and the share of wrong rows."""
    rows = np.arange(len(y))
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    gaps = np.bincount(np.minimum((top * BINS).astype(int), BINS - 1), right - top, BINS)
    brier = ((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1).mean()
    return -np.log(np.maximum(p[rows, y], 1e-15)).mean(), brier, np.abs(gaps).sum() / len(y), 1 - right.mean()


def answers(learner):
    def raw():
        return make_pipeline(pymetriclab.MetricLab(learner), KNeighborsClassifier(K))

    yield "KNeighborsClassifier", raw()
    yield "metriclab", pymetriclab.MetricLab(learner, n_neighbors=K)
    for method in ("sigmoid", "isotonic"):
        yield f"CalibratedClassifierCV, {method}", CalibratedClassifierCV(raw(), method=method, cv=5)


def divided(x, y, learner, divisions):
    """The measures of each way in each division."""
    found = {}
    for train, test in StratifiedShuffleSplit(divisions, test_size=0.3, random_state=0).split(x, y):
        for name, estimator in answers(learner):
            found.setdefault(name, []).append(measures(estimator.fit(x[train], y[train]).predict_proba(x[test]), y[test]))
    return found


def main():
    warnings.simplefilter("ignore")
    print("| data | metric | probabilities | log loss | Brier | ECE | error |\n|---|---|---|---|---|---|---|")
    for data, load in (("digits", load_digits), ("breast cancer", load_breast_cancer)):
        x, y = load(return_X_y=True)
        for learner in ("euclidean", "fda"):
            for name, values in divided(x, y, learner, 10).items():
                loss, brier, ece, wrong = np.mean(values, axis=0)
                print(f"| {data} | {learner} | {name} | {loss:.3f} | {brier:.3f} | {ece:.3f} | {100 * wrong:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
