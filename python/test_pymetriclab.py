#!/usr/bin/env python3
"""Tests of the package pymetriclab against the command, value for value.

    python3 python/test_pymetriclab.py

It needs NumPy, and the command: METRICLAB of the environment, or Go to build it. The tests of
MetricLab need scikit-learn; without it they are skipped, or fail where CI is set.
"""

import base64
import copy
import gc
import hashlib
import io
import json
import math
import os
import pathlib
import pickle
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

try:
    import numpy as np
except ImportError:
    sys.exit("test_pymetriclab.py: NumPy is missing; on Debian: apt-get install --no-install-recommends python3-numpy")

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import pymetriclab  # noqa: E402
from pymetriclab import _learner  # noqa: E402

try:
    import sklearn
except ImportError:
    sklearn = None

try:
    import hnswlib
except ImportError:
    hnswlib = None

# Products of matrices add in another order than the command: with kernels a coordinate is a sum
# of large terms that cancel.
CLOSE, KERNEL_CLOSE = 1e-12, 1e-9
ONLINE = ("pola", "pa", "lego", "kernel-pola")

scratch = program = None


def setUpModule():
    global scratch, program
    scratch = tempfile.TemporaryDirectory(prefix="metriclab-test-")
    program = os.environ.get("METRICLAB")
    if not program:
        if shutil.which("go") is None:
            sys.exit("test_pymetriclab.py: neither METRICLAB is set nor Go is installed")
        program = os.path.join(scratch.name, "metriclab.exe" if os.name == "nt" else "metriclab")
        subprocess.run(["go", "build", "-o", program, "./cmd/metriclab"], cwd=HERE.parent, check=True)
    os.environ["METRICLAB"] = program = os.path.abspath(program)


def tearDownModule():
    scratch.cleanup()


def path(name):
    return os.path.join(scratch.name, name)


