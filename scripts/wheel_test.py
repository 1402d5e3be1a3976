"""What scripts/wheel has built: scripts/wheel-test runs it.

    python3 scripts/wheel_test.py inspect FOLDER      of each wheel the platform, the program and the record; of the sdist the files
    python3 scripts/wheel_test.py installed           in an environment into which the wheel was installed, far from the sources
"""

import base64
import hashlib
import os
import pathlib
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile


def machine(program):
    """System and processor of a program, from its head."""
    if program[:4] == b"\x7fELF":
        return "linux", {62: "x86_64", 183: "aarch64"}[struct.unpack_from("<H", program, 18)[0]]
    if program[:4] == b"\xcf\xfa\xed\xfe":
        return "macosx", {0x0100000C: "arm64"}[struct.unpack_from("<I", program, 4)[0]]
    assert program[:2] == b"MZ", program[:4]
    return "win", {0x8664: "amd64"}[struct.unpack_from("<H", program, struct.unpack_from("<I", program, 60)[0] + 4)[0]]


def inspect(folder):
    wheels, (sdist,) = sorted(folder.glob("*.whl")), folder.glob("*.tar.gz")
    assert wheels, folder
    for wheel in wheels:
        name, version, python, abi, platform = wheel.name[: -len(".whl")].split("-")
        assert (name, python, abi) == ("pymetriclab", "py3", "none"), wheel
        with zipfile.ZipFile(wheel) as z:
            found = {i.filename: i for i in z.infolist()}
            (program,) = [i for n, i in found.items() if n.startswith("pymetriclab/metriclab")]
            system, processor = machine(z.read(program))
            assert all(t.startswith(("many", "musl")[: 2 * (system == "linux")] or system) and t.endswith(processor) for t in platform.split(".")), (platform, system, processor)
            assert program.external_attr >> 16 & stat.S_IXUSR and (program.filename.endswith(".exe") == (system == "win"))
            said = z.read(f"{name}-{version}.dist-info/WHEEL").decode()
            assert "Root-Is-Purelib: false" in said and all(f"Tag: py3-none-{t}" in said for t in platform.split(".")), said
            record = dict(line.rsplit(",", 2)[:2] for line in z.read(f"{name}-{version}.dist-info/RECORD").decode().splitlines())
            for n in found.keys() - {f"{name}-{version}.dist-info/RECORD"}:
                assert record[n] == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(z.read(n)).digest()).decode().rstrip("="), n
            assert {"pymetriclab/py.typed", "pymetriclab/licences/go", "pymetriclab/licences/metriclab"} <= found.keys()
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, a program for {system} {processor} of {program.file_size / 1e6:.1f} MB")
    with tarfile.open(sdist) as t:
        files = {n.split("/", 1)[-1] for n in t.getnames()}
    assert {"setup.py", "LICENSE", "pymetriclab/py.typed", "pymetriclab/learners.py"} <= files and "pymetriclab/metriclab" not in files, files
    print(f"{sdist.name}: {sdist.stat().st_size / 1e3:.0f} kB")


def installed():
    import time

    import numpy as np

    import pymetriclab

    home = pathlib.Path(pymetriclab.__file__).parent
    assert pathlib.Path(sys.prefix) in home.parents and "METRICLAB" not in os.environ, home
    program = pathlib.Path(sys.executable).with_name("metriclab")
    said = subprocess.run([program, "version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert said.startswith("metriclab "), said
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    x = rng.standard_normal((90, 4)) + 3 * np.eye(4)[y]
    started = time.monotonic()
    itml = pymetriclab.ITML(gamma=1.0).fit(x, y)
    assert itml.score(x, y) > 0.9
    print(f"first fit: {time.monotonic() - started:.2f} s, {said.splitlines()[0]} in {home}")
    itml.save("itml.json")
    np.testing.assert_array_equal(pymetriclab.load("itml.json").transform(x), itml.transform(x))
    with pymetriclab.Learner("pola") as learner:
        assert learner.pair([0, 1], [2, 1], label=-1)["mistake"]


if __name__ == "__main__":
    inspect(pathlib.Path(sys.argv[2])) if sys.argv[1] == "inspect" else installed()
