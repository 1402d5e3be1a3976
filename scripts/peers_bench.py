"""What scripts/peers.py measures with: the programs of a checkout, sides that take turns, and what
the processor and the BLAS are."""

import os

for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ[name + "_NUM_THREADS"] = "1"  # before NumPy is loaded
os.environ["GOMAXPROCS"] = "1"

import ctypes
import importlib
import itertools
import json
import pathlib
import platform
import re
import subprocess
import sys
import time

SCRIPTS = pathlib.Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
INSTALL = {
    "numpy": "install python3-numpy by apt, or numpy by pip",
    "scipy": "install python3-scipy by apt, or scipy by pip",
    "sklearn": "install python3-sklearn by apt, or scikit-learn by pip",
    "pandas": "install python3-pandas by apt, or pandas by pip",
    "metric_learn": "install metric-learn by pip, or give --path metric_learn=DIR",
    "cblearn": "give --path cblearn=DIR, a checkout, and install python3-sparse and python3-sklearn by apt",
    "kmedoids": "give --path kmedoids=DIR, a checkout of the Rust crate",
    "resource": "this system does not tell the CPU time of a child",
}


def load(module):
    """The module, or None if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


np = load("numpy")
if np is None:
    sys.exit("peers.py: NumPy is missing; " + INSTALL["numpy"])


class Different(Exception):
    """The results differ."""


class Short(Exception):
    """The peer did not get as far as we did. Ours is verified: its time counts."""


class NotDone(Exception):
    """A side cannot do the work."""


class Build:
    """The programs of a checkout, and a folder for what they read and write."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        folder.mkdir()
        for program in ("./internal/tools/speed", "./cmd/metriclab"):
            subprocess.run(["go", "build", "-o", str(folder) + os.sep, program], cwd=root, check=True)

    def program(self, name):
        return str(self.folder / (name + (".exe" if os.name == "nt" else "")))

    def commit(self):
        """What `git describe` says."""
        return subprocess.run(["git", "describe", "--always", "--dirty"], cwd=self.root, capture_output=True, text=True).stdout.strip()

    def work(self, work, arrays, params):
        """The side that does a work of `speed ours`. Its result is what the program prints, and
        as "result" the matrices that it writes."""
        for name, a in arrays.items():
            np.save(self.folder / (name + ".npy"), np.ascontiguousarray(a, dtype=float))

        def run(count):
            for old in self.folder.glob("ours-*.npy"):
                old.unlink()
            (self.folder / "params.json").write_text(json.dumps({**params, "runs": count}))
            done = subprocess.run([self.program("speed"), "ours", work, str(self.folder)], cwd=self.root, capture_output=True, text=True)
            if done.returncode != 0:
                raise NotDone(done.stderr.strip())
            answer = json.loads(done.stdout)
            answer["result"] = {path.stem[len("ours-") :]: np.load(path) for path in self.folder.glob("ours-*.npy")}
            return answer["seconds"], answer

        return run


def here(run):
    """The side that calls run in this process."""

    def side(count):
        least = float("inf")
        for _ in range(count):
            start = time.process_time()
            result = run()
            least = min(least, time.process_time() - start)
        return least, result

    return side


