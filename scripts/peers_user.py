"""What a Python user would write in place of four commands of metriclab: whole programs, which
scripts/peers.py times beside them.

    python3 peers_user.py transform ROWS.csv FIT.npz OUT.csv
    python3 peers_user.py predict   ROWS.csv FIT.npz TRAIN.csv OUT.csv
    python3 peers_user.py evaluate  ROWS.csv FOLDS.npy    one fold, as metriclab evaluate --splits 1
    python3 peers_user.py learn     PAIRS.jsonl OUT.jsonl

FIT.npz has the means and scales of the features, and the factor L of the metric.
"""

import json
import sys

import numpy as np
import pandas as pd

K = 5


def embed(frame, fit):
    return ((frame.drop(columns="class").to_numpy() - fit["means"]) / fit["scales"]) @ fit["factor"].T


def transform(rows, fit, out):
    frame = pd.read_csv(rows)
    z = embed(frame, np.load(fit))
    embedded = pd.DataFrame(z, columns=[f"z{j + 1}" for j in range(z.shape[1])])
    embedded.insert(0, "class", frame["class"])
    embedded.to_csv(out, index=False)


def predict(rows, fit, train, out):
    from sklearn.neighbors import NearestNeighbors

    frame, known, fit = pd.read_csv(rows), pd.read_csv(train), np.load(fit)
    distance, index = NearestNeighbors(n_neighbors=K).fit(embed(known, fit)).kneighbors(embed(frame, fit))
    voted = known["class"].to_numpy()[index]
    votes = (voted[:, :, None] == voted[:, None, :]).sum(2)
    first = votes.argmax(1)  # of classes with as many votes that of the nearest
    take = np.arange(len(frame))
    answer = {"row": take, "class": voted[take, first], "share": votes[take, first] / K, "distance": distance[:, 0]}
    pd.DataFrame(answer).to_csv(out, index=False)


def evaluate(rows, folds):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    frame = pd.read_csv(rows)
    x, y = frame.drop(columns="class").to_numpy(), frame["class"].to_numpy()
    test = np.load(folds) == 0
    scaler = StandardScaler().fit(x[~test])
    z = scaler.transform(x)
    fisher = LinearDiscriminantAnalysis(solver="eigen").fit(z[~test], y[~test])
    wrong = {}
    for name, points in (("euclidean-raw", x), ("euclidean", z), ("fda", fisher.transform(z))):
        near = KNeighborsClassifier(n_neighbors=K).fit(points[~test], y[~test])
        wrong[name] = float((near.predict(points[test]) != y[test]).mean())
    print(json.dumps(wrong))


def learn(pairs, out):
    """POLA: Shalev-Shwartz, Singer, Ng, ICML 2004, Fig. 1."""
    a, b = None, 1.0
    with open(pairs) as lines, open(out, "w") as answers:
        for i, line in enumerate(lines):
            pair = json.loads(line)
            v, label = np.array(pair["x"]) - np.array(pair["y"]), pair["label"]
            if a is None:
                a = np.zeros((len(v), len(v)))
            square = float(v @ a @ v)
            similar = square <= b
            loss, step = max(0.0, label * (square - b) + 1), 0.0
            if loss > 0:
                step = label * loss / (float(v @ v) ** 2 + 1)
                a = a - step * np.outer(v, v)
                b = max(1.0, b + step)
                if label > 0:
                    values, vectors = np.linalg.eigh(a)
                    if values[0] < 0:
                        a = a - values[0] * np.outer(vectors[:, 0], vectors[:, 0])
            answer = {"round": i + 1, "sqdist": square, "similar": similar, "loss": loss, "mistake": similar != (label > 0), "step": step}
            answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    {"transform": transform, "predict": predict, "evaluate": evaluate, "learn": learn}[sys.argv[1]](*sys.argv[2:])
