"""The envelope of saved files, checked: docs/format.md."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
import struct
from typing import Any, BinaryIO, Callable, Mapping, Optional

import numpy as np
from numpy.typing import NDArray

FORMAT_VERSION = 1  # of files: the newest that load reads

Array = NDArray[np.float64]


class MetricLabError(ValueError):
    """What this package raises beside TypeError and errors of the system."""


class FormatError(MetricLabError):
    """A file that is not of metriclab, newer, damaged, too large, or of a kind that load does not read."""


class CommandError(MetricLabError):
    """The command could not be found, or failed. Its message is that of the command."""


class RefusedLine(MetricLabError):
    """metriclab learn refused a line, and has learned nothing from it."""


def _read(f: BinaryIO, most: int) -> bytes:
    """What f holds, up to somewhat more than the most that is allowed. A larger read takes its memory at once."""
    parts, size = [], 0
    while size <= most:
        part = f.read(1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


_BLANKS = re.compile(r"[ \t\r\n]*")
_TOKENS = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+', re.DOTALL)


def _blanks(text: str, at: int) -> int:
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr]


def _compact(text: str) -> str:
    """JSON without blanks between its tokens, as the checksum takes it."""
    if not any(c in text for c in " \t\r\n"):
        return text
    return _TOKENS.sub(lambda m: m.group(1) or "", text)


def _distinct(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError("a field is there twice")
    return out


def _no_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("damaged: a text has a lone surrogate") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _float(text: str) -> float:
    v = float(text)
    if v == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        raise ValueError(f"{text[:40]} is too small for a float64")
    return v


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_float)


def _value(text: str, at: int) -> "tuple[Any, int]":
    """The value of JSON that begins at text[at], and where it ends."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as e:
        raise FormatError(f"damaged: {e.msg} at character {e.pos}") from None
    except (ValueError, RecursionError) as e:
        raise FormatError(f"damaged: {str(e)[:100]}") from None


def _members(text: str, at: int) -> "tuple[dict[str, tuple[Any, int, int]], int]":
    """The fields of the object that begins at text[at], each with its value and place, and the end."""
    out: "dict[str, tuple[Any, int, int]]" = {}
    at = _blanks(text, at + 1)
    while text[at : at + 1] != "}":
        if out:
            if text[at : at + 1] != ",":
                raise FormatError(f"damaged: want , or }} at character {at}")
            at = _blanks(text, at + 1)
        name, at = _value(text, at)
        at = _blanks(text, at)
        if not isinstance(name, str) or name in out or text[at : at + 1] != ":":
            raise FormatError(f"damaged: want a name of its own and : before character {at}")
        start = _blanks(text, at + 1)
        value, at = _value(text, start)
        out[name] = value, start, at
        at = _blanks(text, at)
    return out, at + 1


KINDS: "dict[str, Callable[[_Envelope], Any]]" = {}  # by the kind of the file; _models has them


class _Envelope:
    """What a file holds, checked as far as all kinds are alike."""

    def __init__(self, kind: str, params: Any, state: Any, text: str, state_at: int):
        self.kind, self.params, self.state, self._text, self._state_at = kind, params, state, text, state_at

    @staticmethod
    def read(text: str, at: int) -> "tuple[_Envelope, int]":
        members, end = _members(text, at)
        get = lambda name: members[name][0] if name in members else None  # noqa: E731
        if get("format") != "metriclab":
            raise FormatError(f"not a metriclab file: format is {str(get('format'))[:100]!r}, want 'metriclab'")
        version, kind = get("version"), get("kind")
        if not _is_whole(version) or version < 1:
            raise FormatError(f"damaged: version {str(version)[:100]}")
        if version > FORMAT_VERSION:
            raise FormatError(f"written by a newer metriclab: version {str(version)[:100]}, this package reads up to {FORMAT_VERSION}")
        _check("the file", {name: value for name, (value, _, _) in members.items()}, _DECLARED["file"])
        digest = hashlib.sha256()
        for part in (kind, *(_compact(text[slice(*members[name][1:])]) for name in ("params", "state"))):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(struct.pack("<Q", len(data)))
            digest.update(data)
        if digest.hexdigest() != get("sha256"):
            raise FormatError(f"damaged: checksum of the content is {digest.hexdigest()}, the file says {str(get('sha256'))[:100]}")
        return _Envelope(kind, get("params"), get("state"), text, members["state"][1]), end

    def build(self) -> Any:
        """What its kind makes of it, a Metric, an Objects or a Similarity."""
        build = KINDS.get(self.kind)
        if build is None:
            raise FormatError(f"it holds {self.kind[:100]!r}, which this package does not read, want one of {', '.join(KINDS)}")
        try:
            declared = _DECLARED[self.kind]
            self.params, self.state = (_check(name, v, declared[name]) for name, v in (("params", self.params), ("state", self.state)))
            return build(self)
        except FormatError as e:
            raise FormatError(f"{self.kind}: {e}") from None

    def inner(self, name: str) -> "_Envelope":
        """The file that is the field name of the state."""
        members, _ = _members(self._text, self._state_at)
        start = members[name][1]
        if self._text[start] != "{":
            raise FormatError(f"damaged: {name} is no object")
        return _Envelope.read(self._text, start)[0]

    def fields(self) -> "tuple[_Fields, _Fields]":
        return _Fields(self.params), _Fields(self.state)


