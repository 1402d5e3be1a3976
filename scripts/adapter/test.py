"""Runs metriclab adapt for every operator and way to search, and compares the files that it writes with each other, in NumPy, hnswlib and faiss. For test.mjs it leaves
documents.json, and in each folder expected.json: the images of the queries, and the documents in the order of an exact search."""

import json
import pathlib
import struct
import subprocess
import sys

import faiss
import hnswlib
import numpy as np

program, work = sys.argv[1], pathlib.Path(sys.argv[2])
N, D, Q, K = 1500, 24, 120, 10
rng = np.random.default_rng(1)
centres = rng.standard_normal((8, D)) * (np.arange(D) < 6)
topic, asked = rng.integers(8, size=N), rng.integers(8, size=Q)
documents = (centres[topic] + rng.standard_normal((N, D))).astype(np.float32)
queries = (centres[asked] + rng.standard_normal((Q, D))).astype(np.float32)


def lines(name, x, letter):
    with open(work / name, "w") as f:
        for i, row in enumerate(x):
            f.write(f"{letter}{i}\t[{','.join(str(v) for v in row)}]\n")


lines("documents.txt", documents, "d")
lines("queries.txt", queries, "q")
with open(work / "qrels.tsv", "w") as f:
    f.write("query-id\tcorpus-id\tscore\n")
    for q in range(Q):
        near, far = rng.choice(np.flatnonzero(topic == asked[q]), 2, replace=False), rng.choice(np.flatnonzero(topic != asked[q]), 2, replace=False)
        for d, grade in [(d, 1) for d in near] + [(d, 0) for d in far]:
            f.write(f"q{q}\td{d}\t{grade}\n")
(work / "documents.json").write_text(json.dumps(documents.tolist()))


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def recall(found, want):
    return np.mean([len(set(a) & set(b)) / K for a, b in zip(found, want)])


folders = []
for operator in ("cosine", "ip", "l2"):
    for way in ("oasis:query", "itml:query", "itml:cosine", "itml:euclid"):
        out = work / f"{operator}-{way.replace(':', '-')}"
        args = ["adapt", "--documents", work / "documents.txt", "--queries", work / "queries.txt", "--qrels", work / "qrels.tsv", "--operator", operator]
        args += ["--learners", way.split(":")[0], "--way", way, "--out", out, "--json"]
        verdict = json.loads(subprocess.run([program, *map(str, args)], check=True, capture_output=True, text=True).stdout)
        a = np.load(out / "map.npy")
        raw = (out / "map.safetensors").read_bytes()
        (size,) = struct.unpack("<Q", raw[:8])
        head = json.loads(raw[8 : 8 + size])
        tensor = head["weight"]
        assert size % 8 == 0 and tensor["dtype"] == "F32" and tensor["data_offsets"] == [0, a.nbytes] and len(raw) == 8 + size + a.nbytes, head
        assert np.array_equal(np.frombuffer(raw[8 + size :], "<f4").reshape(tensor["shape"]), a), out

        scope = {}
        code = (out / "README.md").read_text().split("```python\n")[1].split("```")[0].replace('"map.npy"', repr(str(out / "map.npy")))
        exec(code, scope)  # the function learned of the README
        learned = scope["learned"]
        mapped = not way.endswith("query")
        x, y = (learned(documents) if mapped else documents), learned(queries)
        ranked_by = {"query": operator, "cosine": "cosine", "euclid": "l2"}[way.split(":")[1]]
        if ranked_by == "cosine":
            scores = unit(y).astype(np.float64) @ unit(x).T.astype(np.float64)
        elif ranked_by == "ip":
            scores = y.astype(np.float64) @ x.T.astype(np.float64)
        else:
            scores = -((y[:, None].astype(np.float64) - x[None]) ** 2).sum(-1)
        want = np.argsort(-scores, axis=1, kind="stable")[:, :K]

        index = hnswlib.Index(ranked_by, x.shape[1])
        index.init_index(len(x), ef_construction=200, M=16)
        index.set_ef(400)
        index.add_items(x)
        hnsw = recall(index.knn_query(y, k=K)[0], want)
        metric = faiss.METRIC_L2 if ranked_by == "l2" else faiss.METRIC_INNER_PRODUCT
        index = faiss.IndexHNSWFlat(x.shape[1], 32, metric)
        index.hnsw.efSearch = 400
        index.add((unit(x) if ranked_by == "cosine" else x).astype(np.float32))
        flat = recall(index.search(y.astype(np.float32), K)[1], want)
        print(f"{out.name}: {verdict['verdict']}; recall of the exact search's first {K}: hnswlib {hnsw:.3f}, faiss {flat:.3f}")
        assert hnsw >= 0.95 and flat >= 0.95, out
        (out / "expected.json").write_text(json.dumps({"queries": queries.tolist(), "images": y.tolist(), "order": want.tolist(), "mapped": mapped, "by": ranked_by, "width": a.shape[0]}))
        folders.append(out.name)
(work / "folders.json").write_text(json.dumps(folders))
