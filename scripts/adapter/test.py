"""Runs metriclab adapt for every operator and way to search, and what the README that it writes says of NumPy, faiss and hnswlib. For test.mjs it leaves documents.json,
folders.json, and in each folder expected.json: vectors and their images, and of the first queries the documents in the order of an exact search."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys

import faiss
import hnswlib
import numpy as np

program, work = (pathlib.Path(p).resolve() for p in sys.argv[1:])
N, D, Q, K = 2000, 24, 120, 10
rng = np.random.default_rng(1)
centres = rng.standard_normal((8, D)) * (np.arange(D) < 6)
topic, asked = rng.integers(8, size=N), rng.integers(8, size=Q)
documents = (centres[topic] + rng.standard_normal((N, D))).astype(np.float32)
queries = (centres[asked] + rng.standard_normal((Q, D))).astype(np.float32)
documents[:, -1] = queries[:, -1] = 0  # which no pair tells: pa's map has fewer rows than columns


def lines(name, x, letter):
    with open(work / name, "w") as f:
        for i, row in enumerate(x):
            f.write(f"{letter}{i}\t[{','.join(str(v) for v in row)}]\n")


lines("documents.txt", documents, "d")
lines("queries.txt", queries, "q")
relevant = []
with open(work / "qrels.tsv", "w") as f:
    f.write("query-id\tcorpus-id\tscore\n")
    for q in range(Q):
        near, far = rng.choice(np.flatnonzero(topic == asked[q]), 2, replace=False), rng.choice(np.flatnonzero(topic != asked[q]), 2, replace=False)
        relevant += [(q, d) for d in near]
        for d, grade in [(d, 1) for d in near] + [(d, 0) for d in far]:
            f.write(f"q{q}\td{d}\t{grade}\n")
(work / "documents.json").write_text(json.dumps(documents.tolist()))


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def exact(by, x, y):
    """What x are to y by an operator, the higher the nearer, in float64."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    if by == "cosine":
        return unit(y) @ unit(x).T
    if by == "ip":
        return y @ x.T
    return -((y[:, None] - x) ** 2).sum(-1)


def rank(scores):
    """The geometric mean of the ranks of what is relevant."""
    return np.exp(np.mean([np.log((scores[q] >= scores[q, d]).sum()) for q, d in relevant]))


def recall(found, want):
    return np.mean([len(set(a) & set(b)) / K for a, b in zip(found, want)])


def indexes(by, x):
    """Indexes of today, of faiss and hnswlib."""
    f = faiss.IndexHNSWFlat(x.shape[1], 32, faiss.METRIC_L2 if by == "l2" else faiss.METRIC_INNER_PRODUCT)
    f.hnsw.efSearch = 200
    f.add(unit(x) if by == "cosine" else x)
    h = hnswlib.Index(by, x.shape[1])
    h.init_index(len(x), ef_construction=200, M=16)
    h.set_ef(200)
    h.add_items(x)
    return f, h


folders, shapes = [], set()
for operator in ("cosine", "ip", "l2"):
    as_it_is = rank(exact(operator, documents, queries))
    for way in ("oasis:query", "itml:query", "itml:cosine", "itml:euclid", "pa:euclid"):
        out = work / f"{operator}-{way.replace(':', '-')}"
        args = ["adapt", "--documents", work / "documents.txt", "--queries", work / "queries.txt", "--qrels", work / "qrels.tsv", "--operator", operator]
        args += ["--learners", way.split(":")[0], "--way", way, "--out", out]
        subprocess.run([program, *map(str, args)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        a = np.load(out / "map.npy")
        raw = (out / "map.safetensors").read_bytes()
        (size,) = struct.unpack("<Q", raw[:8])
        head = json.loads(raw[8 : 8 + size])
        tensor = head["weight"]
        assert size % 8 == 0 and tensor["dtype"] == "F32" and tensor["data_offsets"] == [0, a.nbytes] and len(raw) == 8 + size + a.nbytes, head
        assert tensor["shape"] == list(a.shape) and np.array_equal(np.frombuffer(raw[8 + size :], "<f4").reshape(a.shape), a), out

        code = re.findall(r"```python\n(.*?)```", (out / "README.md").read_text(), re.DOTALL)
        assert len(code) == 3, out
        os.chdir(out)  # for map.npy
        scope = {"documents": documents, "queries": queries}
        exec(code[0], scope)
        learned = scope["learned"]
        mapped = not way.endswith("query")
        x, y = (learned(documents) if mapped else documents), learned(queries)
        by = {"query": operator, "cosine": "cosine", "euclid": "l2"}[way.split(":")[1]]
        scores = exact(by, x, y)
        want = np.argsort(-scores, axis=1, kind="stable")[:, :K]
        found = []
        for index, example in zip((None, None) if mapped else indexes(operator, documents), code[1:]):
            scope["index"] = index
            exec(example, scope)
            found.append(recall(scope["ids"], want))
        now = rank(scores)
        print(f"{out.name}: {a.shape[0]} x {a.shape[1]}; rank {as_it_is:.1f}, learned {now:.1f}; recall of the exact search's first {K}: faiss {found[0]:.3f}, hnswlib {found[1]:.3f}")
        assert now < as_it_is or way.endswith("query") and operator == "l2", out  # it was learned from these; distances from Mq are not those of M
        assert min(found) >= 0.95, out
        some = np.vstack([queries, np.zeros_like(queries[:1])])
        expected = {"vectors": some, "images": learned(some), "order": want[:40]}
        (out / "expected.json").write_text(json.dumps({k: v.tolist() for k, v in expected.items()} | {"by": by}))
        folders.append(out.name)
        shapes.add(a.shape[0] == D)
assert shapes == {False, True}, "no map has fewer rows than columns"
(work / "folders.json").write_text(json.dumps(folders))
