"""An online learner as a process of its own."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import threading
import time
import weakref
from typing import Any, Mapping, Optional, Union, cast

import numpy as np
from numpy.typing import ArrayLike

from ._command import _command, _params
from ._files import CommandError, MetricLabError, RefusedLine, _distinct, _is_whole, _no_constant


def _plain(value: Any) -> Any:
    """What is of NumPy, for JSON."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not allowed, want numbers and lists of them")


class Learner:
    """An online learner: metriclab learn as a process of its own, which answers each line at once.

        with metriclab.Learner("pola", params={"gamma": 0.1}, save="pola.json") as learner:
            learner.pair([0, 1], [2, 1], label=-1)   # learns; label 1 similar, -1 dissimilar
            learner.pair([0, 1], [2, 1])             # only predicts

    learner is the name of a learner (see: metriclab learn --help), or load a file of a saved one.
    save names a file for the learner, written when close is called or the with statement ends,
    also by an exception; save_every = n also writes it after every n-th line that is learned from. state_every = n adds "state" to every n-th answer. Answers are dicts.
    RefusedLine tells of a line that was refused: nothing was learned from it, and the learner goes
    on. CommandError tells that the process has ended. A Learner is for one thread at a time.
    timeout = s ends the process if an answer, or the end, takes more than s seconds: CommandError.
    A Learner that is forgotten ends its process too. After a fork it belongs to the parent alone.
    """

    def __init__(
        self,
        learner: Optional[str] = None,
        *,
        params: Optional[Mapping[str, Any]] = None,
        dim: Optional[int] = None,
        objects: Optional[int] = None,
        load: Union[str, "os.PathLike[str]", None] = None,
        save: Union[str, "os.PathLike[str]", None] = None,
        save_every: Optional[int] = None,
        state_every: Optional[int] = None,
        max_line: Optional[int] = None,
        command: Optional[str] = None,
        timeout: Optional[float] = None,
    ):
        if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
            raise MetricLabError(f"timeout: {timeout} is not allowed, want seconds > 0, or None")
        self._process: "Optional[subprocess.Popen[bytes]]" = None
        self._timeout, self._owner = timeout, os.getpid()
        args = [_command(command), "learn", "--skip-bad", *_params(params)]
        for flag, value in (("learner", learner), ("dim", dim), ("objects", objects), ("load", load), ("save", save), ("save-every", save_every), ("state-every", state_every), ("max-line", max_line)):
            if value is not None:
                args += [f"--{flag}={os.fspath(value) if hasattr(value, '__fspath__') else value}"]
        self._saves = save is not None
        self._process = process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _PROCESSES.add(process)
        self._forgotten = weakref.finalize(self, _end, process, self._owner)
        self._heard: "queue.SimpleQueue[tuple[str, bytes]]" = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=_listen, args=(pipe, name, self._heard), daemon=True)
            for pipe, name in ((process.stdout, "answer"), (process.stderr, "said"))
        ]
        for r in self._readers:
            r.start()
        self._open = 2  # pipes that have not ended
        self._said: "list[str]" = []
        self._refused = 0
        self._round: Optional[int] = None  # of the last answer
        self._interrupted = False

    def pair(self, x: ArrayLike, y: ArrayLike, label: Optional[int] = None) -> "dict[str, Any]":
        """A pair of vectors, 1 similar or -1 dissimilar; without a label it is only predicted."""
        line: "dict[str, Any]" = {"x": np.asarray(x).tolist(), "y": np.asarray(y).tolist()}
        return self.send(line if label is None else {**line, "label": label})

    def triplet(self, a: int, near: int, far: int) -> "dict[str, Any]":
        """Object a is closer to near than to far."""
        return self.send({"a": a, "near": near, "far": far})

    def nearer(self, a: int, b: int, c: int) -> "dict[str, Any]":
        """Predicts which of the objects b and c is nearer to a, and learns nothing."""
        return self.send({"a": a, "b": b, "c": c})

    def costs(self, cost: ArrayLike) -> "dict[str, Any]":
        """A round of assignment costs from 0 to 1: a row per object, a column per prototype."""
        return self.send({"cost": np.asarray(cost).tolist()})

    def send(self, line: Mapping[str, Any]) -> "dict[str, Any]":
        """Sends a line of the protocol, and returns its answer."""
        if self._process is None:
            raise CommandError("the learner is closed")
        if os.getpid() != self._owner:
            raise CommandError("the learner belongs to the process that made it, not to one that was forked from it")
        if self._interrupted:
            raise CommandError("a line was interrupted, so that answers and lines no longer match: close the learner")
        try:
            text = json.dumps(line, default=_plain, allow_nan=False)
        except ValueError as e:
            raise RefusedLine(f"{e}: want finite numbers") from None
        self._interrupted = True
        answer = self._exchange(text.encode() + b"\n")
        if answer is not None and "answer" in answer:
            answer["answer"] = self._check(line, answer["answer"])
        self._interrupted = False
        if answer is None:
            raise self._ended()
        if "refused" in answer:
            self._refused += 1
            raise RefusedLine(answer["refused"])
        return answer["answer"]

    def _check(self, line: Mapping[str, Any], heard: bytes) -> "dict[str, Any]":
        """What was heard, if it is an answer to the line. Else the process is ended: it would not fit the next one either."""
        try:
            answer = json.loads(heard, object_pairs_hook=_distinct, parse_constant=_no_constant)
            right = isinstance(answer, dict) and _is_whole(answer.get("round")) and (self._round is None or answer["round"] == self._round + 1)
            for asked, fields in (("x", "sqdist similar"), ("near", "sqnear sqfar"), ("b", "sqb sqc nearer"), ("cost", "map")):
                if right and asked in line:
                    right = all(isinstance(answer.get(f), (int, float)) for f in fields.split()) if asked != "cost" else isinstance(answer.get("map"), list) and len(answer["map"]) == len(line["cost"])
        except (ValueError, RecursionError):
            right = False
        if not right:
            raise self._killed(f"metriclab learn wrote {heard[:200]!r}, which is no answer to the line")
        self._round = answer["round"]
        return cast("dict[str, Any]", answer)

    def _exchange(self, line: bytes) -> "Optional[dict[str, Any]]":
        """Writes a line, and returns its answer or why it was refused; None if the process has ended."""
        process = cast("subprocess.Popen[bytes]", self._process)
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        # A program that reads nothing is ended, so that writing ends.
        watch = None if self._timeout is None else threading.Timer(self._timeout, process.kill)
        try:
            if watch:
                watch.daemon = True
                watch.start()
            process.stdin.write(line)  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            if deadline is not None and time.monotonic() >= deadline:
                raise self._killed(self._late()) from None
            return None
        finally:
            if watch:
                watch.cancel()
        while self._open == 2:
            name, heard = self._hear(deadline)
            if not heard:
                self._open -= 1
            elif name == "answer":
                return {"answer": heard}
            else:
                said = heard.decode("utf-8", "replace").rstrip("\r\n")
                refused = re.match(r"metriclab: line \d+: (.*)", said, re.DOTALL)
                if refused and not self._said:
                    return {"refused": refused.group(1)}
                self._said.append(said)
        return None

    def _late(self) -> str:
        return f"metriclab learn has not answered within {self._timeout} seconds"

    def _hear(self, deadline: Optional[float]) -> "tuple[str, bytes]":
        try:
            return self._heard.get() if deadline is None else self._heard.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self._killed(self._late()) from None

    def _killed(self, why: str) -> CommandError:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _end(process, self._owner)
        return CommandError("\n".join([f"{why}: the process is killed", *self._said[-20:]]))

    def _wait(self) -> int:
        """Ends the input, and waits for the process."""
        process = cast("subprocess.Popen[bytes]", self._process)
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        try:
            process.stdin.close()  # type: ignore[union-attr]
        except OSError:
            pass
        while self._open:
            name, heard = self._hear(deadline)
            if not heard:
                self._open -= 1
            elif name == "said":
                self._said.append(heard.decode("utf-8", "replace").rstrip("\r\n"))
        try:
            code = process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise self._killed(self._late()) from None
        self._process = None
        self._forgotten.detach()
        for r in self._readers:
            r.join()
        return code

    def _ended(self) -> CommandError:
        code = self._wait()
        return CommandError("\n".join(self._said[-20:]) or f"metriclab learn has ended with exit code {code}")

    def close(self) -> None:
        """Ends the process, which saves the learner first if save was given. A second call does nothing."""
        if self._process is None or os.getpid() != self._owner:
            return
        code = self._wait()
        saved = any(re.match(r"metriclab: the learner, after .* is in ", s) for s in self._said)
        # Refused lines have been told of; without them only success is 0.
        if code != 0 and (self._refused == 0 or code != 1 or self._saves and not saved):
            raise CommandError("\n".join(self._said[-20:]) or f"metriclab learn has ended with exit code {code}")

    def __enter__(self) -> "Learner":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self.close()
        except CommandError:
            if error is None:  # or what came first is told
                raise


_PROCESSES: "weakref.WeakSet[subprocess.Popen[bytes]]" = weakref.WeakSet()  # of Learners


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """Ends the process of a Learner that nobody closed: at the end of its input it saves, or is killed after 5 seconds."""
    if os.getpid() != owner:
        return
    try:
        process.stdin.close()  # type: ignore[union-attr]
    except OSError:
        pass
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _forked() -> None:
    """In a forked child: lets go of the pipes, or the parent's processes would never see the end of their input."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for process in list(_PROCESSES):
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None and not pipe.closed:
                os.dup2(nothing, pipe.fileno())  # closing would wait for the lock of a thread that is not here
    os.close(nothing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _listen(pipe: Any, name: str, heard: "queue.SimpleQueue[tuple[str, bytes]]") -> None:
    """Puts the lines of a pipe, and at its end an empty one."""
    with pipe:
        for line in pipe:
            heard.put((name, line))
    heard.put((name, b""))
