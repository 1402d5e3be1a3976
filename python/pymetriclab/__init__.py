"""metriclab from Python: fit it in a Pipeline, read what it has learned, teach it online.

    from pymetriclab import ITML, Learner, load

    itml = ITML(gamma=1.0).fit(X, y)               # a class for each learner, for scikit-learn
    Z = itml.transform(X)                          # Euclidean distances of rows of Z are the learned ones

    model = load("wine.json")                      # written by: metriclab fit wine.csv ... --out wine.json
    D = model.distances(X, Y)                      # of each row of X to each row of Y

    with Learner("pola", save="pola.json") as learner:             # metriclab learn
        answer = learner.pair([0, 1], [2, 1], label=-1)

It needs Python 3.9 or newer and NumPy; MetricLab and the classes of learners need scikit-learn. load
needs no metriclab: docs/format.md specifies the files. All else runs the command, which is the argument
command, or the environment variable METRICLAB, or the one in this package, or metriclab on the PATH.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._files import CommandError, FormatError, MetricLabError, RefusedLine
from ._learner import Learner
from ._models import Metric, Model, Objects, Vectors, load

if TYPE_CHECKING:
    from ._estimators import MetricLab as MetricLab
    from .learners import *  # noqa: F403

__all__ = ["CommandError", "FormatError", "Learner", "Metric", "MetricLab", "MetricLabError", "Model", "Objects", "RefusedLine", "Vectors", "load"]


def __getattr__(name: str) -> Any:
    """What needs scikit-learn is imported when it is asked for."""
    if not name[:1].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(__name__ + (".learners" if name != "MetricLab" else "._estimators")), name)
    except ModuleNotFoundError as e:
        raise ImportError(f"{name} needs scikit-learn: apt-get install python3-sklearn, or pip install scikit-learn") from e
