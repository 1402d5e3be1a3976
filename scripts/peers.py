#!/usr/bin/env python3
"""Times metriclab beside what a Python user would take for the same work.

    python3 scripts/peers.py                    all rows, about ten minutes
    python3 scripts/peers.py --only knn         rows whose name matches a regular expression
    python3 scripts/peers.py --tiny             small data, in seconds: does the script work?
    python3 scripts/peers.py --before DIR       the times of an earlier checkout beside
    python3 scripts/peers.py --path metric_learn=DIR --path cblearn=DIR --path kmedoids=DIR
                                                peers that no registry serves: their checkouts
    python3 scripts/peers.py --markdown docs/speed/peers.md
                                                writes the table of this processor there, too
    OPENBLAS_CORETYPE=Haswell python3 scripts/peers.py --avx2
                                                both sides without AVX-512, on a processor that has it

It needs Go, NumPy and, for most rows, SciPy, scikit-learn and pandas; the rows of
metric-learn need metric-learn, those of cblearn a checkout, and that of the Rust crate kmedoids needs Cargo, which must
find num-traits. What is missing is named: "not done". On Debian:

    apt-get install --no-install-recommends python3-sklearn python3-pandas

Both sides get the same data, made here from fixed seeds, and one thread. They take turns:
ours, theirs, ours, theirs. A turn is the least CPU time (user and system) of two runs or
more, after one that does not count; of a long work it is one run. A cell shows the least and the
largest time of up to five turns. Rows that begin with "metriclab" are whole processes, which
read and write files, beside scripts/peers_user.py; in all others reading files and starting
programs count on neither side. Before a time is printed the two results are compared:
"difference" is what the column "compared" says, with its tolerance. A row whose results
differ has no times, and the exit status is 1. A time with "once" is of one run, since a turn of
all sides took most of a minute.

Products of matrices run at the speed of the BLAS that NumPy has loaded. An OpenBLAS that does
not know the processor falls back to a slow kernel: that is refused with exit status 2, unless
--any-kernel is given.
"""

from peers_bench import SCRIPTS, Bench, Different, NotDone, Short, blas, gap, insert, load, np, process, processor, refusal, sine, versions

import argparse
import collections
import datetime
import importlib
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

def images(rng, n, d):
    """Rows with variances that fall as 1/j, in directions that no axis has, around ten
    means; and their classes."""
    y = np.arange(n) % 10
    x = (rng.standard_normal((n, d)) + 2 * rng.standard_normal((10, d))[y]) / np.sqrt(1 + np.arange(d))
    return x @ np.linalg.qr(rng.standard_normal((d, d)))[0], y


def products(b):
    for n in (40,) if b.tiny else (784, 2000):
        rng = np.random.default_rng(n)
        a, c = rng.standard_normal((2, n, n))
        b.row(f"product {n} x {n}", "product", {"a": a, "b": c}, {}, [
            ("numpy.matmul", ["numpy"], lambda _: a @ c, lambda mine, theirs: (gap(theirs, mine["result"]["product"]), 1e-12, "entries")),
        ])


def eigen(b):
    n = 30 if b.tiny else 784
    a = np.random.default_rng(1).standard_normal((n, n))
    a = (a + a.T) / 2

    def check(mine, theirs):
        v, values = mine["result"]["vectors"], mine["result"]["values"].ravel()
        residual = np.abs(a @ v - v * values).max()
        orthogonal = np.abs(v.T @ v - np.eye(n)).max()
        size = np.abs(theirs[0]).max()
        return max(gap(theirs[0], values), residual / size, orthogonal), 1e-14 * n, "values, residual, orthogonality"

    b.row(f"eigenvectors, symmetric {n} x {n}", "eigen", {"a": a}, {}, [("numpy.linalg.eigh", ["numpy"], lambda _: np.linalg.eigh(a), check)])


def knn(b):
    def search(x, q, algorithm):
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=5, algorithm=algorithm).fit(x).kneighbors(q, return_distance=False)

    def check(x, q):
        def compare(mine, index):
            exact = ((x[index] - q[:, None, :]) ** 2).sum(2)
            return gap(exact, mine["result"]["sqdist"]), 1e-10, "squared distances of the neighbours"

        return compare

    for n, d, queries, algorithms in ((300, 20, 50, ["brute"]), (300, 3, 50, ["kd_tree", "ball_tree"])) if b.tiny else (
        (12000, 784, 2000, ["brute"]),
        (100000, 10, 2000, ["brute", "kd_tree", "ball_tree"]),
    ):
        rng = np.random.default_rng(d)
        x, q = rng.standard_normal((n, d)), rng.standard_normal((queries, d))
        b.row(f"knn, {queries} x {n} x {d}, k = 5", "knn", {"x": x, "q": q}, {"k": 5}, [
            (f"NearestNeighbors({a!r})", ["sklearn"], lambda _, a=a: search(x, q, a), check(x, q)) for a in algorithms
        ])