def run(*args, **options):
    """Standard output of the command."""
    done = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        raise AssertionError(f"metriclab {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout.decode()


def rows(seed, n, d, classes=3):
    """Rows of classes in directions that no axis has, with features of other scales."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = rng.standard_normal((n, d)) + 2 * rng.standard_normal((classes, d))[y]
    return x @ rng.standard_normal((d, d)) * 10.0 ** rng.integers(-2, 3, d) + 5, y


def write(name, x, y):
    """A table for the command."""
    with open(path(name), "w") as f:
        f.write("class," + ",".join(f"f{j}" for j in range(x.shape[1])) + "\n")
        for label, row in zip(y, x):
            f.write(f"{label}," + ",".join("" if math.isnan(v) else repr(v) for v in row.tolist()) + "\n")
    return path(name)


def learners():
    """The names of the learners of tables."""
    text = run("learners")
    kinds = ["labelled pairs, online", "data set and labelled pairs of rows", "data set and class labels", "data set"]
    lists = [re.search(rf"^{kind}:\n((?:  .+\n)+)", text, re.M)[1] for kind in kinds]
    return [name for of in lists for name in re.findall(r"^  (\S+)", of, re.M)]


def seal(kind, params, state, version=1, spaces=None):
    """A file with a right checksum."""
    p, s = (json.dumps(v, separators=(",", ":")) for v in (params, state))
    digest = hashlib.sha256()
    for part in (kind, p, s):
        digest.update(struct.pack("<Q", len(part.encode())) + part.encode())
    out = {"format": "metriclab", "version": version, "kind": kind, "params": params, "sha256": digest.hexdigest(), "state": state}
    return json.dumps(out, indent=spaces, separators=None if spaces else (",", ":")).encode()


def floats(*values):
    return base64.b64encode(struct.pack(f"<{len(values)}d", *values)).decode()


def load(raw):
    return pymetriclab.load(io.BytesIO(raw))


class Frame:
    """What of pandas.DataFrame is used."""

    def __init__(self, **columns):
        self._columns, self.columns = columns, list(columns)
        self.shape = (len(next(iter(columns.values()))), len(columns))

    def __getitem__(self, names):
        return Frame(**{n: self._columns[n] for n in names})

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self._columns.values()), dtype=dtype).T


class Same(unittest.TestCase):
    def same(self, got, want, close=CLOSE, what=None):
        got, want = np.asarray(got), np.asarray(want)
        self.assertEqual(got.shape, want.shape, what)
        size = max(np.abs(want).max(), 1e-300)
        self.assertLessEqual(np.abs(got - want).max() / size, close, what)


class Files(Same):
    """What load reads, beside what the command makes of the same file."""

    def test_models(self):
        names = learners()
        self.assertGreater(len(names), 15)
        x, y = rows(1, 60, 5)
        holes, more = x.copy(), rows(2, 20, 5)[0]
        holes[::7, 2] = math.nan
        tables = {"": write("full.csv", x, y), "--impute=mean": write("holes.csv", holes, y), "--no-standardise": write("small.csv", x / 50, y)}
        new = write("new.csv", more, np.zeros(len(more), dtype=int))
        for name in names:
            kernel = name.startswith(("kernel-", "trace"))
            for flag, table in tables.items():
                if flag and name not in ("pola", "iplr", "kernel-fda"):
                    continue
                with self.subTest(learner=name, flag=flag):
                    params = ["--param=gamma=1"] if name == "pola-batch" else []
                    run("fit", table, "--label=class", f"--learner={name}", f"--out={path('m.json')}", *filter(None, [flag]), *params)
                    m = pymetriclab.load(path("m.json"))
                    self.assertEqual((m.learner, m.label, m.features, m.classes, m.counts, m.dim), (name, "class", [f"f{j}" for j in range(5)], ["0", "1", "2"], [20] * 3, 5))
                    if m.width is None:
                        self.learned_kernel(m, x, y)
                        continue
                    close = KERNEL_CLOSE if kernel else CLOSE
                    for file, at in ((table, {"": x, "--impute=mean": holes, "--no-standardise": x / 50}[flag]), (new, more)):
                        run("transform", file, f"--model={path('m.json')}", f"--npy={path('z.npy')}")
                        want = np.load(path("z.npy"))
                        got = m.transform(at)
                        self.same(got, want, close, file)
                        self.assertEqual(m.width, want.shape[1])
                        d = np.sqrt(((want[:, None] - want[None]) ** 2).sum(2))
                        self.same(m.distances(at), d, 10 * close)
                        self.same(m.distances(at[:3], at, squared=True), d[:3] ** 2, 10 * close)
                    if hasattr(m.metric, "matrix"):
                        u = m.prepare(at[:1]) - m.prepare(at[1:2])
                        self.same(u @ m.metric.matrix @ u.T, m.distances(at[:1], at[1:2], squared=True), 1e-9)

    def test_without_classes(self):
        x, _ = rows(11, 30, 4)
        with open(path("bare.csv"), "w") as f:
            f.write("a,b,c,d\n" + "".join(",".join(map(repr, r)) + "\n" for r in x.tolist()))
        run("fit", path("bare.csv"), "--learner=pca", f"--out={path('m.json')}")
        run("transform", path("bare.csv"), f"--model={path('m.json')}", f"--npy={path('z.npy')}")
        m = pymetriclab.load(path("m.json"))
        self.assertEqual((m.classes, m.counts, m.label), ([], [], ""))
        self.same(m.transform(x), np.load(path("z.npy")))

    def test_words_and_predictions(self):
        x, y = rows(12, 40, 2)
        words = np.array(["red", "blue", "green"])[np.arange(40) * 7 % 3]
        with open(path("words.csv"), "w") as f:
            f.write("class,f0,word,f1\n" + "".join(f"{c},{a!r},{w},{b!r}\n" for c, (a, b), w in zip(y, x.tolist(), words)))
        run("fit", path("words.csv"), "--label=class", "--one-hot=word", "--learner=fda", f"--out={path('m.json')}")
        run("transform", path("words.csv"), f"--model={path('m.json')}", f"--npy={path('z.npy')}")
        m = pymetriclab.load(path("m.json"))
        self.assertEqual(m.features[:2], ["f0", "f1"])
        features = np.column_stack([x, *(words == f.split("=")[1] for f in m.features[2:])])
        self.same(m.transform(features), np.load(path("z.npy")))
        told = run("predict", path("words.csv"), f"--model={path('m.json')}", f"--train={path('words.csv')}", "--k=3").splitlines()[1:]
        self.assertEqual([line.split(",")[1] for line in told], [str(c) for c in m.predict(features, y, features, k=3)])
        with open(path("m.json")) as f:
            good = json.load(f)
        for bad in ({"column": "word", "categories": []}, {"column": "f0", "categories": ["blue", "green", "red"]}, {"column": "word", "categories": ["blue", "green", "grey"]}, {"column": "word"}):
            state = copy.deepcopy(good["state"])
            state["layout"]["one_hot"] = [bad]
            with self.subTest(one_hot=bad), self.assertRaises(pymetriclab.FormatError):
                load(seal("model", good["params"], state))

    def test_vectors(self):
        rng = np.random.default_rng(5)
        x = rng.normal(size=(30, 6)).astype(np.float32)
        np.save(path("x.npy"), x)
        with open(path("pairs.csv"), "w") as f:
            f.write("".join(f"{i},{j},{1 if i % 3 == j % 3 else -1}\n" for i in range(30) for j in range(i)))
        with open(path("triplets.csv"), "w") as f:
            f.write("".join(f"{i},{(i + 3) % 30},{(i + 4) % 30}\n" for i in range(30)))
        for flags in (["--pairs=pairs.csv", "--learner=itml", "--unit"], ["--pairs=pairs.csv", "--learner=iplr", "--param=k=2", "--no-standardise"],
                      ["--pairs=pairs.csv", "--learner=lego", "--passes=2", "--rank=3"], ["--triplets=triplets.csv", "--learner=itml"]):
            with self.subTest(flags=flags):
                run("fit", f"--vectors={path('x.npy')}", f"--out={path('v.json')}", *(re.sub("=(pairs|triplets).csv", lambda m: "=" + path(m.group(1) + ".csv"), f) for f in flags))
                run("transform", f"--vectors={path('x.npy')}", f"--model={path('v.json')}", f"--npy={path('z.npy')}")
                m, z = pymetriclab.load(path("v.json")), np.load(path("z.npy"))
                self.same(m.transform(x), z, 1e-6)  # the command writes float32 here
                self.assertEqual((m.width, m.dim, m.unit), (z.shape[1], 6, "--unit" in flags))
                self.assertEqual(m.threshold is None, "--triplets=triplets.csv" in flags)
                told = run("neighbours", f"--vectors={path('x.npy')}", f"--model={path('v.json')}", "--rows=7", "--k=3").splitlines()[1:]
                d, index = m.neighbours(x, x[7:8], k=4)
                self.assertEqual([int(line.split(",")[2]) for line in told], index[0, 1:].tolist())
                self.same([float(line.split(",")[3]) for line in told], d[0, 1:], 1e-9)
        with open(path("v.json")) as f:
            good = json.load(f)
        for change in ({"scale": 0}, {"triplets": 0}, {"similar": 1}, {"threshold": -1}, {"metric": 3}):
            with self.subTest(state=change), self.assertRaises(pymetriclab.FormatError):
                load(seal("model/vectors", good["params"], {**good["state"], **change}))

    def test_objects(self):
        rng = random.Random(6)
        with open(path("t.csv"), "w") as f:
            for _ in range(300):
                a, b, c = rng.sample(range(12), 3)
                near, far = (b, c) if abs(a - b) < abs(a - c) else (c, b)
                f.write(f"o{a},o{near},o{far}\n")
        run("fit", f"--triplets={path('t.csv')}", "--learner=ste", f"--out={path('o.json')}", f"--coordinates={path('c.npy')}", "--dim=3")
        o = pymetriclab.load(path("o.json"))
        self.assertEqual((o.learner, sorted(o.names)), ("ste", sorted(f"o{i}" for i in range(12))))
        self.same(o.coordinates(3), np.load(path("c.npy")), 1e-9)
        whole = o.coordinates(12)
        self.same(o.distances(), np.sqrt(((whole[:, None] - whole[None]) ** 2).sum(2)), 1e-6)  # roots of eigenvalues near 0
        d = o.distances(squared=True)
        self.assertLess(d[o.index("o0"), o.index("o1")], d[o.index("o0"), o.index("o11")])
        with self.assertRaisesRegex(pymetriclab.MetricLabError, "no object is called"):
            o.index("x")
        with open(path("o.json")) as f:
            good = json.load(f)
        for change in ({"names": good["state"]["names"][:2]}, {"names": ["o"] * 12}, {"kernel": ""}, {"kernel": [1]}):
            with self.subTest(state=change), self.assertRaises(pymetriclab.FormatError):
                load(seal("model/triplets", good["params"], {**good["state"], **change}))

    def learned_kernel(self, m, x, y):
        """kernel-itml of rows has no coordinates; that of their kernel matrix writes the learned kernel."""
        p = m.prepare(x)
        np.savetxt(path("k0.csv"), m.metric.kernel(p, p), delimiter=",", fmt="%.17g")
        with open(path("labels.csv"), "w") as f:
            f.write("".join(f"{c}\n" for c in y))
        run("fit", f"--gram={path('k0.csv')}", f"--labels={path('labels.csv')}", f"--learner={m.learner}", f"--out={path('g.json')}", f"--kernel-out={path('k.npy')}")
        k = np.load(path("k.npy"))
        want = np.diag(k)[:, None] - 2 * k + np.diag(k)
        self.same(m.distances(x, squared=True), want, 1e-7)  # the two fits differ in round-off
        with self.assertRaisesRegex(pymetriclab.MetricLabError, "no coordinates"):
            m.transform(x)
        self.assertTrue((m.predict(x, y, x) == y).all())

    def test_learners_of_pairs(self):
        rng = random.Random(3)
        vector = lambda d: [rng.gauss(0, 1) for _ in range(d)]  # noqa: E731
        for name in ONLINE:
            for d in (1, 3, 16, 40):  # LEGO has blocks of 16, others a basis from 13 on
                with self.subTest(learner=name, dim=d):
                    with pymetriclab.Learner(name, state_every=1, save=path("l.json")) as learner:
                        for _ in range(25):
                            last = learner.pair(vector(d), vector(d), label=rng.choice([-1, 1]))
                        asked = [(vector(d), vector(d)) for _ in range(5)]
                        answers = [learner.pair(*pair) for pair in asked]
                    m = pymetriclab.load(path("l.json"))
                    self.assertEqual((m.dim, m.threshold), (d, last["state"]["threshold"]))
                    got = [m.distances([a], [b], squared=True)[0, 0] for a, b in asked]
                    self.same(got, [a["sqdist"] for a in answers], KERNEL_CLOSE if "kernel" in name else 1e-11)
                    self.assertEqual([bool(g <= m.threshold) for g in got], [a["similar"] for a in answers])
                    if "m" in last["state"]:
                        self.same(m.matrix, last["state"]["m"], 1e-11)

    def test_projection(self):
        m = load(seal("labels/pca", {}, {"mean": floats(1, 2), "rows": floats(3, 4), "values": floats(5)}))
        self.same(m.transform([[2, 4], [1, 2]]), [[11], [0]])
        self.same(m.distances([[2, 4]], [[1, 2]]), [[11]])

    def test_neighbours_and_ties(self):
        with open(HERE / "testdata" / "neighbours.json") as f:
            want = json.load(f)
        m = pymetriclab.load(HERE / "testdata" / "metric.json")
        names = np.array(["d", "c", "b", "a"])[want["labels"]]  # in another order than the numbers
        for case in want["cases"]:
            distances, index = m.neighbours(want["train"], want["queries"], case["k"])
            self.assertEqual(index.tolist(), case["index"])
            self.assertTrue((np.abs(np.diff(distances, axis=1)) + np.diff(distances, axis=1) >= -1e-9).all())
            self.assertEqual(m.predict(want["train"], want["labels"], want["queries"], case["k"]).tolist(), case["class"])
            self.assertEqual(m.predict(want["train"], names, want["queries"], case["k"]).tolist(), np.array(["d", "c", "b", "a"])[case["last"]].tolist())  # a draw goes to the first name

    def test_default_k(self):
        """It is that of metriclab neighbours, cut to the training rows."""
        m = load(seal("metric/mahalanobis", {}, {"dim": 1, "rows": 1, "factor": floats(1)}))
        self.assertEqual(m.neighbours([[i] for i in range(9)], [[0.25]])[1].tolist(), [[0, 1, 2, 3, 4]])
        self.assertEqual(m.neighbours([[0], [1], [2]], [[0.25]])[1].tolist(), [[0, 1, 2]])
        self.assertEqual(m.predict([[i] for i in range(9)], list("abbbaaaaa"), [[0.25]]).tolist(), ["b"])  # the nearest alone is an a

    def test_neighbours_far_from_the_origin(self):
        rng = np.random.default_rng(4)
        x, q = (1e7 + rng.standard_normal((n, 8)) * 10.0 ** rng.integers(-6, 6, (n, 1)) for n in (700, 60))
        m = load(seal("metric/mahalanobis", {}, {"dim": 8, "rows": 8, "factor": floats(*np.eye(8).ravel())}))
        d = ((q[:, None] - x) ** 2).sum(2)
        self.assertEqual(m.neighbours(x, q, 5)[1].tolist(), np.argsort(d, axis=1, kind="stable")[:, :5].tolist())

    def test_zero(self):
        m = load(seal("metric/mahalanobis", {}, {"dim": 2**31 - 1, "rows": 0, "factor": ""}))
        self.assertEqual((m.dim, m.width), (2**31 - 1, 1))
        m = load(seal("metric/mahalanobis", {}, {"dim": 2, "rows": 0, "factor": ""}))
        self.assertEqual(m.predict([[1, 2], [3, 4]], ["a", "b"], [[3, 4]]).tolist(), ["a"])
        self.same(m.transform([[1, 2]]) + 1, [[1]])

    def test_a_frame_is_read_by_name(self):
        x, y = rows(5, 30, 2)
        run("fit", write("t.csv", x, y), "--label=class", "--learner=fda", f"--out={path('m.json')}")
        m = pymetriclab.load(path("m.json"))
        self.same(m.transform(Frame(other=y, f1=x[:, 1], f0=x[:, 0])), m.transform(x), 0)
        with self.assertRaisesRegex(pymetriclab.MetricLabError, "no column 'f1'"):
            m.transform(Frame(f0=x[:, 0], f2=x[:, 1]))

    def test_bad_rows(self):
        x, y = rows(6, 30, 2)
        run("fit", write("t.csv", x, y), "--label=class", "--learner=rca", f"--out={path('m.json')}")
        m = pymetriclab.load(path("m.json"))
        for bad, want in (
            ([[1, 2, 3]], r"shape \(1, 3\)"),
            ([1, 2], r"shape \(2,\)"),
            ([[1, math.nan]], "row 0, column f1: the cell is missing"),
            ([[0, 0], [math.inf, 2]], "row 1, column f0: the number is too large"),
        ):
            with self.assertRaisesRegex(pymetriclab.MetricLabError, want):
                m.transform(bad)
        for k in (0, 31, 1.5, True):
            with self.assertRaisesRegex(pymetriclab.MetricLabError, "k: .* is not allowed"):
                m.neighbours(x, x, k)
        with self.assertRaisesRegex(pymetriclab.MetricLabError, "y_train"):
            m.predict(x, y[1:], x)


class Hostile(Same):
    """No file makes load do anything but give a right metric or a FormatError."""

    def refused(self, raw, want=None):
        with self.assertRaises(pymetriclab.FormatError) as e:
            load(raw)
        if want:
            self.assertRegex(str(e.exception), want)
        self.assertLess(len(str(e.exception)), 1000)

    def good(self):
        return {"dim": 2, "rows": 1, "factor": floats(1, 2)}

    def test_layout_does_not_matter(self):
        raw = seal("metric/mahalanobis", {}, self.good(), spaces=2)
        self.same(load(b" \r\n" + raw + b"\n\n").L, [[1, 2]])
        self.refused(raw.replace(b'"dim": 2', b'"dim": 3'), "checksum")

    def test_truncated_and_changed(self):
        x, y = rows(7, 20, 3)
        run("fit", write("t.csv", x, y), "--label=class", "--learner=iplr", f"--out={path('m.json')}")
        with open(path("m.json"), "rb") as f:
            raw = f.read()
        end = len(raw.rstrip())
        for n in range(end):
            self.refused(raw[:n])
        rng = random.Random(8)
        for _ in range(2000):
            at = rng.randrange(end)
            changed = bytearray(raw)
            changed[at] = rng.randrange(256)
            if changed == raw:
                continue
            try:
                m = load(bytes(changed))
            except pymetriclab.FormatError:
                continue
            # Only what says the same may be read: a blank, or a letter of a field that nobody knows.
            self.same(m.transform(x), load(raw).transform(x), 0)

    def test_envelope(self):
        good = seal("metric/mahalanobis", {}, self.good())
        load(good)
        for raw, want in (
            (b"", "not a metriclab file"),
            (b"   ", "not a metriclab file"),
            (b"[]", "not a metriclab file"),
            (b"\x93NUMPY\x01\x00", "not a metriclab file"),
            (b"\xff\xfe{", "not a metriclab file"),
            (b"{}", "format is 'None'"),
            (b"{" * 100000, "damaged|not a metriclab"),
            (b'{"format":' + b"[" * 200000, "damaged|not a metriclab"),
            (good.replace(b'"format":"metriclab"', b'"format":"other"'), "format is 'other'"),
            (seal("metric/mahalanobis", {}, self.good(), version=2), "newer metriclab: version 2"),
            (seal("metric/mahalanobis", {}, self.good(), version=0), "version 0"),
            (seal("metric/mahalanobis", {}, self.good(), version=True), "version True"),
            (seal("metric/mahalanobis", {}, self.good(), version=10**5000 if sys.version_info < (3, 11) else 10**4000), "newer"),
            (good[:-1] + b',"kind":"pairs/pa"}', "of its own"),
            (good + b"x", "more follows"),
            (good.replace(b'"dim":2', b'"dim":2,"dim":2'), "twice"),
            (good.replace(b'"dim":2', b'"dim":NaN'), "no JSON"),
            (good.replace(b'"sha256":"', b'"sha256":"0'), "checksum"),
            (good.replace(b'"params":{},', b""), "lacks the field params"),
            (good.replace(b'"dim":2', b'"dim":' + b"9" * 5000), "damaged"),
            (seal("triplets/erkle", {}, {}), "does not read"),
            (seal("metric/nothing", {}, {}), "does not read"),
        ):
            with self.subTest(raw[:60]):
                self.refused(raw, want)
        with self.assertRaisesRegex(pymetriclab.FormatError, "max_bytes"):
            pymetriclab.load(io.BytesIO(good), max_bytes=100)
        with self.assertRaises(FileNotFoundError):
            pymetriclab.load(path("nothing.json"))
        with open(path("bad.json"), "wb") as f:
            f.write(b"{}")
        with self.assertRaisesRegex(pymetriclab.FormatError, re.escape(path("bad.json"))):
            pymetriclab.load(path("bad.json"))

    def test_states(self):
        kernel = {"kernel": {"name": "gaussian", "gamma": 1.0}}
        good = {
            "metric/mahalanobis": ({}, self.good()),
            "metric/low-rank": ({}, {"dim": 2, "rank": 1, "basis": floats(0, 1), "root": floats(3)}),
            "kernels/metric": (kernel, {"dim": 2, "support": floats(0, 1), "rows": 1, "g": floats(2), "shift": floats(1)}),
            "kernels/transformed": (kernel, {"alpha": 0.5, "dim": 2, "support": floats(0, 1), "s": floats(2)}),
            "labels/lsa": ({"centred": False}, {"mean": floats(0, 0), "rows": floats(1, 0), "values": floats(1)}),
        }
        form = {"dim": 13, "order": 1, "basis": floats(*[0] * 12, 1), "core": floats(2), "shift": 0, "log_shift": 0, "seen": 0, "age": 0, "turns": 0}
        good["pairs/pola"] = ({"b1": 1, "gamma": 0}, {"threshold": 1, "form": form})
        good["pairs/lego"] = ({"eta": 0.5, "u": 2, "l": 8, "update": "always"}, {"dim": 2, "factor": floats(1, 0, 0, 1)})
        good["pairs/kernel-pola"] = (
            {"b1": 1, "gamma": 0, **kernel},
            {"threshold": 1, "dim": 2, "points": floats(0, 1), "factor": floats(1), "age": 0, "form": {**form, "dim": 1, "basis": floats(1)}},
        )
        numbers = [0, -1, 3, 10**9, 2**31, 2**63, 10**30, 1.5, None, "", [], {}, "AAAA"]
        texts = ["", "A", "AAAA", "AAAAAAA", "?", floats(1), floats(math.nan, 1), floats(1, math.inf), floats(*[1] * 9), None, 1, [1, 2]]
        tried = 0
        for kind, (params, state) in good.items():
            load(seal(kind, params, state))
            for name, value in list(state.items()):
                for bad in texts if isinstance(value, str) else numbers:
                    if bad == value or (kind, name, bad) == ("kernels/transformed", "alpha", 0):
                        continue
                    if name in ("threshold", "alpha", "age") and isinstance(bad, (int, float)) and bad >= -1 and (name == "age" or bad != -1 or name == "threshold"):
                        continue  # any number is right, or nothing is done with it
                    if kind == "metric/low-rank" and name == "root" and bad == floats(1) or kind == "labels/lsa" and (name, bad) == ("values", floats(1)):
                        continue
                    if bad == floats(1) and (kind, name) in (("kernels/metric", "g"), ("kernels/metric", "shift"), ("kernels/transformed", "s"), ("pairs/kernel-pola", "factor")):
                        continue
                    tried += 1
                    with self.subTest(kind=kind, name=name, bad=bad):
                        self.refused(seal(kind, params, {**state, name: bad}))
                with self.subTest(kind=kind, missing=name):
                    if (kind, name) not in (("kernels/metric", "shift"), ("kernels/transformed", "alpha")):
                        self.refused(seal(kind, params, {k: v for k, v in state.items() if k != name}), "lacks")
            self.refused(seal(kind, params, {**state, "more": 1}), "unknown field")
            for other in (None, [], 1, "x"):
                self.refused(seal(kind, params, other))
                self.refused(seal(kind, other, state))
        self.assertGreater(tried, 200)
        for spec in ({}, {"name": "other"}, {"name": "linear", "gamma": 1}, {"name": "gaussian"}, {"name": "gaussian", "gamma": 0}, {"name": "polynomial", "degree": 0, "offset": 1}, {"name": "polynomial", "degree": 10**7, "offset": 1}, 1):
            self.refused(seal("kernels/metric", {"kernel": spec}, good["kernels/metric"][1]))
        self.refused(seal("metric/low-rank", {}, {"dim": 2, "rank": 1, "basis": floats(1, 1), "root": floats(3)}), "orthonormal")
        self.refused(seal("labels/lsa", {"centred": False}, {"mean": floats(1, 0), "rows": floats(1, 0), "values": floats(1)}), "centring")

    def test_model(self):
        x, y = rows(9, 20, 3)
        run("fit", write("t.csv", x, y), "--label=class", "--learner=fda", f"--out={path('m.json')}")
        with open(path("m.json")) as f:
            good = json.load(f)
        for where, bad in (
            ("layout.features", ["a", "b"]),
            ("layout.features", ["a", "b", "b"]),
            ("layout.features", ["a", "b", "class"]),
            ("layout.features", None),
            ("layout.width", 3),
            ("layout.width", 2**31),
            ("layout.header", 1),
            ("counts", [1, 1]),
            ("counts", [1, 0, 1]),
            ("classes", []),
            ("scale", floats(1, 0, 1)),
            ("scale", floats(1, math.nan, 1)),
            ("scale", ""),
            ("means", floats(1, 2, 3)),
            ("shift", floats(1)),
            ("metric", None),
            ("metric", {}),
            ("metric.version", 2),
            ("metric.sha256", "0"),
            ("metric.kind", "model"),
        ):
            with self.subTest(where=where, bad=bad):
                state = copy.deepcopy(good["state"])
                at = state
                *path_, last = where.split(".")
                for p in path_:
                    at = at[p]
                at[last] = bad
                self.refused(seal("model", good["params"], state))
        inside = seal("pairs/pola", {"b1": 1, "gamma": 0}, {"threshold": 1, "form": {"dim": 3, "order": 0, "core": "", "shift": 0, "log_shift": 0, "seen": 0, "age": 0, "turns": 0}})
        self.refused(seal("model", good["params"], {**good["state"], "metric": json.loads(inside)}), "its metric is of the kind 'pairs/pola'")


class Learn(Same):
    """Learner beside the command on the same lines."""

    def compare(self, lines, ask, *args, **options):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        flags = [f"--{k.replace('_', '-')}={v}" for k, v in options.items()]
        want = [json.loads(line) for line in run("learn", *(f"--learner={a}" for a in args), *flags, input=text.encode()).splitlines()]
        with pymetriclab.Learner(*args, **options) as learner:
            self.assertEqual([ask(learner, line) for line in lines], want)

    def test_answers(self):
        rng = random.Random(10)
        pairs = [{"x": [rng.gauss(0, 1) for _ in range(4)], "y": [rng.gauss(0, 1) for _ in range(4)], "label": rng.choice([-1, 1])} for _ in range(50)]
        del pairs[7]["label"]
        for name in ONLINE:
            self.compare(pairs, lambda l, line: l.pair(**line), name, state_every=10)
        triplets = [dict(zip(("a", "near", "far"), rng.sample(range(9), 3))) for _ in range(50)]
        triplets[30] = {"a": 0, "b": 1, "c": 2}
        self.compare(triplets, lambda l, line: l.nearer(**line) if "b" in line else l.triplet(**line), "erkle", objects=9, state_every=20)
        costs = [{"cost": [[rng.random() for _ in range(3)] for _ in range(4)]} for _ in range(20)]
        for name in ("rmp", "ftl"):
            self.compare(costs, lambda l, line: l.costs(**line), name)

    def test_numpy_and_saved_learners(self):
        with pymetriclab.Learner("pola", params={"gamma": np.float64(0.1)}, dim=2, save=path("pola.json")) as learner:
            first = learner.pair(np.array([0, 1.0]), np.array([2, 1], dtype=np.float32), label=np.int64(-1))
        self.assertEqual((first["round"], first["sqdist"], first["mistake"]), (1, 0, True))
        with pymetriclab.Learner(load=pathlib.Path(path("pola.json"))) as learner:
            self.assertGreater(learner.pair([0, 1], [2, 1])["sqdist"], 0)
        self.assertGreater(pymetriclab.load(path("pola.json")).distances([[0, 1]], [[2, 1]])[0, 0], 0)

    def test_saved_meanwhile(self):
        with pymetriclab.Learner("pola", save=path("every.json"), save_every=2) as learner:
            for k in range(3):
                learner.pair([0, 1], [2, 1 + k], label=-1)
            deadline = time.time() + 30  # the file is written beside the answers
            while not os.path.exists(path("every.json")) and time.time() < deadline:
                time.sleep(0.01)
            self.assertEqual(pymetriclab.load(path("every.json")).dim, 2)

    def test_refused_lines(self):
        with pymetriclab.Learner("pola", save=path("r.json")) as learner:
            learner.pair([0, 1], [2, 1], 1)
            for ask, want in (
                (lambda: learner.pair([0], [1], 1), "x: has 1 numbers?, want 2"),
                (lambda: learner.pair([0, 1], [2, 1], 2), "label"),
                (lambda: learner.pair([0, math.nan], [2, 1], 1), "finite"),
                (lambda: learner.pair([0, 1e999], [2, 1], 1), "finite"),
                (lambda: learner.send({"x": [0, 1]}), "y: missing"),
                (lambda: learner.send({"z\n": 1}), "unknown field"),
                (lambda: learner.pair([0.1] * 500000, [0.1] * 500000, 1), "500000 numbers"),
                (lambda: learner.triplet(1, 2, 3), "unknown field"),
            ):
                with self.assertRaisesRegex(pymetriclab.RefusedLine, want):
                    ask()
            with self.assertRaises(TypeError):
                learner.send({"x": {1, 2}})
            self.assertEqual(learner.pair([0, 1], [2, 1], 1)["round"], 2)
        pymetriclab.load(path("r.json"))

    def test_ends(self):
        for options, want in (
            ({"learner": "nothing"}, 'unknown learner "nothing"'),
            ({"learner": "pola", "params": {"gamma": -1}}, "gamma"),
            ({"load": path("nothing.json")}, "nothing.json"),
            ({"learner": "erkle"}, "objects"),
            ({"learner": "pola", "save": os.path.join(path("no"), "folder", "x.json")}, "x.json"),
        ):
            with self.assertRaisesRegex(pymetriclab.CommandError, want):
                with pymetriclab.Learner(**options) as learner:
                    learner.pair([0], [1], 1)
            learner.close()
        with self.assertRaisesRegex(pymetriclab.CommandError, "no program"):
            pymetriclab.Learner("pola", command=path("nothing"))
        # An exception in the block is the one that is seen, and the learner is saved.
        with self.assertRaises(ZeroDivisionError):
            with pymetriclab.Learner("pola", save=path("z.json")) as learner:
                learner.pair([0], [1], 1)
                1 / 0
        pymetriclab.load(path("z.json"))
        with self.assertRaisesRegex(pymetriclab.CommandError, "closed"):
            learner.pair([0], [1], 1)
        # A process that dies is an error, not a wait without end.
        learner = pymetriclab.Learner("pola")
        learner.pair([0], [1], 1)
        learner._process.kill()
        learner._process.wait()
        for _ in range(2):
            with self.assertRaises(pymetriclab.CommandError):
                learner.pair([0], [1], 1)
        learner.close()
        # Nothing was learned, so that nothing can be saved.
        with self.assertRaisesRegex(pymetriclab.CommandError, "no learner to save"):
            pymetriclab.Learner("pola", save=path("n.json")).close()

    def test_interrupted(self):
        learner = pymetriclab.Learner("pola", save=path("i.json"))
        learner.pair([0], [1], 1)

        class Interrupting:
            def get(self):
                raise KeyboardInterrupt

        heard, learner._heard = learner._heard, Interrupting()
        with self.assertRaises(KeyboardInterrupt):
            learner.pair([0], [2], 1)
        learner._heard = heard
        with self.assertRaisesRegex(pymetriclab.CommandError, "interrupted"):
            learner.pair([0], [3], 1)
        learner.close()
        pymetriclab.load(path("i.json"))


class Processes(unittest.TestCase):
    """No process of a Learner is left, and no wait is without end."""

    def program(self, text):
        """A program in the place of metriclab."""
        file = path(f"program{time.monotonic_ns()}")
        with open(file, "w") as f:
            f.write(f"#!{sys.executable}\nimport sys, time, json\n{text}\n")
        os.chmod(file, 0o755)
        return file

    def test_forgotten(self):
        learners = [pymetriclab.Learner("pola") for _ in range(40)]
        processes = [l._process for l in learners]
        learners[0].pair([0], [1], 1)
        del learners
        gc.collect()
        self.assertEqual([p.poll() is None for p in processes], [False] * 40)

    def test_forgotten_with_save(self):
        learner = pymetriclab.Learner("pola", save=path("forgotten.json"))
        learner.pair([0], [1], 1)
        del learner
        gc.collect()
        pymetriclab.load(path("forgotten.json"))

    def test_end_of_the_interpreter(self):
        text = "import pymetriclab; l = pymetriclab.Learner('pola'); l.pair([0], [1], 1); l.me = l; print(l._process.pid)"
        done = subprocess.run([sys.executable, "-c", text], cwd=HERE, stdout=subprocess.PIPE, timeout=60, check=True)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(done.stdout), 0)

    def test_init_fails(self):
        made, popen, thread = [], subprocess.Popen, threading.Thread

        def Popen(*args, **options):
            made.append(popen(*args, **options))
            return made[-1]

        def Thread(*_, **__):
            raise RuntimeError("no thread")

        _learner.subprocess.Popen, _learner.threading.Thread = Popen, Thread
        try:
            with self.assertRaises(RuntimeError):
                pymetriclab.Learner("pola")
        finally:
            _learner.subprocess.Popen, _learner.threading.Thread = popen, thread
        gc.collect()
        self.assertIsNotNone(made[0].poll())

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_forked(self):
        learner = pymetriclab.Learner("pola", timeout=60)
        learner.pair([0], [1], 1)
        ready, release = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                learner.pair([0], [1], 1)
            except pymetriclab.CommandError as e:
                code = 0 if "forked" in str(e) else 2
            learner.close()
            del learner
            gc.collect()
            os.write(ready[1], b"x")
            os.close(release[1])
            os.read(release[0], 1)
            os._exit(code)
        os.read(ready[0], 1)
        self.assertEqual(learner.pair([0], [1], 1)["round"], 2)
        learner.close()  # while the child lives: it holds no pipe
        os.close(release[1])
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        for fd in (*ready, release[0]):
            os.close(fd)

    def test_timeout(self):
        for text in ("time.sleep(600)", "sys.stdin.readline(); time.sleep(600)", "sys.stdin.close(); time.sleep(600)"):
            for size in (1, 500000):
                with self.subTest(text=text, size=size):
                    learner = pymetriclab.Learner("pola", timeout=1, command=self.program(text))
                    process = learner._process
                    with self.assertRaises(pymetriclab.CommandError):
                        learner.pair([0.5] * size, [1.5] * size, 1)
                    if learner._process is not None:
                        with self.assertRaises(pymetriclab.CommandError):
                            learner.close()
                    self.assertIsNotNone(process.poll())
                    learner.close()
        learner = pymetriclab.Learner("pola", timeout=1, command=self.program("time.sleep(600)"))
        with self.assertRaisesRegex(pymetriclab.CommandError, "within 1 seconds: the process is killed"):
            learner.close()
        for bad in (0, -1, math.nan):
            with self.assertRaisesRegex(pymetriclab.MetricLabError, "timeout"):
                pymetriclab.Learner("pola", timeout=bad)

    def test_wrong_answers(self):
        good = {"round": 1, "sqdist": 1, "similar": True}
        for answer in ("nonsense", "[]", "3", "{}", '{"round":1}', json.dumps({**good, "round": "1"}), json.dumps({**good, "sqdist": None}), '{"round":1,"sqdist":NaN,"similar":true}', "[" * 100000, "\xff", json.dumps(good) + " x", '{"round":1,"round":1,"sqdist":1,"similar":true}'):
            with self.subTest(answer=answer[:40]):
                learner = pymetriclab.Learner("pola", command=self.program(f"sys.stdin.readline(); print({answer!r}, flush=True); sys.stdin.read()"))
                process = learner._process
                with self.assertRaisesRegex(pymetriclab.CommandError, "no answer to the line"):
                    learner.pair([0], [1], 1)
                self.assertIsNotNone(process.poll())
                with self.assertRaisesRegex(pymetriclab.CommandError, "closed"):
                    learner.pair([0], [1], 1)
        # Two answers to a line are found at the next one; a map has a number per object.
        learner = pymetriclab.Learner("pola", command=self.program(f"sys.stdin.readline(); print({json.dumps(good)!r}); print({json.dumps(good)!r}, flush=True); sys.stdin.read()"))
        learner.pair([0], [1], 1)
        with self.assertRaisesRegex(pymetriclab.CommandError, "no answer to the line"):
            learner.pair([0], [1], 1)
        learner = pymetriclab.Learner("ftl", command=self.program("""sys.stdin.readline(); print('{"round":1,"map":[0]}', flush=True); sys.stdin.read()"""))
        with self.assertRaisesRegex(pymetriclab.CommandError, "no answer to the line"):
            learner.costs([[0], [1]])

    def test_died(self):
        learner = pymetriclab.Learner("pola", command=self.program("sys.stdin.readline(); [print('line', i, file=sys.stderr) for i in range(1000)]; sys.exit(3)"))
        with self.assertRaisesRegex(pymetriclab.CommandError, "(?s)^line 980.*line 999$"):
            learner.pair([0], [1], 1)


class Estimator(Same):
    """MetricLab in scikit-learn."""

    def setUp(self):
        if sklearn is None:
            say = "scikit-learn is missing; on Debian: apt-get install --no-install-recommends python3-sklearn"
            if os.environ.get("CI"):
                self.fail(say)
            self.skipTest(say)

    def test_is_the_command(self):
        x, y = rows(11, 90, 4)
        names = np.array(["one", "three", "two"])  # in the order of the alphabet
        table = write("t.csv", x, names[y])
        for learner, params in (("itml", {"gamma": 0.5}), ("lmnn", {}), ("kernel-fda", {"dim": 1})):
            flags = [f"--param={k}={v}" for k, v in params.items()]
            run("fit", table, "--label=class", f"--learner={learner}", *flags, f"--out={path('m.json')}")
            run("transform", table, f"--model={path('m.json')}", f"--npy={path('z.npy')}")
            e = pymetriclab.MetricLab(learner, params=params).fit(x, names[y])
            self.same(e.transform(x), np.load(path("z.npy")), KERNEL_CLOSE if learner.startswith("kernel") else CLOSE)
            m = pymetriclab.load(path("m.json"))
            self.assertEqual(e.predict(x).tolist(), m.predict(x, names[y], x, 3).tolist())
            e.save(path("saved.json"))
            self.assertEqual(e.model_.classes, ["0", "1", "2"])
            self.same(pymetriclab.load(path("saved.json")).transform(x), e.transform(x), 0)
            self.same(pickle.loads(pickle.dumps(e)).transform(x), e.transform(x), 0)

    def test_probabilities(self):
        from sklearn.model_selection import cross_val_score

        x, y = rows(17, 92, 4)
        x[:10], new = np.round(x[:10]), x[80:] * 0.9
        x = x[:80]
        x[3], x[4] = x[0], x[0]  # equal rows, of several classes
        names = np.array(["one", "three", "two"])[y]
        table, asked = write("t.csv", x, y[:80]), write("new.csv", new, y[80:])
        for learner, k in (("fda", 1), ("fda", 2), ("lmnn", 4), ("euclidean", 80), ("kernel-fda", 3)):
            e = pymetriclab.MetricLab(learner, n_neighbors=k).fit(x, names[:80])
            p = e.predict_proba(new)
            run("fit", table, "--label=class", f"--learner={learner}", f"--out={path('m.json')}")
            said = json.loads(run("predict", asked, f"--model={path('m.json')}", f"--train={table}", f"--k={k}", "--probabilities", "--json"))
            self.same(p, np.array([r[4:] for r in said["rows"]]), KERNEL_CLOSE if learner.startswith("kernel") else CLOSE)
            for some in (new, x):
                p = e.predict_proba(some)
                self.assertEqual(e.classes_[p.argmax(axis=1)].tolist(), e.predict(some).tolist())
                self.assertTrue((p > 0).all() and np.allclose(p.sum(axis=1), 1, rtol=0, atol=1e-14))
        e.n_neighbors = 5
        self.assertEqual(e.predict_proba(new).shape, (12, 3))
        self.assertEqual(sorted(e._calibrations), [3, 5])  # each is learned once
        self.same(pickle.loads(pickle.dumps(e)).predict_proba(new), e.predict_proba(new), 0)
        self.assertLess(-cross_val_score(pymetriclab.MetricLab("fda"), x, y[:80], cv=3, scoring="neg_log_loss").mean(), math.log(3))
        with self.assertRaisesRegex(pymetriclab.CommandError, "without the 1 row of fold"):
            pymetriclab.MetricLab("fda", n_neighbors=1).fit(x[:3], ["a", "a", "b"]).predict_proba(new)

    def test_calibration(self):
        """The program of docs/guides/tables-more.md, on two classes of known posterior."""
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "scripts"))
        import calibration

        y = np.arange(200) % 2
        said = np.tile([0.75, 0.25], (200, 1))
        loss, brier, ece, wrong = calibration.measures(said, y)
        self.same(np.array([loss, brier, ece, wrong]), np.array([-math.log(0.75 * 0.25) / 2, 0.625, 0.25, 0.5]))
        rng = np.random.default_rng(5)
        x = rng.random((900, 1))
        y = (rng.random(900) < x[:, 0]).astype(int)
        found = calibration.divided(x, y, "euclidean", 1)
        (votes,), (ours,) = found["KNeighborsClassifier"], found["metriclab"]
        self.assertLess(ours[0], votes[0] / 2)
        self.assertLess(ours[2], 0.1)  # 3.3 deviations of a share of 270 rows

    def test_pipeline_and_search(self):
        from sklearn.base import clone
        from sklearn.model_selection import GridSearchCV, cross_val_score
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        x, y = rows(12, 90, 4)
        pipe = make_pipeline(StandardScaler(), pymetriclab.MetricLab("rca", standardise=False), KNeighborsClassifier(3))
        self.assertGreater(cross_val_score(pipe, x, y, cv=3).mean(), 0.8)
        grid = {"learner": ["itml", "fda"], "n_neighbors": [1, 5]}
        search = GridSearchCV(pymetriclab.MetricLab(), grid, cv=3, n_jobs=2).fit(x, y)
        self.assertGreater(search.best_score_, 0.8)
        self.assertIn(search.best_params_["learner"], grid["learner"])
        search = GridSearchCV(pymetriclab.MetricLab("itml"), {"params": [{"gamma": 0.1}, {"gamma": 10.0}]}, cv=3).fit(x, y)
        self.assertIn(search.best_params_["params"], [{"gamma": 0.1}, {"gamma": 10.0}])
        e = pymetriclab.MetricLab("pola", params={"gamma": 0.1}, passes=2)
        self.assertEqual(clone(e).get_params(), e.get_params())
        self.assertEqual(e.set_params(passes=3).passes, 3)

    def test_options(self):
        x, y = rows(13, 60, 3)
        x[::5, 1] = math.nan
        with self.assertRaisesRegex(ValueError, "NaN"):
            pymetriclab.MetricLab("fda").fit(x, y)
        e = pymetriclab.MetricLab("pola", impute=True, pairs=100, passes=2, seed=7, max_memory="1GB").fit(x, y)
        run("fit", write("t.csv", x, y), "--label=class", "--learner=pola", "--impute=mean", "--pairs=100", "--passes=2", "--seed=7", f"--out={path('m.json')}")
        self.same(e.transform(x), pymetriclab.load(path("m.json")).transform(x))
        self.assertEqual(e.model_.recipe["pairs"], 100)
        self.assertEqual(pymetriclab.MetricLab("kernel-itml", impute=True).fit(x, y).score(x, y) > 0.5, True)
        for options, want in (
            ({"learner": "nothing"}, 'unknown learner "nothing"'),
            ({"learner": "fda", "params": {"nothing": 1}}, "nothing"),
            ({"learner": "fda", "seed": 3}, "nothing is drawn"),
            ({"learner": "fda", "max_memory": "1B"}, "memory|limit"),
            ({"learner": "fda", "command": path("nothing")}, "no program"),
        ):
            with self.assertRaisesRegex(pymetriclab.CommandError, want):
                pymetriclab.MetricLab(**options).fit(np.nan_to_num(x), y)
        with self.assertRaisesRegex(ValueError, "1 class"):
            pymetriclab.MetricLab("fda").fit(np.nan_to_num(x), y * 0)

    def test_names_of_features(self):
        x, y = rows(15, 60, 2)
        for given, want in (
            (("alcohol", "a, b"), ["alcohol", "a, b"]),
            (("class", " ash "), ["class", "ash"]),
            (("x", "x "), ["1", "2"]),
            ((" ", "b"), ["1", "2"]),
            (("2", "1"), ["2", "1"]),
            (('q"uote', "=1+1"), ['q"uote', "=1+1"]),
            (("line\nend", "?"), ["line\nend", "?"]),
        ):
            frame = Frame(**dict(zip(given, x.T)))
            e = pymetriclab.MetricLab("fda").fit(frame, y)
            self.assertEqual(e.model_.features, want)
            self.same(e.transform(frame), pymetriclab.MetricLab("fda").fit(x, y).transform(x), 0)

    def test_checks_of_scikit_learn(self):
        from sklearn.utils.estimator_checks import check_estimator

        checks = 0
        for estimator, check in (pair for e in (pymetriclab.ITML(), pymetriclab.PCA()) for pair in check_estimator(e, generate_only=True)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with self.subTest(check=str(check)):
                    try:
                        check(estimator)
                    except unittest.SkipTest:  # of pandas, where it is missing
                        pass
            checks += 1
        self.assertGreater(checks, 70)

    def test_newer_scikit_learn(self):
        """From version 1.6 on validate_data checks, and knows no force_all_finite."""
        from sklearn.utils import validation

        def validate_data(estimator, X, *, ensure_all_finite, **options):
            return estimator._validate_data(X, **options, force_all_finite=ensure_all_finite)

        x, y = rows(18, 30, 3)
        validation.validate_data = validate_data
        try:
            self.same(pymetriclab.PCA(impute=True).fit(x).transform(x), pymetriclab.MetricLab("pca").fit(x, y).transform(x))
        finally:
            del validation.validate_data


class Classes(Same):
    """The classes of learners, beside MetricLab and the command."""

    setUp = Estimator.setUp

    def test_every_learner(self):
        """Each takes the feedback that it is for, and one of its parameters is passed on."""
        from pymetriclab import learners

        x, y = rows(21, 60, 4)
        i = np.random.default_rng(1).integers(0, 60, (150, 2))
        i = i[i[:, 0] != i[:, 1]]
        pairs, alike = x[i], np.where(y[i[:, 0]] == y[i[:, 1]], 1, -1)
        rng = np.random.default_rng(2)
        asked = np.array([rng.permutation(8)[:3] for _ in range(200)])
        nearer = np.where(np.abs(asked[:, 0] - asked[:, 1]) < np.abs(asked[:, 0] - asked[:, 2]), 1, -1)
        found, fitted = {c: getattr(learners, c) for c in learners.__all__}, 0
        self.assertEqual(len({c._learner for c in found.values()}), len(found))
        for name, c in found.items():
            with self.subTest(learner=name):
                e, kind, fitted = c(n_jobs=1), c.__mro__[1].__name__, fitted + 1
                self.assertIn("default", c.__doc__)
                if kind in ("_PairLearner", "_ClassLearner"):
                    mine, theirs = e.fit(x, y).model_, pymetriclab.MetricLab(c._learner).fit(x, y).model_
                    self.same(mine.distances(x[:5]), theirs.distances(x[:5]), 0)
                    self.assertGreater(e.score(x, y), 0.6)
                if kind == "_PairLearner":
                    e.set_params(standardise=False).fit(pairs, alike)
                    self.assertGreater(e.score(pairs, alike), 0.6)
                    self.same(c(standardise=False, preprocessor=x).fit(i, alike).pair_distance(pairs), e.pair_distance(pairs), 1e-9)
                    if c._table:
                        with self.assertRaisesRegex(ValueError, "no matrix"):
                            e.get_mahalanobis_matrix()
                    else:
                        u = pairs[:, 0] - pairs[:, 1]
                        self.same(np.einsum("ni,ij,nj->n", u, e.get_mahalanobis_matrix(), u), e.pair_distance(pairs) ** 2, 1e-9)
                        self.assertEqual(e.predict(pairs).tolist(), np.where(e.pair_score(pairs) >= -e.threshold_, 1, -1).tolist())
                elif kind == "_DataLearner":
                    self.same(e.fit(x).transform(x), pymetriclab.MetricLab(c._learner).fit(x, y).transform(x), 1e-9)
                elif kind == "_Comparisons":
                    self.assertGreater(e.fit(asked, nearer).score(asked, nearer), 0.9)
                    self.assertEqual(e.embedding_.shape, (8, 2))
                    self.assertEqual(e.predict(asked).tolist(), [1 if e.score([t]) else -1 for t in asked])
                elif kind == "_Maps":
                    self.assertEqual(e.fit(rng.random((20, 4, 3))).maps_.shape, (20, 4))
                elif kind == "_Similarity":
                    judged = np.array([[q, d, y[q] == y[d]] for q in range(9) for d in range(60) if q != d], dtype=int)
                    z = (x - x.mean(0)) / x.std(0)
                    w = e.fit(z[:9], judged, documents=z).pair_score(z[i])
                    self.assertGreater(w[alike > 0].mean(), w[alike < 0].mean())
                    self.same(c().fit(z[[[0, 3, 1]]]).matrix_, c().fit(z[:1], [[0, 3, 2], [0, 1, 0]], documents=z).matrix_)
                elif kind == "_Constrained":
                    k = e.fit(2 * np.eye(3), [{"i": 0, "j": 1, "at_most": 1.2}]).kernel_
                    self.assertLessEqual(k[0, 0] + k[1, 1] - 2 * k[0, 1], 1.2 + 1e-6)
        self.assertGreater(fitted, 30)

    def test_parameters(self):
        """They reach the command, those at their defaults but for the value do not, and a wrong one is told of."""
        from pymetriclab import ITML, IPLR, LMNN, NCA, POLA, TraceSSIKDR

        self.assertEqual(ITML(gamma=0.5)._recipe(), ["--learner=itml", "--param", "gamma=0.5"])
        self.assertEqual(POLA(passes=3)._recipe(), ["--learner=pola", "--passes=3"])
        self.assertEqual(NCA(passes=3, batch=10)._recipe()[1:], ["--param", "batch=10", "--param", "passes=3"])
        self.assertEqual(TraceSSIKDR(kernel_gamma=2.0)._recipe()[1:], ["--param", "kernel-gamma=2.0"])
        self.assertEqual(IPLR()._recipe(), ["--learner=iplr"])
        x, y = rows(22, 60, 3)
        self.same(LMNN(k=5).fit(x, y).transform(x), pymetriclab.MetricLab("lmnn", params={"k": 5}).fit(x, y).transform(x), 0)
        self.same(ITML(n_constraints=99, random_state=6).fit(x, y).transform(x), pymetriclab.MetricLab("itml", pairs=99, seed=7).fit(x, y).transform(x), 0)
        with self.assertRaisesRegex(pymetriclab.CommandError, "gamma"):
            ITML(gamma=-1).fit(x, y)
        with self.assertRaises(TypeError):
            ITML(nothing=1)

    def test_search(self):
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        x, y = rows(12, 90, 4)
        search = GridSearchCV(make_pipeline(StandardScaler(), pymetriclab.ITML()), {"itml__gamma": [0.1, 10.0]}, cv=3).fit(x, y)
        self.assertGreater(search.best_score_, 0.8)
        self.assertEqual(search.predict_proba(x).shape, (90, 3))

    def test_other_feedback(self):
        x, y = rows(23, 60, 4)
        t = np.array([[i, (i + 3) % 60, (i + 4) % 60] for i in range(60)])
        e = pymetriclab.ITML().fit(x[t])
        self.assertGreater((e.pair_distance(x[t[:, :2]]) < e.pair_distance(x[t[:, ::2]])).mean(), 0.8)
        judged = np.array([[q, d, y[q] == y[d]] for q in range(20) for d in range(60) if q != d], dtype=int)
        e = pymetriclab.ITML().fit(x[:20], judged, documents=x)
        self.assertGreater((e.pair_distance(x[t[:, :2]]) < e.pair_distance(x[t[:, ::2]])).mean(), 0.8)
        for ask, want in (
            (lambda: e.predict(x), "no classes are known"),
            (lambda: e.predict_proba(x), "no classes are known"),
            (lambda: e.pair_distance(x), "n x 2 x features"),
            (lambda: pymetriclab.ITML().fit(x[t[:, :2]], y[:3]), "want pairs"),
            (lambda: pymetriclab.LMNN().fit(x[t[:, :2]], y), "dim 3|3 dim"),
            (lambda: pymetriclab.STE().fit(x), "n x 3"),
        ):
            with self.assertRaisesRegex(ValueError, want):
                ask()
        with self.assertRaises(AttributeError):
            e.threshold_
        with self.assertRaises(AttributeError):
            pymetriclab.Nothing

    def test_verbose(self):
        import contextlib

        x, y = rows(24, 30, 3)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            pymetriclab.FDA(verbose=True, n_jobs=1).fit(x, y)
            self.assertEqual(said.getvalue(), "")
            with self.assertRaises(pymetriclab.CommandError) as e:
                pymetriclab.FDA(verbose=True, dim=9).fit(x, y)
        self.assertEqual(said.getvalue().strip(), str(e.exception))


@unittest.skipIf(hnswlib is None and not os.environ.get("CI"), "hnswlib is missing; on Debian: apt-get install --no-install-recommends python3-hnswlib")
class Index(unittest.TestCase):
    """Vectors that transform has written, in an index that knows nothing of metriclab."""

    def test_index_finds_the_neighbours(self):
        rng = np.random.default_rng(13)
        n, d, k, asked = 5000, 32, 10, 200
        y = np.arange(n) % 20
        x = (rng.standard_normal((20, d))[y] + rng.standard_normal((n, d)) * rng.uniform(0.2, 3, d)).astype("f4")
        np.save(path("x.npy"), x)
        with open(path("pairs.csv"), "w") as f:
            for i, j in rng.integers(0, n, (4000, 2)):
                if i != j:
                    f.write(f"{i},{j},{1 if y[i] == y[j] else -1}\n")
        run("fit", f"--vectors={path('x.npy')}", f"--pairs={path('pairs.csv')}", "--learner=lego", f"--out={path('m.json')}")
        run("transform", f"--model={path('m.json')}", f"--vectors={path('x.npy')}", f"--npy={path('z.npy')}")
        z = np.load(path("z.npy"))
        self.assertEqual((z.dtype, z.shape), (np.dtype("f4"), (n, d)))
        told = run("neighbours", f"--vectors={path('x.npy')}", f"--model={path('m.json')}", "--rows=" + ",".join(map(str, range(asked))), f"--k={k}")
        exact = np.array([line.split(",")[2] for line in told.splitlines()[1:]], dtype=int).reshape(asked, k)
        index = hnswlib.Index(space="l2", dim=d)
        index.init_index(max_elements=n, M=16, ef_construction=200, random_seed=1)
        index.set_num_threads(1)
        index.add_items(z)
        index.set_ef(200)
        found, _ = index.knn_query(z[:asked], k=k + 1)
        hits = sum(len({*row} & {*exact[i]}) for i, row in enumerate(found.tolist()))
        self.assertGreaterEqual(hits / exact.size, 0.99)
        # Under the old distances they are others: the test can fail.
        before = hnswlib.Index(space="l2", dim=d)
        before.init_index(max_elements=n, M=16, ef_construction=200, random_seed=1)
        before.add_items(x, num_threads=1)
        before.set_ef(200)
        others, _ = before.knn_query(x[:asked], k=k + 1)
        self.assertLess(sum(len({*row} & {*exact[i]}) for i, row in enumerate(others.tolist())) / exact.size, 0.9)


class Documents(Same):
    def test_without_scikit_learn(self):
        """All but MetricLab works, and that says what to install."""
        program = "import sys; sys.modules['sklearn'] = None; import pymetriclab; print(pymetriclab.load(sys.argv[1]).dim)\ntry: pymetriclab.MetricLab()\nexcept ImportError as e: print(e)"
        out = subprocess.run([sys.executable, "-c", program, str(HERE / "testdata" / "metric.json")], cwd=HERE, stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertRegex(out, r"^3\s+MetricLab needs scikit-learn: apt-get install python3-sklearn")

    def test_readme(self):
        """The programs of README.md and of the guides run as they are, beside metric-learn and cblearn where these are."""
        pages = (HERE / "README.md", *(HERE.parent / "docs" / "guides" / page for page in ("streams.md", "python.md")))
        blocks = [b for page in pages for b in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)]
        self.assertEqual(len(blocks), 5)
        self.assertLessEqual(len(pages[-1].read_text(encoding="utf-8").split()), 600)
        if sklearn is None and not os.environ.get("CI"):
            self.skipTest("it uses scikit-learn")
        x, y = rows(14, 60, 4)
        run("fit", write("wine.csv", x, y), "--label=class", "--learner=lmnn", f"--out={path('wine.json')}")
        here = os.getcwd()
        os.chdir(scratch.name)
        try:
            for block in blocks:
                peer = re.match("# side by side with (.*)", block)
                if not peer:
                    exec(block, {"X": x, "y": y, "X_new": x[:5], "print": lambda *_: None})
                elif not os.environ.get(peer[1].upper()):
                    print(f"not done: side by side with {peer[1]}, whose checkout {peer[1].upper()} would name")
                else:
                    self.beside(peer[1], block)
        finally:
            os.chdir(here)

    def beside(self, peer, block):
        rng = np.random.default_rng(1)
        x, at = rng.standard_normal((60, 4)), rng.permutation(60)[:50].reshape(25, 2)
        d = (x[:12, None, :2] - x[None, :12, :2]) ** 2 @ np.ones(2)
        asked = [rng.permutation(12)[:3] for _ in range(400)]
        data = {"pairs": x[at], "y_pairs": np.where(np.arange(25) % 2, 1, -1), "triplets": np.array([(a, b, c) if d[a, b] < d[a, c] else (a, c, b) for a, b, c in asked])}
        sys.path.insert(0, os.environ[peer.upper()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec("import cblearn.embedding" if peer == "cblearn" else f"import {peer}", data)
            exec(f"from pymetriclab import ITML, SOE\nimport numpy as np\n{block}", data)
        self.assertTrue(data["same"])
        if peer == "metric_learn":  # as the table says
            theirs, n = data[peer].Covariance().fit(x), len(x)
            self.same(pymetriclab.InvCov(standardise=False).fit(x).get_mahalanobis_matrix() * (n - 1) / n, theirs.get_mahalanobis_matrix(), 1e-9)


if __name__ == "__main__":
    started = time.monotonic()
    result = unittest.main(exit=False).result
    print(f"{time.monotonic() - started:.0f} s")
    if os.environ.get("CI") and (result.skipped or result.testsRun < 30):
        sys.exit(f"{result.testsRun} tests ran, {len(result.skipped)} skipped; in CI at least 30 run, and none is skipped")
    sys.exit(not result.wasSuccessful())
