"""The command metriclab: where it is, and what it is given."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import threading
from typing import IO, Any, Mapping, Optional

import numpy as np
from numpy.typing import NDArray

from ._files import CommandError

_INSIDE = pathlib.Path(__file__).with_name("metriclab.exe" if os.name == "nt" else "metriclab")  # in a wheel


def _command(command: Optional[str] = None) -> str:
    """The path of metriclab: the argument, or METRICLAB of the environment, or what the wheel brought, or what is on the PATH."""
    for given, where in ((command, "command"), (os.environ.get("METRICLAB"), "METRICLAB")):
        if given:
            found = shutil.which(given)
            if found is None:
                raise CommandError(f"{where}: {given} is no program that can be run")
            return found
    found = shutil.which(str(_INSIDE)) or shutil.which("metriclab")
    if found is None:
        raise CommandError(
            "the command metriclab is not on the PATH: build it with go build -o metriclab ./cmd/metriclab, "
            "and give its path as command= or in the environment variable METRICLAB"
        )
    return found


def main() -> int:
    """The command itself: what pip installs as metriclab."""
    if os.name != "nt":
        os.execv(_INSIDE, [str(_INSIDE), *sys.argv[1:]])
    return subprocess.call([str(_INSIDE), *sys.argv[1:]])


def _params(params: Optional[Mapping[str, Any]]) -> "list[str]":
    """Flags of parameters. True and False become true and false, numbers keep every digit."""
    out = []
    for name, value in (params or {}).items():
        if isinstance(value, (bool, np.bool_)):
            value = str(value).lower()
        out += ["--param", f"{name}={value}"]
    return out


def _feed(pipe: "IO[bytes]", given: Any) -> None:
    """Writes bytes, or an array as a .npy file, without a copy. A program that reads no more says why itself."""
    try:
        with pipe:
            if isinstance(given, np.ndarray):
                np.lib.format.write_array_header_1_0(pipe, np.lib.format.header_data_from_array_1_0(given))
                given = given.data.cast("B")
            pipe.write(given)
    except OSError:
        pass


def _run(args: "list[str]", given: "bytes | NDArray[Any]" = b"", *, command: Optional[str] = None, n_jobs: Optional[int] = None, verbose: bool = False) -> bytes:
    """Runs the command on standard input, and returns its standard output. verbose shows what it says as it says it."""
    cores = {} if n_jobs is None or n_jobs < 0 else {"GOMAXPROCS": str(n_jobs)}
    process = subprocess.Popen([_command(command), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **cores})
    assert process.stdin and process.stdout and process.stderr
    heard: "list[bytes]" = []
    threads = [threading.Thread(target=_feed, args=(process.stdin, given)), threading.Thread(target=lambda out: heard.append(out.read()), args=(process.stdout,))]
    said = []
    try:
        for t in threads:
            t.start()
        for line in process.stderr:
            said.append(line.decode("utf-8", "replace"))
            if verbose:
                print(said[-1], end="", file=sys.stderr, flush=True)
    except BaseException:
        process.kill()
        raise
    finally:
        for t in threads:
            t.join()
        process.stdout.close()
        process.stderr.close()
        code = process.wait()
    if code != 0:
        raise CommandError("".join(said).strip() or f"metriclab {args[0]} has ended with exit code {code}")
    return heard[0]