def pca(b):
    n, d, top = (200, 30, 5) if b.tiny else (10000, 784, 50)
    x, _ = images(np.random.default_rng(2), n, d)
    total = ((x - x.mean(0)) ** 2).sum()

    def captured(directions):
        return (((x - x.mean(0)) @ directions) ** 2).sum() / total

    def solver(k, name):
        def run(_):
            from sklearn.decomposition import PCA

            return PCA(k, svd_solver=name, random_state=0).fit(x).components_.T

        return run

    def covariance(_):
        z = x - x.mean(0)
        return np.linalg.eigh(z.T @ z)[1]

    def compare(k, tolerance):
        def check(mine, theirs):
            c = mine["result"]["components"]
            c = c if c.shape[0] == d else c.T
            return abs(captured(c) - captured(theirs[:, -k:])), tolerance, "share of the variance kept"

        return check

    b.row(f"pca, {n} x {d}, {top} components", "pca", {"x": x}, {"k": top}, [
        ("PCA('randomized')", ["sklearn"], solver(top, "randomized"), compare(top, 1e-2)),
        ("PCA('arpack')", ["sklearn"], solver(top, "arpack"), compare(top, 1e-10)),
        ("numpy: covariance, eigh", ["numpy"], covariance, compare(top, 1e-10)),
    ])

    def full(mine, theirs):
        variances = np.sort((((x - x.mean(0)) @ theirs) ** 2).sum(0))[::-1]
        ours = mine["result"]["variances"].ravel()
        return gap(variances / variances[0], ours / ours[0]), 1e-10, "variances"

    b.row(f"pca, {n} x {d}, all components", "pca", {"x": x}, {"k": d}, [
        ("PCA('full')", ["sklearn"], solver(d, "full"), full),
        ("numpy: covariance, eigh", ["numpy"], covariance, full),
    ])


def fda(b):
    n, d = (200, 20) if b.tiny else (10000, 784)
    x, y = images(np.random.default_rng(3), n, d)

    def run(solver):
        def fit(_):
            from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

            return LinearDiscriminantAnalysis(solver=solver).fit(x, y).scalings_[:, :9]

        return fit

    def check(mine, theirs):
        v = mine["result"]["directions"]
        return sine(v if v.shape[0] == d else v.T, theirs), 1e-8, "sine of the angle of the spaces"

    b.row(f"fda, {n} x {d}, 10 classes", "fda", {"x": x}, {"classes": y.tolist()}, [
        (f"LinearDiscriminantAnalysis({s!r})", ["sklearn", "scipy"], run(s), check) for s in ("svd", "eigen")
    ])


class Comparisons:
    """F(K) = sum of the losses of the comparisons (a is nearer to b than to c) + tau trace K, and
    its accelerated projected gradient descent: momentum that starts anew where it leads uphill
    or against the gradient, a step that backtracks and grows, a projection by eigh."""

    MU = 0.05  # of CKL
    # How far above ours, relatively, an objective counts as reached. To the corners of the hinge
    # this descent comes no nearer in thousands of iterations.
    NEAR = {"gnmds": 1e-2, "ste": 1e-6, "ckl": 1e-6}
    WIDTH = 0.01  # in which the hinge of GNMDS is rounded off, since it has a corner

    def __init__(self, triplets, n, loss, tau):
        self.a, self.b, self.c = triplets.T
        self.n, self.loss, self.tau = n, loss, tau
        self.ab, self.ac = self.a * n + self.b, self.a * n + self.c

    def distances(self, k):
        d, flat = np.diag(k), k.ravel()
        return d[self.a] + d[self.b] - 2 * flat[self.ab], d[self.a] + d[self.c] - 2 * flat[self.ac]

    def losses(self, near, far, smooth=True):
        """The sum of the losses, and its derivatives by the two squared distances."""
        if self.loss == "ste":
            d = near - far
            e = np.exp(-np.abs(d))
            w = np.where(d > 0, 1, e) / (1 + e)
            return (np.log1p(e) + np.maximum(d, 0)).sum(), w, -w
        if self.loss == "gnmds":
            d = near - far + 1
            if not smooth:
                return np.maximum(d, 0).sum(), None, None
            w = np.clip(d / self.WIDTH, 0, 1)
            return (w * d - self.WIDTH / 2 * w * w).sum(), w, -w
        p = self.MU + far
        q = p + self.MU + near
        return np.log(q / p).sum(), 1 / q, 1 / q - 1 / p

    def objective(self, k):
        return self.losses(*self.distances(k), smooth=False)[0] + self.tau * np.trace(k)

    def gradient(self, near, far):
        n = self.n
        g = (np.bincount(self.ab, -near, n * n) + np.bincount(self.ac, -far, n * n)).reshape(n, n)
        g = g + g.T
        g[np.diag_indices(n)] = self.tau + np.bincount(self.a, near + far, n) + np.bincount(self.b, near, n) + np.bincount(self.c, far, n)
        return g

    @staticmethod
    def project(m):
        values, vectors = np.linalg.eigh(m)
        half = vectors[:, values > 0] * np.sqrt(values[values > 0])
        return half @ half.T

    def descend(self, target, cap):
        """The first kernel with an objective of at most target, or that after cap iterations."""
        k = y = np.eye(self.n)
        smooth = self.losses(*self.distances(k))[0] + self.tau * self.n
        momentum, step = 1.0, 1 / np.bincount(np.r_[self.a, self.a, self.b, self.c]).max()
        for i in range(cap):
            near, far = self.distances(y)
            value, wn, wf = self.losses(near, far)
            g = self.gradient(wn, wf)
            step *= 2 if i < 5 else 1.1
            while True:
                x = self.project(y - step * g)
                xn, xf = self.distances(x)
                new, move = self.losses(xn, xf)[0], x - y
                if new <= value + wn @ (xn - near) + wf @ (xf - far) + (move * move).sum() / (2 * step) + 1e-12 * abs(value):
                    break
                step *= 0.6
            after = new + self.tau * np.trace(x)
            if after > smooth:
                y, momentum = k, 1.0
                continue
            if ((y - x) * (x - k)).sum() > 0:
                y, momentum = x, 1.0
            else:
                more = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
                y = x + (momentum - 1) / more * (x - k)
                momentum = more
                if self.loss == "ckl" and min(d.min() for d in self.distances(y)) < 0:
                    y, momentum = x, 1.0  # squared distances must not be negative
            k, smooth = x, after
            if self.objective(k) <= target:
                return k
        return k