def _check(where: str, value: Any, declared: Any, beside: Mapping[str, Any] = {}) -> Any:
    """The value, with arrays in the place of base64, if it is what is declared: see _DECLARED."""

    def bad(want: str) -> FormatError:
        return FormatError(f"damaged: {where} is {str(value)[:100]}, want {want}")

    if isinstance(declared, list):
        if not isinstance(value, list):
            raise bad("a list")
        return [_check(where, v, declared[0]) for v in value]
    if isinstance(declared, dict):
        if not isinstance(value, dict):
            raise bad("an object")
        if "*" in declared:
            return {name: _check(f"{where}: {name[:100]!r}", v, declared["*"]) for name, v in value.items()}
        known = {n.rstrip("?"): n for n in declared}
        for name in value:
            if name not in known:
                raise FormatError(f"damaged: {where} has an unknown field {name[:100]!r}")
        for name, field in known.items():
            if name == field and name not in value:
                raise FormatError(f"damaged: {where} lacks the field {name}")
        return {name: _check(name, v, declared[known[name]], value) for name, v in value.items()}
    kind, _, rule = declared.partition(" ")
    if value is None:
        raise bad("a value")
    if kind == "any":
        return value
    if kind == "flag":
        if not isinstance(value, bool):
            raise bad("true or false")
    elif kind == "text":
        if not isinstance(value, str) or rule and value not in rule.split("|"):
            raise bad(rule or "a text")
    elif kind in ("floats", "bytes"):
        if not isinstance(value, str):
            raise bad("a text of base64")
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as e:
            raise FormatError(f"damaged: {where}: {e}") from None
        if len(value) != (len(raw) + 2) // 3 * 4 or base64.b64encode(raw[-(len(raw) % 3 or 3) :]).decode() != value[-4:]:
            raise FormatError(f"damaged: {where}: base64 that is not the one text of its bytes")
        if kind == "bytes":
            return raw
        if len(raw) % 8:
            raise FormatError(f"damaged: {where}: {len(raw)} bytes are no whole number of float64")
        out = np.frombuffer(raw, dtype="<f8").astype(np.float64)
        if not np.isfinite(out).all():
            raise FormatError(f"damaged: {where}: number {int(np.flatnonzero(~np.isfinite(out))[0])} is no finite number")
        return out
    else:
        try:
            right = _is_whole(value) or kind == "number" and isinstance(value, float)
            right = right and (kind == "number" and math.isfinite(float(value)) or kind == "whole" and -(2**63) <= value < 2**63 or kind == "count" and 0 <= value < 2**64)
        except OverflowError:
            right = False
        if not right or rule and not _within(value, rule, beside):
            raise bad(f"a {kind} {rule}".rstrip())
    return value


def _within(v: float, rule: str, beside: Mapping[str, Any]) -> bool:
    """Whether v is in a range such as "0, or >= 1 and <= 9". A bound may be a number or the field beside it of that name."""
    if rule.startswith("0, or "):
        return v == 0 or _within(v, rule[len("0, or ") :], beside)
    for part in rule.split(" and "):
        sign, bound = part.split()
        b = beside.get(bound, math.nan) if bound in beside else float(bound)
        if _is_whole(b) or isinstance(b, float):
            if not {">": v > b, ">=": v >= b, "<": v < b, "<=": v <= b}[sign]:
                return False
    return True


def _is_whole(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool)


