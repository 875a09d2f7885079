# SPDX-License-Identifier: MIT
"""wheel.py BUILD STAGE OUT - put an installed tree (bin, lib, share) into a wheel. The same tree gives the same bytes.

Programs become scripts of the environment as they are, so that `proftrace` starts no Python; what they look for in ../share/proftrace/lib lies there, too
(the data scheme). Licences of all that is linked in are in the wheel: what that is, the link commands of BUILD say."""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TAG = "py3-none-manylinux_2_28_x86_64"
OF_CJSON = "/usr/share/doc/libcjson1/copyright"  # built from Debian's source of it, by scripts/build-wheel
OF_COMPILER = "tools/lib/python3*/site-packages/ziglang/LICENSE"  # its compiler-rt is in everything that it links
WHEN = (1980, 1, 1, 0, 0, 0)


def version():
    return re.search(r"project\(proftrace VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def metadata(number):
    return f"""Metadata-Version: 2.1
Name: proftrace
Version: {number}
Summary: The profiler for ML pipelines: every layer of every process, without a changed line
License: MIT; libraries that are linked in under their own: see licenses/LINKED.txt
Requires-Python: >=3.8
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{(ROOT / "docs/python_api.md").read_text()}"""


def linked(build):
    """{archive that the programs were linked with: the file with its licence}, from the link commands themselves, so that a new
    library cannot be forgotten."""
    found = {"compiler-rt": next(build.glob(OF_COMPILER))}
    for program in "proftrace", "libproftrace.so":
        commands = subprocess.run(["ninja", "-C", build, "-t", "commands", program], capture_output=True, text=True, check=True).stdout
        for word in commands.splitlines()[-1].split():
            name = pathlib.Path(word).name
            if name == "libcjson.a":
                found[name] = pathlib.Path(OF_CJSON)
            elif word.startswith("/") and name.endswith(".a"):
                owner = subprocess.run(["dpkg", "-S", word], capture_output=True, text=True, check=True).stdout.split(":")[0]
                found[name] = pathlib.Path("/usr/share/doc", owner, "copyright")
    return found


def licences(build):
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    said, texts = ["Linked into the programs of this wheel, each under its own licence:", ""], {}
    for archive, path in sorted(linked(build).items()):
        name = f"{path.parent.name}.txt"
        texts[name] = path.read_bytes()
        said.append(f"- {archive}: {name}")
    yield from sorted(texts.items())
    yield "LINKED.txt", ("\n".join(said) + "\n").encode()


def place_of(path, number):
    """Where a file of the stage belongs in the wheel; None = nowhere."""
    data = f"proftrace-{number}.data"
    if path.parts[0] == "bin":
        return f"{data}/scripts/{path.name}"
    if path.name == "libproftrace.so":  # `pip install --target` leaves out what is data below lib
        return f"{data}/data/share/proftrace/lib/{path.name}"
    python = ("share", "proftrace", "python")
    if path.parts[:3] == python:
        return "/".join(path.parts[3:])
    return f"{data}/data/{path}"


def files(build, stage, number):
    """[(name in the wheel, bytes, mode)]"""
    for path in sorted(p for p in stage.rglob("*") if p.is_file()):
        name = place_of(path.relative_to(stage), number)
        yield name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644
    info = f"proftrace-{number}.dist-info"
    yield f"{info}/METADATA", metadata(number).encode(), 0o644
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: proftrace\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(), 0o644
    for name, text in licences(build):
        yield f"{info}/licenses/{name}", text, 0o644


def main(build, stage, out):
    number = version()
    wheel, record = pathlib.Path(out, f"proftrace-{number}-{TAG}.whl"), []
    made = wheel.with_suffix(".new")
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def put(name, data, mode):
            entry = zipfile.ZipInfo(name, WHEN)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        for name, data, mode in files(pathlib.Path(build), pathlib.Path(stage), number):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
            put(name, data, mode)
        name = f"proftrace-{number}.dist-info/RECORD"
        put(name, "\n".join([*record, f"{name},,", ""]).encode(), 0o644)
    os.replace(made, wheel)
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