def batch(b):
    for n, m in ((12, 150),) if b.tiny else ((100, 10000), (400, 10000)):
        rng = np.random.default_rng(n)
        t = comparisons(rng, n, m)
        for loss in ("ste", "ckl") if n == 400 else ("gnmds", "ste", "ckl"):
            f = Comparisons(t, n, loss, 1.0)

            def run(mine, f=f):
                return f.descend(mine["objective"] * (1 + f.NEAR[f.loss]), 3000)

            def check(mine, theirs, f=f):
                if gap(np.array([f.objective(mine["result"]["kernel"])]), np.array([mine["objective"]])) > 1e-9:
                    raise Different("our kernel has another objective than it says")
                above = f.objective(theirs) / mine["objective"] - 1
                if above > f.NEAR[f.loss]:
                    raise Short(f"objective {above:.1e} above ours ({mine['status']}, {mine['iterations']} iterations)")
                return max(above, 0), f.NEAR[f.loss], f"objective above ours ({mine['status']}, {mine['iterations']} iterations)"

            b.row(f"{loss}, {n} objects, {m} comparisons", "batch", {"triplets": t}, {"n": n, "loss": loss, "tau": 1.0}, [
                ("numpy, accelerated, same objective", ["numpy"], run, check),
            ])


def linked(rng, y):
    """200 similar and 200 dissimilar pairs of rows of the classes y, and a random sample of pairs."""
    i, j = rng.integers(0, len(y), (2, 4000))
    same = y[i] == y[j]
    similar, other = np.flatnonzero(same & (i != j))[:200], np.flatnonzero(~same)[:200]
    order = np.r_[similar, other]  # metric-learn takes all similar pairs first
    return np.c_[i[order], j[order], np.where(same[order], 1, -1)], i, j


def coordinates(b):
    """Coordinates in the plane, fitted to noisy comparisons by both sides from as many starts, of which each keeps its best."""
    n, m, starts = (10, 200, 2) if b.tiny else (100, 5000, 10)
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, 2))
    t, held = comparisons(rng, n, m, x), comparisons(rng, n, 4 * m, x)
    wrong = rng.random(m) < 0.1
    t[wrong] = t[wrong][:, [0, 2, 1]]
    margin, mu, worse = 0.1, 0.05, 0.1 if b.tiny else 0.005  # the margin is the default of cblearn

    def squares(z, of):
        return ((z[of[:, 0]] - z[of[:, 1]]) ** 2).sum(1), ((z[of[:, 0]] - z[of[:, 2]]) ** 2).sum(1)

    def error(z):
        near, far = squares(z, held)
        return float((near >= far).mean())

    losses = {
        "soe": lambda near, far: np.maximum(0, np.sqrt(near) + margin - np.sqrt(far)) ** 2,
        "ste": lambda near, far: np.logaddexp(0, near - far),
        "tste": lambda near, far: np.logaddexp(0, np.log1p(near) - np.log1p(far)),  # one degree of freedom
        "ckl": lambda near, far: np.log((2 * mu + near + far) / (mu + far)),
    }
    for loss, name in (("soe", "SOE"), ("ste", "STE"), ("tste", "TSTE"), ("ckl", "CKL")):

        def objective(z, f=losses[loss]):
            return float(f(*squares(z, t)).sum())

        def run(_, name=name, objective=objective):
            from cblearn import embedding

            learner, best = getattr(embedding, name), None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if name == "SOE":
                    return learner(2, margin=margin, n_init=starts, random_state=1).fit(t, n_objects=n).embedding_
                for seed in range(starts):
                    more = {"mu": mu} if name == "CKL" else {}
                    z = learner(2, random_state=seed, **more).fit(t, n_objects=n).embedding_
                    best = z if best is None or objective(z) < objective(best) else best
            return best

        def check(mine, theirs, objective=objective):
            z = mine["result"]["x"]
            if abs(objective(z) / mine["objective"] - 1) > 1e-9:
                raise Different("our coordinates have another objective than it says")
            ours, other = error(z), error(theirs)
            both = f"held-out error {100 * ours:.2f} %, theirs {100 * other:.2f} %"
            if ours > other + worse:
                raise Different(both)
            above = mine["objective"] / objective(theirs) - 1
            if above < -1e-2:
                raise Short(f"objective {-above / (1 + above):.1%} above ours; {both}")
            return max(above, 0), 1e-3, f"objective above theirs; {both}"

        b.row(f"{loss}, {n} objects, 2 dimensions, {m} comparisons", "coordinates", {"triplets": t}, {"n": n, "k": 2, "loss": loss, "margin": margin, "starts": starts}, [
            ("cblearn", ["cblearn"], run, check),
        ])