class _Fields:
    """An object of JSON that has been checked."""

    def __init__(self, value: "dict[str, Any]"):
        self._v = value

    def __contains__(self, name: str) -> bool:
        return name in self._v

    def raw(self, name: str) -> Any:
        return self._v[name]

    def whole(self, name: str, least: int, most: int = 2**63 - 1) -> int:
        v = self._v[name]
        if not least <= v <= most:
            raise FormatError(f"damaged: {name} is {str(v)[:100]}, want a whole number from {least} to {most}")
        return v

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        v = float(self._v[name])
        if not least <= v <= most:
            raise FormatError(f"damaged: {name} is {v}, want a number from {least} to {most}")
        return v

    def floats(self, name: str, *shape: Optional[int]) -> Array:
        """Finite numbers, base64 of little-endian float64. Of the shape one size may be None: what is there."""
        out: Array = self._v.get(name, np.empty(0))
        n, known = len(out), 1
        for size in shape:
            known *= 1 if size is None else size
        free = None in shape
        if free and (known == 0 or n % known) or not free and n != known:
            raise FormatError(f"damaged: {name} has {n} numbers, want {'a multiple of ' if free else ''}{known}")
        return out.reshape([n // known if size is None else size for size in shape])


# What each kind of file must hold. ? marks a field that may be missing, * stands for any name, [x] is a list of x, and
# behind a number or a text is what it may be. The test of pkg/model writes and checks this:
# go test ./pkg/model -run TestPythonDeclarations -update
_DECLARED: "dict[str, Any]" = {
    "file": {"format":"text","kind":"text","params":"any","sha256":"text","state":"any","version":"whole"},
    "kernels/metric": {"params":{"kernel":{"degree?":"whole >= 1 and <= 1000000","gamma?":"number > 0","name":"text","offset?":"number >= 0"}},"state":{"dim":"whole","g":"floats","rows":"whole","shift?":"floats","support":"floats"}},
    "kernels/transformed": {"params":{"kernel":{"degree?":"whole >= 1 and <= 1000000","gamma?":"number > 0","name":"text","offset?":"number >= 0"}},"state":{"alpha?":"number","dim":"whole","s":"floats","support":"floats"}},
    "labels/fda": {"params":{},"state":{"mean":"floats","rows":"floats","values":"floats"}},
    "labels/lsa": {"params":{"centred":"flag"},"state":{"mean":"floats","rows":"floats","values":"floats"}},
    "labels/pca": {"params":{},"state":{"mean":"floats","rows":"floats","values":"floats"}},
    "metric/low-rank": {"params":{},"state":{"basis":"floats","dim":"whole","rank":"whole","root":"floats"}},
    "metric/mahalanobis": {"params":{},"state":{"dim":"whole","factor":"floats","rows":"whole"}},
    "model": {"params":{"given?":"text","impute_mean":"flag","learner":"text","pairs?":"whole","params":{"*":"text"},"passes?":"whole","raw":"flag","seed":"count"},"state":{"classes":["text"],"counts":["whole"],"layout":{"features":["text"],"header":"flag","label":"text","one_hot?":[{"categories":["text"],"column":"text"}],"width":"whole"},"learner_version":"whole","means":"floats","metric":"any","rows?":"whole","scale":"floats","shift":"floats"}},
    "model/triplets": {"params":{"learner":"text","params":{"*":"text"},"passes?":"whole"},"state":{"dim?":"whole","kernel":"floats","learner_version":"whole","named?":["whole"],"names":["text"]}},
    "model/vectors": {"params":{"learner":"text","params":{"*":"text"},"passes?":"whole","rank?":"whole","raw":"flag","triplets?":"flag","unit":"flag"},"state":{"dissimilar":"whole","learner_version":"whole","metric":"any","scale":"number","similar":"whole","threshold":"number","triplets?":"whole","version":"whole"}},
    "pairs/kernel-pola": {"params":{"b1":"number >= -1e100 and <= 1e100","gamma":"number >= 0","kernel":{"degree?":"whole >= 1 and <= 1000000","gamma?":"number > 0","name":"text","offset?":"number >= 0"}},"state":{"age":"whole","dim":"whole","factor":"floats","form":{"age":"whole","basis?":"floats","core":"floats","dim":"whole","log_shift":"number","order":"whole","resolvent?":"floats","seen":"whole","shift":"number","turns":"whole"},"points":"floats","threshold":"number"}},
    "pairs/lego": {"params":{"eta":"number > 0","l":"number > u and <= 1e100","u":"number > 0 and < l","update":"text always|violated"},"state":{"dim":"whole","factor":"floats"}},
    "pairs/pa": {"params":{"b0":"number >= -1e100 and <= 1e100","c":"number > 0","every?":"whole >= 0","m0?":"number >= 0 and <= 1e100","psd":"text step|end","rule":"text pa|pa1|pa2|pals","tol?":"number >= 0"},"state":{"form":{"age":"whole","basis?":"floats","core":"floats","dim":"whole","log_shift":"number","order":"whole","resolvent?":"floats","seen":"whole","shift":"number","turns":"whole"},"since?":"whole","threshold":"number"}},
    "pairs/pola": {"params":{"b1":"number >= -1e100 and <= 1e100","gamma":"number >= 0"},"state":{"form":{"age":"whole","basis?":"floats","core":"floats","dim":"whole","log_shift":"number","order":"whole","resolvent?":"floats","seen":"whole","shift":"number","turns":"whole"},"threshold":"number"}},
}  # end of declarations
