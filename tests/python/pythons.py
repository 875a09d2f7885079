# SPDX-License-Identifier: MIT
"""The CPythons of this machine, and how a test runs them with and without the library.

Found on PATH, in /usr/bin, and in the folders of PROFTRACE_TEST_PYTHONS (separated by colons; * stands for any name).
"""
import dataclasses
import functools
import glob
import os
import pathlib
import re
import struct
import subprocess

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
LIBRARY = BUILD / "libproftrace.so"
OLDEST = (3, 8)

# struct pt_python_header in struct pt_file_header: include/proftrace/format.h
HEADER_AT, NOTE_AT = 1088, 88
STATES = ["none", "seen", "ready", "no stacks", "refused", "off"]


@dataclasses.dataclass(frozen=True, order=True)
class Python:
    version: tuple
    path: str

    def __str__(self):
        return f"{'.'.join(map(str, self.version))} ({self.path})"


def _ask(path):
    """(version, the program itself: `path` may be a script that chooses one)"""
    code = "import sys; print(sys.implementation.name, *sys.version_info[:3], sys.executable)"
    try:
        done = subprocess.run([path, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=20, check=False)
    except OSError:
        return None
    words = done.stdout.split(maxsplit=4)
    return (tuple(map(int, words[1:4])), words[4].strip()) if words[:1] == ["cpython"] and len(words) == 5 else None


@functools.cache
def found():
    """One interpreter for each version, oldest first."""
    named = os.environ.get("PROFTRACE_TEST_PYTHONS", "").split(":")
    folders = [folder for pattern in named if pattern for folder in sorted(glob.glob(pattern))]
    folders += [*os.environ.get("PATH", "").split(":"), "/usr/bin", "/usr/local/bin"]
    pythons = {}  # by version
    for folder in folders:
        for path in sorted(glob.glob(f"{folder}/python3*")):
            if re.fullmatch(r"python3(\.\d+)?", os.path.basename(path)) and os.access(path, os.X_OK):
                version, program = _ask(path) or (None, None)
                if version and version >= OLDEST:
                    pythons.setdefault(version, Python(version, program))
    return sorted(pythons.values())


def some():
    """For tests that last: the oldest, Debian's own and the newest; all of them where PROFTRACE_TEST_ALL is set (scripts/test-slow)."""
    pythons = found()
    own = [python for python in pythons if python.path.startswith("/usr/bin/")]
    return pythons if os.environ.get("PROFTRACE_TEST_ALL") else sorted({*pythons[:1], *own[:1], *pythons[-1:]})


@dataclasses.dataclass
class Done:
    status: int
    out: str
    err: str


def clean_environment(**more):
    drop = ("PROFTRACE_", "LD_PRELOAD", "PYTHON")
    return {k: v for k, v in os.environ.items() if not k.startswith(drop)} | more


def run(command, folder, traced, **options):
    """Runs in `folder`; the trace is in folder/trace."""
    environment = clean_environment(**options.pop("environment", {}))
    if traced:
        environment = {"LD_PRELOAD": str(LIBRARY), "PROFTRACE_DIR": str(folder / "trace"), **environment}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False, **options)
    return Done(done.returncode, done.stdout, done.stderr)


def _run_folder(folder):
    [path] = [path for path in (folder / "trace").iterdir() if path.is_dir() and not path.is_symlink()]
    return path


@dataclasses.dataclass
class Process:
    file: pathlib.Path
    program: str
    state: str
    version: tuple
    note: str


def processes(folder):
    """What the headers of a run's traces say of Python."""
    result, seen = [], set()
    for file, head in _heads(_run_folder(folder)):
        text_at, trace_id = struct.unpack_from("<I", head, 16)[0], head[32:40]
        if trace_id in seen: # it began as a small process
            continue
        seen.add(trace_id)
        state, version = struct.unpack_from("<II", head, HEADER_AT)
        note = head[HEADER_AT + NOTE_AT:HEADER_AT + NOTE_AT + 64].split(b"\0")[0].decode()
        program = os.path.basename(head[text_at:].split(b"\0")[0].decode())
        result.append(Process(file, program, STATES[state], (version >> 24, version >> 16 & 255, version >> 8 & 255), note))
    return result


def _heads(run):
    """(file, bytes from its header on) of each process: those with a file of their own first."""
    for file in sorted(run.glob("*.ptr")):
        yield file, file.read_bytes()
    for file in sorted(run.glob("*.pts")):
        content = file.read_bytes()
        for at in range(4096, len(content), 4096):
            if content[at:at + 8] == b"PROFTRC\n":
                yield file, content[at:at + 8192]


def dump(folder):
    """All events of a run as lines of text."""
    done = subprocess.run([BUILD / "proftrace", "dump", _run_folder(folder)], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


def places(lines):
    """(its thread's next event, stack) of each place; a stack is a list of (line, first line, function, file)."""
    result = []
    for i, place in enumerate(lines):
        stack = re.search(r" (\d+/\d+) python_place stack=\[(.*?)\] stands", place)
        event = next((line for line in lines[i + 1 : i + 100] if f" {stack.group(1)} " in line), None) if stack else None
        if event:
            frames = re.findall(r'"((?:[^"\\]|\\.)*)"', stack.group(2))
            parts = [frame.split(":", 3) for frame in frames]
            result.append((event, [(int(line), int(first), name, file) for line, first, name, file in parts]))
    return result