def itml(b):
    cycles = 10
    for d in (4,) if b.tiny else (13, 64, 784):
        rng = np.random.default_rng(d)
        x, y = images(rng, 300, d)
        links, i, j = linked(rng, y)
        sq = ((x[i] - x[j]) ** 2).sum(1)[i != j]
        bounds = np.percentile(sq, (5, 95))

        def run(_):
            from metric_learn import ITML

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = ITML(gamma=1.0, max_iter=cycles, tol=0, prior="identity")
                return fit.fit(x[links[:, :2]], links[:, 2], bounds=bounds.copy()).get_mahalanobis_matrix()

        b.row(f"itml, {len(links)} links, d = {d}, {cycles} cycles", "itml", {"x": x, "links": links}, {"upper": bounds[0], "lower": bounds[1], "cycles": cycles, "tol": 1e-300}, [
            ("metric-learn", ["metric_learn"], run, lambda mine, theirs: (gap(theirs, mine["result"]["m"]), 1e-8, "entries of the matrix")),
        ])


def mmc(b):
    """Not the diagonal form: metric-learn adds the logarithm that Xing et al. subtract, and ends with NaN."""
    for d in (4,) if b.tiny else (13, 30):
        rng = np.random.default_rng(d)
        x, y = images(rng, 300, d)
        links, _, _ = linked(rng, y)
        name = f"mmc, {len(links)} links, d = {d}"
        if not b.wanted(name) or not b.has(["metric_learn"]):
            continue
        from metric_learn import MMC

        v, similar = x[links[:, 0]] - x[links[:, 1]], links[:, 2] > 0

        def objective(m):
            """The sum of the distances of dissimilar pairs, at a scale at which the squares of similar ones sum to 1."""
            sq = np.einsum("ij,jk,ik->i", v, m, v)
            return np.sqrt(np.maximum(sq[~similar], 0)).sum() / np.sqrt(sq[similar].sum())

        def run(_, **more):
            return MMC(**more).fit(x[links[:, :2]], links[:, 2]).get_mahalanobis_matrix()

        def verify(mine):
            if gap(np.array([objective(mine["result"]["m"])]), np.array([mine["objective"]])) > 1e-8:
                raise Different("our metric has another objective than it says")

        def same_objective(mine, theirs):
            verify(mine)
            return max(objective(theirs) / mine["objective"] - 1, 0), 1e-9, f"our objective below theirs ({mine['iterations']} iterations)"

        data = {"x": x, "links": links}
        b.row(name + ", to metric-learn's end", "mmc", data, {"target": objective(run(None))}, [("metric-learn", [], run, same_objective)])

        most = 1000  # updates, ten times their default

        def longer(_):
            return run(None, max_iter=most, tol=1e-9)

        def below(mine, theirs):
            verify(mine)
            below = 1 - objective(theirs) / mine["objective"]
            if below < -1e-6:
                raise Different(f"our objective is {-below:.1e} below theirs")
            if below > 1e-6:
                raise Short(f"after {most} updates its objective is {100 * below:.3f} % below ours")
            return max(below, 0), 1e-6, "objective below ours"

        b.row(name + ", to our end", "mmc", data, {}, [("metric-learn", [], longer, below)])


