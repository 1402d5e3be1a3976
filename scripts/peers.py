#!/usr/bin/env python3
"""Times metriclab beside what a Python user would take for the same work.

    python3 scripts/peers.py              all rows, some minutes
    python3 scripts/peers.py --only knn   rows whose name matches a regular expression
    python3 scripts/peers.py --tiny       small data, in seconds: does the script work?

It needs Go, NumPy and, for most rows, scikit-learn; the rows of metric-learn need
metric-learn. What is missing is named and skipped. On Debian:

    apt-get install --no-install-recommends python3-sklearn

Both sides get the same matrices, made here from a fixed seed, and one thread; times are
CPU times (user and system), the least of several runs. Reading files and starting
programs count on neither side. Before a time is printed the two results are compared:
"difference" is what the column "compared" says, with its tolerance. A row whose
results differ has no times, and the exit status is 1.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ[name + "_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import importlib
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
INSTALL = {
    "numpy": "python3-numpy by apt, or numpy by pip",
    "scipy": "python3-scipy by apt, or scipy by pip",
    "sklearn": "python3-sklearn by apt, or scikit-learn by pip",
    "metric_learn": "metric-learn by pip",
}


def load(module):
    """The module, or None if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


np = load("numpy")
if np is None:
    sys.exit("peers.py: NumPy is missing; install " + INSTALL["numpy"])


class Different(Exception):
    """The results differ."""


class Short(Exception):
    """The peer did not get as far as we did. Ours is verified: its time counts."""