def process(args, reads=None, writes=os.devnull):
    """The side that is a whole process, with the CPU time of the child. It reads and writes these files."""
    resource = load("resource")

    def side(_):
        with open(reads or os.devnull) as stdin, open(writes, "w") as stdout:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(args, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise NotDone(done.stderr.strip())
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, None

    return side


class Bench:
    """Runs the rows and prints them."""

    TURNS = 5  # of a row, but only two once it has taken ENOUGH seconds, and one if that takes LONG
    ENOUGH, LONG = 12, 45

    def __init__(self, folder, args):
        self.folder, self.tiny, self.only, self.paths = folder, args.tiny, re.compile(args.only), dict(args.path)
        self.now = Build(ROOT, folder / "now")
        self.before = Build(pathlib.Path(args.before).resolve(), folder / "before") if args.before else None
        self.missing, self.different, self.rows = {}, False, []

    def wanted(self, name):
        return self.only.search(name)

    def lack(self, what, why):
        if what not in self.missing:
            self.missing[what] = why
            print(f"not done: {what}: {why}", flush=True)

    def has(self, needs):
        """Whether all that is needed is there; what is not is told."""
        for need in needs:
            if not (need in self.paths if need == "kmedoids" else load(need)):
                self.lack("rows with " + need, INSTALL[need])
                return False
        return True

    def turns(self, sides, cold):
        """The times of each side, which take turns, and the last result. The first turn does not count, unless the
        sides are cold in each, or there is no other. Instead of a result there is a NotDone if one was raised."""
        times, counts, results = [[] for _ in sides], [1] * len(sides), [None] * len(sides)
        start = time.monotonic()
        for turn in range(self.TURNS + 1 - cold):
            for i, side in enumerate(sides):
                if not isinstance(results[i], NotDone):
                    try:
                        seconds, results[i] = side(counts[i])
                        times[i].append(seconds)
                    except NotDone as e:
                        times[i], results[i] = [], e
            spent = time.monotonic() - start
            if self.tiny or turn == 0 and spent > self.LONG or turn >= 2 - cold and spent > self.ENOUGH:
                break
            if turn == 0 and not cold:
                counts = [1 if not t or t[0] > 2 else max(2, min(20, int(0.3 / max(t[0], 1e-3)))) for t in times]
                times = [[] for _ in sides]
        return times, results

    def row(self, name, work, arrays, params, peers):
        """A work of `speed ours`. peers holds (name, needs, run, check): run gets our answer, as a target; check gets
        it and the result of run, and returns a difference, its tolerance, and what is compared."""
        peers = [p for p in peers if self.wanted(name) and self.has(p[1])]
        if peers:
            mine = [None]

            def ours(count, run=self.now.work(work, arrays, params)):
                seconds, mine[0] = run(count)
                return seconds, mine[0]

            before = self.before and self.before.work(work, arrays, params)
            self.compare(name, ours, before, [(label, here(lambda run=run: run(mine[0])), check) for label, _, run, check in peers])

    def compare(self, name, ours, before, peers, cold=False):
        """Measures a row, and prints a line for each peer: (name, side, check)."""
        sides = [ours] + [side for _, side, _ in peers] + ([before] if before else [])
        times, results = self.turns(sides, cold)
        if isinstance(results[0], NotDone):
            raise results[0]
        if before and isinstance(results[-1], NotDone):
            self.lack(f"{name}, before", str(results[-1]))
        for (label, _, check), t, theirs in zip(peers, times[1:], results[1:]):
            row = {"work": name, "ours": cell(times[0]), "peer": label, "theirs": cell(t), "ratio": "", "before": cell(times[-1]) if before else None}
            try:
                if isinstance(theirs, NotDone):
                    self.lack(f"{name}: {label}", str(theirs))
                    continue
                difference, tolerance, what = check(results[0], theirs)
                if not difference <= tolerance:
                    raise Different(f"{what}: {difference:.1e} is more than {tolerance:.0e}")
                row["ratio"] = f"{min(t) / max(min(times[0]), 1e-9):.2f}"
                row["note"] = f"{difference:8.1e}  {what} ({tolerance:.0e})"
            except Different as e:
                self.different = True
                print(f"DIFFERENT: {name} against {label}: {e}", flush=True)
                continue
            except Short as e:
                row["ratio"], row["note"] = "not reached", str(e)
            if not self.rows:
                print(f"\n{'work':46} {'ours':>16} {'theirs':>16} {'ratio':>11}  {'before' if before else '':>16}  {'peer':36} difference  compared (tolerance)")
            self.rows.append(row)
            print(f"{name:46} {row['ours']:>16} {row['theirs']:>16} {row['ratio']:>11}  {row['before'] or '':>16}  {label:36} {row['note']}", flush=True)

    def markdown(self, machine):
        """The table of this processor."""
        old = self.before is not None
        lines = [machine, "", "| work | metriclab | reference | ratio |" + " before |" * old, "|---|---|---|---|" + "---|" * old]
        for r in self.rows:
            lines.append(f"| {r['work']} | {r['ours']} | {r['peer']}: {r['theirs']} | {r['ratio']} |" + f" {r['before']} |" * old)
        lines += [""] + [f"- Not done: {what}: {why}" for what, why in self.missing.items()]
        return "\n".join(lines).rstrip() + "\n"


def cell(times):
    """The least and the largest of times, with three digits."""
    if not times:
        return "not done"
    low, high = (np.format_float_positional(t, 3, fractional=False, trim="-") for t in (min(times), max(times)))
    return f"{low} s once" if len(times) == 1 else f"{low}–{high} s"


def gap(a, b):
    """The largest difference of two arrays relative to the largest entry of the first."""
    return float(np.abs(a - b).max() / np.abs(a).max())


def sine(a, b):
    """The sine of the largest angle between the spaces of the columns of a and b."""
    qa, qb = np.linalg.qr(a)[0], np.linalg.qr(b)[0]
    return float(np.linalg.norm(qb - qa @ (qa.T @ qb), 2))


def processor():
    """The model of the processor, and the widest of its vector instructions that a BLAS is written for."""
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return f"{platform.processor() or platform.machine()}", ""
    said = dict(re.findall(r"(?m)^(model name|cpu family|model|flags)\s*: (.*)$", info))
    flags = said.get("flags", "").split()
    isa = "AVX-512" if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= set(flags) else "AVX2" if "avx2" in flags else ""
    name = said.get("model name", platform.machine())
    if "cpu family" in said:
        name += f" (family {said['cpu family']}, model {said['model']})"
    return name, isa


# The kernels of OpenBLAS that use these instructions.
KERNELS = {"AVX-512": {"skylakex", "cooperlake", "sapphirerapids"}, "AVX2": {"haswell", "zen"}}


def blas():
    """(library, version, kernel) of each BLAS in this process. Not all tell a kernel."""
    np.linalg.eigh(np.eye(2))
    load("scipy.linalg")
    pools = load("threadpoolctl")
    if pools is not None:
        return [(p["internal_api"], p["version"], p.get("architecture", "")) for p in pools.threadpool_info() if p["user_api"] == "blas"]
    found = []
    maps = pathlib.Path("/proc/self/maps")
    for path in sorted(set(re.findall(r"(?m)\S*/lib\S*openblas\S*\.so\S*$", maps.read_text()))) if maps.exists() else []:
        library = ctypes.CDLL(path)
        for prefix, suffix in itertools.product(("", "scipy_"), ("", "64_")):
            core = getattr(library, f"{prefix}openblas_get_corename{suffix}", None)
            config = getattr(library, f"{prefix}openblas_get_config{suffix}", None)
            if core is not None and config is not None:
                core.restype = config.restype = ctypes.c_char_p
                found.append(("openblas", config().decode().split()[1], core().decode()))
                break
    return found


def refusal(isa, libraries):
    """Why these libraries are no fair peers on a processor with these instructions, or None."""
    if not libraries:
        return "which BLAS NumPy has loaded is not known; it may be the reference one, which is slow: install OpenBLAS"
    for name, version, kernel in libraries:
        if name == "openblas" and isa in KERNELS and kernel.lower() not in KERNELS[isa]:
            want = "SkylakeX" if isa == "AVX-512" else "Haswell"
            return f"OpenBLAS {version} runs its kernel {kernel or 'of no name'} on a processor with {isa}: start again with OPENBLAS_CORETYPE={want}, or with an OpenBLAS that knows this processor"
    return None


def versions(libraries):
    """One line on Python and its libraries."""
    parts = [f"Python {platform.python_version()}"]
    parts += [f"{m} {load(m).__version__}" for m in ("numpy", "scipy", "sklearn", "pandas", "metric_learn") if load(m)]
    parts += sorted({f"{name} {version}, kernel {kernel or 'not told'}" for name, version, kernel in libraries})
    return "; ".join(parts)


def insert(path, title, text):
    """Puts a section into a file, in place of the one with its title if there is one."""
    page = path.read_text(encoding="utf-8")
    section = f"## {title}\n\n{text}"
    parts = re.split(r"(?m)^(?=## )", page)
    at = [i for i, part in enumerate(parts) if part.startswith(f"## {title}\n")]
    if at:
        parts[at[0]] = section + ("\n" if at[0] + 1 < len(parts) else "")
    else:
        parts.append("\n" + section)
    path.write_text("".join(parts), encoding="utf-8")