def lmnn(b):
    n, d, k = (60, 4, 2) if b.tiny else (900, 64, 3)
    x, y = images(np.random.default_rng(5), n, d)
    name = f"lmnn, {n} x {d}, 10 classes"
    if not b.wanted(name) or not b.has(["metric_learn"]):
        return
    from metric_learn import LMNN

    sq = ((x[:, None] - x) ** 2).sum(2)
    sq[np.diag_indices(n)] = np.inf
    same = y[:, None] == y
    targets = np.argsort(np.where(same, sq, np.inf), axis=1, kind="stable")[:, :k]

    def objective(m):
        g = x @ m @ x.T
        learned = np.diag(g)[:, None] + np.diag(g) - 2 * g
        pull = np.take_along_axis(learned, targets, 1)
        push = sum(np.maximum(1 + pull[:, [t]] - learned, 0)[~same].sum() for t in range(k))
        return 0.5 * pull.sum() + 0.5 * push

    def run(_, **more):
        return LMNN(n_neighbors=k, init="identity", **more).fit(x, y).get_mahalanobis_matrix()

    def verify(mine):
        if gap(np.array([objective(mine["result"]["m"])]), np.array([mine["objective"]])) > 1e-8:
            raise Different("our metric has another objective than it says")

    def same_objective(mine, theirs):
        verify(mine)
        return max(mine["objective"] / objective(theirs) - 1, 0), 1e-9, f"our objective above theirs ({mine['iterations']} iterations)"

    params = {"classes": y.tolist(), "k": k}
    b.row(name + ", to metric-learn's end", "lmnn", {"x": x}, {**params, "target": objective(run(None))}, [("metric-learn", [], run, same_objective)])

    most = 100 if b.tiny else 3000  # iterations, thrice their default

    def longer(_):
        return run(None, max_iter=most, convergence_tol=-1)

    def above(mine, theirs):
        verify(mine)
        above = objective(theirs) / mine["objective"] - 1
        if above < -1e-3:
            raise Different(f"our objective is {-above:.1e} above theirs")
        if above > 1e-3:
            raise Short(f"after {most} iterations its objective is {100 * above:.1f} % above ours")
        return max(above, 0), 1e-3, "objective above ours"

    b.row(name + ", to our end", "lmnn", {"x": x}, params, [("metric-learn", [], longer, above)])