class Bench:
    """Runs the rows and prints them."""

    def __init__(self, folder, only, tiny):
        self.folder, self.only, self.tiny = folder, re.compile(only), tiny
        self.told, self.different, self.rows = set(), False, 0
        self.program = str(folder / ("speed.exe" if os.name == "nt" else "speed"))
        subprocess.run(["go", "build", "-o", self.program, "./internal/tools/speed"], cwd=ROOT, check=True)

    def ours(self, work, arrays, **params):
        """Our answer: what the program prints, and as "result" the matrices that it writes."""
        for old in self.folder.glob("*.npy"):
            old.unlink()
        for name, a in arrays.items():
            np.save(self.folder / (name + ".npy"), np.ascontiguousarray(a, dtype=float))
        (self.folder / "params.json").write_text(json.dumps(params))
        done = subprocess.run([self.program, "ours", work, str(self.folder)], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        answer = json.loads(done.stdout)
        answer["result"] = {}
        for path in self.folder.glob("ours-*.npy"):
            answer["result"][path.stem[len("ours-") :]] = np.load(path)
        if "machine" not in self.told:
            self.told.add("machine")
            print(f"metriclab {answer['commit']}, {answer['go']}, products: {answer['product']}; {answer['machine']}", flush=True)
        return answer

    def best(self, run):
        """The least CPU time of a few runs, and the last result."""
        least, spent, runs = float("inf"), 0, 0
        while runs < (1 if self.tiny else 5) and spent < 10:
            start = time.process_time()
            result = run()
            took = time.process_time() - start
            least, spent, runs = min(least, took), spent + took, runs + 1
        return least, result

    def row(self, name, work, arrays, params, peers):
        """peers holds (name, modules, run, check): check gets our answer and the result of
        run, and returns a difference, its tolerance, and what is compared."""
        if not self.only.search(name):
            return
        here = []
        for peer in peers:
            missing = [m for m in peer[1] if load(m) is None]
            for m in missing:
                if m not in self.told:
                    self.told.add(m)
                    print(f"skipped: rows with {m}, which is missing; install {INSTALL[m]}", flush=True)
            if not missing:
                here.append(peer)
        if not here:
            return
        mine = self.ours(work, arrays, runs=1 if self.tiny else 5, **params)
        for label, _, run, check in here:
            # What they would do with our answer in hand, as a target, is theirs to use.
            seconds, theirs = self.best(lambda: run(mine))
            what = ""
            try:
                difference, tolerance, what = check(mine, theirs)
                if not difference <= tolerance:
                    raise Different(f"{difference:.1e} is more than {tolerance:.0e}")
            except Different as e:
                self.different = True
                print(f"DIFFERENT: {name} against {label}: {what} {e}", flush=True)
                continue
            except Short as e:
                print(f"NOT REACHED: {name}: ours {mine['seconds']:.3f} s; {label} after {seconds:.3f} s: {what} {e}", flush=True)
                self.rows += 1
                continue
            if "head" not in self.told:
                self.told.add("head")
                print(f"\n{'work':44} {'ours':>9}  {'theirs':>9}  {'ratio':>6}  {'peer':38} {'difference':>10}  compared (tolerance)")
            self.rows += 1
            print(f"{name:44} {mine['seconds']:8.3f}s  {seconds:8.3f}s  {seconds / max(mine['seconds'], 1e-9):5.2f}x  {label:38} {difference:10.1e}  {what} ({tolerance:.0e})", flush=True)


def gap(a, b):
    """The largest difference of two arrays relative to the largest entry of the first."""
    return float(np.abs(a - b).max() / np.abs(a).max())


def sine(a, b):
    """The sine of the largest angle between the spaces of the columns of a and b."""
    qa, qb = np.linalg.qr(a)[0], np.linalg.qr(b)[0]
    return float(np.linalg.norm(qb - qa @ (qa.T @ qb), 2))


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
        x = rng.standard_normal((n, 2))
        t = rng.integers(0, n, (3 * m, 3))
        t = t[(t[:, 0] != t[:, 1]) & (t[:, 0] != t[:, 2]) & (t[:, 1] != t[:, 2])][:m]
        near, far = ((x[t[:, 0]] - x[t[:, 1]]) ** 2).sum(1), ((x[t[:, 0]] - x[t[:, 2]]) ** 2).sum(1)
        t[near > far] = t[near > far][:, [0, 2, 1]]
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


def itml(b):
    cycles = 10
    for d in (4,) if b.tiny else (13, 64, 784):
        rng = np.random.default_rng(d)
        x, y = images(rng, 300, d)
        i, j = rng.integers(0, 300, (2, 4000))
        same = y[i] == y[j]
        similar, other = np.flatnonzero(same & (i != j))[:200], np.flatnonzero(~same)[:200]
        order = np.r_[similar, other]  # metric-learn takes all similar pairs first
        links = np.c_[i[order], j[order], np.where(same[order], 1, -1)]
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


def lmnn(b):
    n, d, k = (60, 4, 2) if b.tiny else (900, 64, 3)
    x, y = images(np.random.default_rng(5), n, d)

    def objective(m):
        sq = ((x[:, None] - x) ** 2).sum(2)
        sq[np.diag_indices(n)] = np.inf
        same = y[:, None] == y
        targets = np.argsort(np.where(same, sq, np.inf), axis=1, kind="stable")[:, :k]
        g = x @ m @ x.T
        learned = np.diag(g)[:, None] + np.diag(g) - 2 * g
        pull = np.take_along_axis(learned, targets, 1)
        push = sum(np.maximum(1 + pull[:, [t]] - learned, 0)[~same].sum() for t in range(k))
        return 0.5 * pull.sum() + 0.5 * push

    def run(_):
        from metric_learn import LMNN

        return LMNN(n_neighbors=k, init="identity").fit(x, y).get_mahalanobis_matrix()

    def check(mine, theirs):
        if gap(np.array([objective(mine["result"]["m"])]), np.array([mine["objective"]])) > 1e-8:
            raise Different("our metric has another objective than it says")
        above = objective(theirs) / mine["objective"] - 1
        if above < -1e-3:
            raise Different(f"our objective is {-above:.1e} above theirs")
        return above, 0.1, "objective above ours"

    b.row(f"lmnn, {n} x {d}, 10 classes", "lmnn", {"x": x}, {"classes": y.tolist(), "k": k}, [("metric-learn", ["metric_learn"], run, check)])


def versions():
    """One line on Python and its libraries."""
    parts = [f"Python {platform.python_version()}"]
    for module in ("numpy", "scipy", "sklearn", "metric_learn"):
        m = load(module)
        if m is not None:
            parts.append(f"{module} {m.__version__}")
    pools = load("threadpoolctl")
    if pools is not None:
        np.linalg.eigh(np.eye(2))  # loads the library
        parts += sorted({f"{p['internal_api']} {p['version']}, {p['num_threads']} thread" for p in pools.threadpool_info()})
    return "; ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEXP", help="rows whose name matches")
    parser.add_argument("--tiny", action="store_true", help="small data, whose times mean nothing")
    parser.add_argument("--least", type=int, default=1, metavar="N", help="fewer rows are a failure")
    args = parser.parse_args()
    print(versions())
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(pathlib.Path(folder), args.only, args.tiny)
        for rows in (products, eigen, knn, pca, fda, batch, itml, lmnn):
            rows(b)
    if b.rows < args.least:
        sys.exit(f"peers.py: {b.rows} rows were measured, at least {args.least} must be")
    if b.different:
        sys.exit("peers.py: results differ")


if __name__ == "__main__":
    main()