def nca(b):
    n = 60 if b.tiny else 1797
    for peer, module in (("scikit-learn", "sklearn.neighbors"), ("metric-learn", "metric_learn")):
        name = f"nca, {n} x 64 digits, 10 classes, to {peer}'s end"
        if not b.wanted(name) or not b.has(["sklearn", module.partition(".")[0]]):
            continue
        from sklearn.datasets import load_digits

        x, y = (a[:n] for a in load_digits(return_X_y=True))
        same = y[:, None] == y

        def shares(m):
            g = x @ m @ x.T
            d = np.diag(g)[:, None] + np.diag(g) - 2 * g
            d[np.diag_indices(n)] = np.inf
            e = np.exp(d.min(1)[:, None] - d)
            return (e * same).sum(1) / e.sum(1)

        # Both begin at the multiple of the Euclidean distance where ours does, by the same sample.
        sample, scale = np.argsort(y, kind="stable")[:: 1 + (n - 1) // 256], 1 / np.linalg.norm(x - x.mean(0), axis=1).max()
        while np.log(shares((2 * scale) ** 2 * np.eye(64))[sample]).sum() > np.log(shares(scale**2 * np.eye(64))[sample]).sum():
            scale *= 2

        def run(_, module=module, scale=scale):
            library = importlib.import_module(module)
            learner = getattr(library, "NCA", None) or library.NeighborhoodComponentsAnalysis
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                l = learner(init=scale * np.eye(64)).fit(x, y).components_
            return l.T @ l

        def check(mine, theirs):
            if gap(np.array([shares(mine["result"]["m"]).sum()]), np.array([mine["objective"]])) > 1e-8:
                raise Different("our metric has another objective than it says")
            return max(1 - mine["objective"] / shares(theirs).sum(), 0), 1e-9, f"our objective below theirs ({mine['iterations']} iterations)"

        b.row(name, "nca", {"x": x}, {"classes": y.tolist(), "target": shares(run(None)).sum()}, [(peer, [], run, check)])


def smallest(a):
    """a without its smallest eigenvalue, if that is negative."""
    from scipy.linalg import eigh

    value, vector = eigh(a, subset_by_index=[0, 0])
    return a - value[0] * np.outer(vector, vector) if value[0] < 0 else a


def pola(b):
    for d, m in ((6, 40),) if b.tiny else ((64, 1000), (400, 500)):
        rng = np.random.default_rng(d)
        x, y = images(rng, 400, d)
        x /= np.linalg.norm(x, axis=1)[:, None]
        i, j = rng.integers(0, 400, (2, 20 * m))
        similar, other = np.flatnonzero((y[i] == y[j]) & (i != j))[: m // 2], np.flatnonzero(y[i] != y[j])[: m // 2]
        order = rng.permutation(np.r_[similar, other])
        left, right, label = x[i[order]], x[j[order]], np.where(y[i] == y[j], 1, -1)[order]

        def run(_, left=left, right=right, label=label, d=d):
            a, b = np.zeros((d, d)), 1.0
            for v, s in zip(left - right, label):
                loss = max(0.0, s * (v @ a @ v - b) + 1)
                if loss > 0:
                    step = s * loss / ((v @ v) ** 2 + 1)
                    a = a - step * np.outer(v, v)
                    b = max(1.0, b + step)
                    if s > 0:
                        a = smallest(a)
            return a

        b.row(f"pola, {len(order)} pairs, d = {d}", "pola", {"x": left, "y": right}, {"classes": label.tolist()}, [
            ("numpy, scipy.linalg.eigh of one", ["scipy"], run, lambda mine, theirs: (gap(theirs, mine["result"]["m"]), 1e-8, "entries of the matrix")),
        ])


def comparisons(rng, n, m, x=None):
    """m comparisons (a, near, far) of n points of the plane, new ones unless they are given."""
    x = rng.standard_normal((n, 2)) if x is None else x
    t = rng.integers(0, n, (3 * m, 3))
    t = t[(t[:, 0] != t[:, 1]) & (t[:, 0] != t[:, 2]) & (t[:, 1] != t[:, 2])][:m]
    near, far = ((x[t[:, 0]] - x[t[:, 1]]) ** 2).sum(1), ((x[t[:, 0]] - x[t[:, 2]]) ** 2).sum(1)
    t[near > far] = t[near > far][:, [0, 2, 1]]
    return t


def erkle(b):
    for n, m in ((8, 60),) if b.tiny else ((100, 3000), (300, 2000)):
        t = comparisons(np.random.default_rng(n), n, m)

        def run(_, n=n, t=t):
            k = np.eye(n)
            for a, near, far in t:
                d = k[near, near] - 2 * k[a, near] - k[far, far] + 2 * k[a, far]
                if d + 1 > 0:
                    step = (d + 1) / 10  # Eqs. 4.10 and 4.18
                    k = k.copy()
                    for i, j, g in ((a, near, -2), (near, a, -2), (a, far, 2), (far, a, 2), (near, near, 1), (far, far, -1)):
                        k[i, j] -= step * g
                    k = smallest(k)
            return k

        b.row(f"erkle, {m} comparisons of {n} objects", "erkle", {"triplets": t}, {"n": n}, [
            ("numpy, scipy.linalg.eigh of one", ["scipy"], run, lambda mine, theirs: (gap(theirs, mine["result"]["kernel"]), 1e-7, "entries of the kernel")),
        ])


def rmp(b):
    rate = 0.05

    def costs(rng, rounds, a, p):
        good = rng.integers(0, p, (a, 1)) % 7 == np.arange(p) % 7
        return [np.where(good, 0.7, 1.0) * rng.random((a, p)) for _ in range(rounds)]

    a, p, m, rounds = (10, 6, 2, 3) if b.tiny else (400, 20, 4, 20)
    each = costs(np.random.default_rng(6), rounds, a, p)

    def exact(_):
        sets = np.array(list(itertools.combinations(range(p), m)))
        total, rng = np.zeros((a, p)), np.random.default_rng(1)
        law = np.full(len(sets), 1 / len(sets))
        for cost in [None] + each:
            if cost is not None:
                total += cost
            logs = np.zeros(len(sets))
            for row in -rate * total:
                w = row[sets]
                top = w.max(1)
                logs += top + np.log(np.exp(w - top[:, None]).sum(1))
            law = np.exp(logs - logs.max())
            law /= law.sum()
            draw(rng, total, sets[rng.choice(len(sets), p=law)])
        return law

    def draw(rng, total, chosen):
        w = np.exp(-rate * (total[:, chosen] - total[:, chosen].min(1)[:, None]))
        return chosen[(rng.random(len(w))[:, None] * w.sum(1)[:, None] > w.cumsum(1)).sum(1)]

    b.row(f"rmp, {rounds} rounds, {a} x {p}, m = {m}, all sets", "rmp", {"costs": np.vstack(each)}, {"n": a, "k": m, "rate": rate}, [
        ("numpy", [], exact, lambda mine, theirs: (gap(theirs, mine["result"]["law"].ravel()), 1e-9, "probabilities of the sets")),
    ])

    n, q, steps = (10, 8, 50) if b.tiny else (400, 400, 5000)
    walked = costs(np.random.default_rng(7), 4 if b.tiny else 10, n, q)

    def walk(_):
        rng, total, losses = np.random.default_rng(1), np.zeros((n, q)), []
        chosen = rng.permutation(q)[:m]
        pi = draw(rng, total, chosen)
        for cost in walked:
            losses.append(cost[np.arange(n), pi].sum())
            total += cost
            w = np.exp(-rate * (total - total.min(1)[:, None]))
            omega = np.log(w[:, chosen].sum(1)).sum()
            for _ in range(steps):
                j = rng.integers(q)
                while j in chosen:
                    j = rng.integers(q)
                other = chosen.copy()
                other[rng.integers(m)] = j
                new = np.log(w[:, other].sum(1)).sum()
                if rng.random() < np.exp(min(0, new - omega)):
                    chosen, omega = other, new
            pi = draw(rng, total, chosen)
        return np.array(losses)

    b.row(f"rmp, {len(walked)} rounds, {n} x {q}, m = {m}, a walk", "rmp", {"costs": np.vstack(walked)}, {"n": n, "k": m, "rate": rate, "steps": steps}, [
        ("numpy", [], walk, lambda mine, theirs: (abs(mine["result"]["losses"].mean() / theirs.mean() - 1), 0.5 if b.tiny else 0.05, "mean loss, both drawn")),
    ])


def medoids(b):
    sizes = (30,) if b.tiny else (400, 1000, 2000)
    names = [f"fasterpam, {n} objects, 10 medoids" for n in sizes]
    if not any(b.wanted(name) for name in names) or not b.has(["kmedoids"]):
        return
    try:
        driver = cargo(b.folder / "kmedoids", pathlib.Path(b.paths["kmedoids"]).resolve())
    except NotDone as e:
        b.lack("rows with kmedoids", str(e))
        return
    for n, name in zip(sizes, names):
        rng = np.random.default_rng(n)
        x, _ = images(rng, n, 10)
        cost = np.sqrt(((x[:, None] - x) ** 2).sum(2))
        start = sorted(rng.permutation(n)[:10].tolist())
        np.save(b.folder / "kmedoids" / "cost.npy", cost)
        (b.folder / "kmedoids" / "start.txt").write_text(" ".join(map(str, start)))

        def rust(count):
            answer = json.loads(subprocess.run([driver, b.folder / "kmedoids", str(count)], capture_output=True, check=True).stdout)
            return answer["seconds"], answer

        def check(mine, theirs):
            return abs(mine["objective"] / theirs["objective"] - 1), 1e-9, "sum of the distances"

        if b.wanted(name):
            works = [build and build.work("medoids", {"cost": cost}, {"start": start}) for build in (b.now, b.before)]
            b.compare(name, *works, [("Rust, kmedoids::fasterpam", rust, check)])


def cargo(folder, checkout):
    """The program of peers_kmedoids.rs, built with the crate's sources, but without what they do not need."""
    if not shutil.which("cargo"):
        raise NotDone("Cargo is missing")
    folder.mkdir()
    (folder / "Cargo.toml").write_text(f"""[package]
name = "kmedoids"
version = "0.0.0"
edition = "2024"
[lib]
path = {json.dumps(str(checkout / "src/mod.rs"))}
[[bin]]
name = "driver"
path = {json.dumps(str(SCRIPTS / "peers_kmedoids.rs"))}
[dependencies]
num-traits = "0.2"
[features]
ndarray = []
rand = []
parallel = []
assertions = []
""")
    build = ["cargo", "build", "--release", "--quiet"]
    debian = pathlib.Path("/usr/share/cargo/registry")  # of librust-num-traits-dev
    if list(debian.glob("num-traits-*")):
        build += ["--offline", "--config", 'source.crates-io.replace-with="debian"', "--config", f'source.debian.directory="{debian}"']
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise NotDone("cargo build: " + (done.stderr.strip().splitlines() or ["no message"])[0])
    return folder / "target" / "release" / "driver"


def commands(b):
    n, d, folds = (2000, 10, 10) if b.tiny else (10**6, 10, 100)
    rows = "2000" if b.tiny else "10^6"
    names = {what: f"metriclab {what}, {rows} {'pairs' if what == 'learn' else 'rows'}, d = {d}" for what in ("learn", "transform", "predict", "evaluate")}
    if not any(map(b.wanted, names.values())) or not b.has(["pandas", "sklearn", "resource"]):
        return
    import pandas as pd

    at = {name: str(b.folder / name) for name in ("rows.csv", "train.csv", "model.json", "factor.npy", "fit.npz", "folds.npy", "pairs.jsonl")}
    rng = np.random.default_rng(8)
    x, y = images(rng, n, d)
    x = x.round(4)
    table = pd.DataFrame(x, columns=[f"x{j}" for j in range(d)])
    table.insert(0, "class", y)
    table.to_csv(at["rows.csv"], index=False)
    table[:1000].to_csv(at["train.csv"], index=False)
    fit = ["fit", at["train.csv"], "--label", "class", "--learner", "fda", "--out", at["model.json"], "--factor-npy", at["factor.npy"]]
    subprocess.run([b.now.program("metriclab"), *fit], check=True, capture_output=True)
    np.savez(at["fit.npz"], means=x[:1000].mean(0), scales=x[:1000].std(0), factor=np.load(at["factor.npy"]))

    def out(side, name):
        return str(b.folder / f"{side}-{name}")

    def both(what, ours, theirs, check, reads=None):
        """ours and theirs get the name of the file to write."""
        if b.wanted(names[what]):
            sides = [process([build.program("metriclab"), what, *ours(out(side, what))], reads, out(side, "stdout")) if build else None for side, build in (("ours", b.now), ("before", b.before))]
            peer = process([sys.executable, str(SCRIPTS / "peers_user.py"), what, *theirs(out("theirs", what))], None, out("theirs", "stdout"))
            b.compare(names[what], *sides, [("pandas, scikit-learn" if what != "learn" else "json, numpy", peer, lambda *_: check())], cold=True)

    def answers(what, name="ours"):
        return pd.read_csv(out(name, what))

    def transformed():
        return gap(answers("transform").to_numpy(), answers("transform", "theirs").to_numpy()), 1e-10, "coordinates"

    def predicted():
        mine, theirs = answers("predict"), answers("predict", "theirs")
        return max((mine["class"] != theirs["class"]).mean(), gap(mine["distance"], theirs["distance"])), 1e-6, "classes, distances"

    def evaluated():
        methods = json.loads(pathlib.Path(out("ours", "stdout")).read_text())["methods"]
        theirs = json.loads(pathlib.Path(out("theirs", "stdout")).read_text())
        return max(abs(m["scores"]["kNN error"]["mean"] - theirs[m["name"]]) for m in methods), 1e-9, "errors of three metrics"

    def learned():
        mine, theirs = ([json.loads(line) for line in collections.deque(open(path), 1000)] for path in (out("ours", "stdout"), out("theirs", "learn")))
        if any(m[f] != t[f] for m, t in zip(mine, theirs, strict=True) for f in ("round", "similar")):
            raise Different("the rounds or predictions of the last answers differ")
        return max(gap(*(np.array([a[f] for a in side]) for side in (mine, theirs))) for f in ("sqdist", "loss")), 1e-8, "the last answers"

    both("transform", lambda o: [at["rows.csv"], "--model", at["model.json"], "--out", o], lambda o: [at["rows.csv"], at["fit.npz"], o], transformed)
    both("predict", lambda o: [at["rows.csv"], "--model", at["model.json"], "--train", at["train.csv"], "--out", o], lambda o: [at["rows.csv"], at["fit.npz"], at["train.csv"], o], predicted)

    if b.wanted(names["evaluate"]):
        order = np.lexsort(x.T[::-1])  # the order in which rows are divided
        fold = b.now.work("folds", {"classes": y[order]}, {"k": folds})(1)[1]["result"]["folds"].ravel()
        np.save(at["folds.npy"], fold[np.argsort(order)])
    evaluate = [at["rows.csv"], "--label", "class", "--learner", "fda", "--k", "5", "--folds", str(folds), "--splits", "1", "--json"]
    both("evaluate", lambda _: evaluate, lambda _: [at["rows.csv"], at["folds.npy"]], evaluated)

    if b.wanted(names["learn"]):
        left, right = rng.standard_normal((2, n, d)).round(4)
        sq = (((left - right) ** 2) / np.arange(1, d + 1)).sum(1)
        label = np.where(sq < np.median(sq), 1, -1)
        with open(at["pairs.jsonl"], "w") as lines:
            for u, v, s in zip(left.tolist(), right.tolist(), label.tolist()):
                lines.write(f'{{"x":{u},"y":{v},"label":{s}}}\n')
    both("learn", lambda _: ["--learner", "pola"], lambda o: [at["pairs.jsonl"], o], learned, reads=at["pairs.jsonl"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEXP", help="rows whose name matches")
    parser.add_argument("--tiny", action="store_true", help="small data, whose times mean nothing, with any kernel")
    parser.add_argument("--least", type=int, default=1, metavar="N", help="fewer rows are a failure")
    parser.add_argument("--before", metavar="DIR", help="a checkout of an earlier commit, whose times are printed beside")
    parser.add_argument("--path", action="append", default=[], type=lambda s: tuple(s.split("=", 1)), metavar="PEER=DIR", help="where a peer is: a Python module, or the checkout of kmedoids")
    parser.add_argument("--avx2", action="store_true", help="both sides without AVX-512, on a processor that has it")
    parser.add_argument("--any-kernel", action="store_true", help="measure beside a slow kernel of the BLAS, too")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="a page whose table of this processor is replaced, or added")
    args = parser.parse_args()
    if any(len(p) != 2 or not pathlib.Path(p[1]).is_dir() for p in args.path):
        parser.error("--path: want PEER=DIR, and DIR a folder")
    if args.markdown and (args.tiny or args.only or not args.markdown.is_file()):
        parser.error("--markdown: want a file, and all rows at full size")
    sys.path[:0] = [str(pathlib.Path(d).resolve()) for _, d in args.path]
    name, isa = processor()
    title = ", ".join(filter(None, (name, isa)))
    if args.avx2:
        if isa != "AVX-512":
            parser.error(f"--avx2: want a processor with AVX-512, not {title}")
        isa, title = "AVX2", f"{name}, AVX2 alone"
        os.environ["GODEBUG"] = "cpu.avx512f=off"  # of our programs
    libraries = blas()
    print(f"{title if isa else name + ', no AVX2'}; {versions(libraries)}")
    for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        if variable in os.environ:
            print(f"{variable}={os.environ[variable]} is set")
    why = refusal(isa, libraries)
    if why and not args.tiny:
        if not args.any_kernel:
            print(f"peers.py: refused: {why}, or pass --any-kernel", file=sys.stderr)
            sys.exit(2)
        print(f"--any-kernel: {why}")
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(pathlib.Path(folder), args)
        answer = b.now.work("folds", {"classes": np.zeros(2)}, {"k": 2})(1)[1]
        built = f"metriclab {answer['commit']}, {answer['go']}, products: {answer['product']}"
        if b.before:
            built += f"; before: {b.before.commit()}"
        print(built, flush=True)
        for rows in (products, eigen, knn, pca, fda, batch, coordinates, itml, mmc, lmnn, nca, pola, erkle, rmp, medoids, commands):
            rows(b)
        if len(b.rows) < args.least:
            sys.exit(f"peers.py: {len(b.rows)} rows were measured, at least {args.least} must be")
        if b.different:
            sys.exit("peers.py: results differ")
        if args.markdown:
            day = datetime.date.today().isoformat()
            insert(args.markdown, title, b.markdown(f"Measured on {day}: {built}; {versions(libraries)}."))


if __name__ == "__main__":
    main()
