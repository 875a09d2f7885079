# SPDX-License-Identifier: MIT
"""What a row is, and whether it can be played here."""
import dataclasses
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
# The system's own programs before those of a person's account: what runs must not depend on who asks.
PATH = ":".join(dict.fromkeys(["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", *os.environ.get("PATH", "").split(":")]))
NOBODY = 65534

# Stands before every story. Servers are asked until they answer: a fixed wait is too short on a busy machine.
PRELUDE = r"""
until_true() { local i; for i in {1..400}; do "$@" >/dev/null 2>&1 && return; sleep 0.05; done; echo "never true: $*"; }
until_gone() { local i; for i in {1..400}; do kill -0 "$1" 2>/dev/null || return; sleep 0.05; done; echo "never gone"; }
answers() { (: <"/dev/tcp/127.0.0.1/${1:-$PORT}") 2>/dev/null; }
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """One story: a bash script that says the same each time, and leaves the same files."""
    name: str
    script: str
    needs: tuple = ()           # programs in PATH
    imports: tuple = ()         # of /usr/bin/python3
    probe: str = ""             # must succeed, too; what for is in `wants`
    wants: str = ""
    prepare: str = ""           # untraced, once; each run has a copy of what it left
    user: int = 0               # 0: whoever runs this; NOBODY needs root
    root: bool = False          # only root can
    quick: bool = False
    timeout: int = 60
    untraced: bool = False      # nothing of it can be recorded
    may_lose: dict = dataclasses.field(default_factory=dict)   # reason of drops.def: why that is true here
    may_differ: dict = dataclasses.field(default_factory=dict)  # out, err, files, left: why it differs from run to run

    def missing(self):
        """What is not here, in words; None where it can be played."""
        absent = [word for word in self.needs if not shutil.which(word, path=PATH)]
        if absent:
            return f"{', '.join(absent)} not installed"
        if (self.root or self.user) and os.geteuid():
            return "only root can"
        absent = [name for name in self.imports
                  if subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode]
        if absent:
            return f"{PYTHON} has no {', '.join(absent)}"
        if self.probe and subprocess.run(["bash", "-c", self.probe], env={**os.environ, "PATH": PATH}, capture_output=True, check=False).returncode:
            return self.wants or f"'{self.probe}' fails"
        return None


def story(name):
    """Text of a longer story in stories/."""
    with open(os.path.join(HERE, "stories", name), encoding="utf-8") as file:
        return file.read()


def python(name, source, **more):
    """A program of Debian's Python: its text is a file, so that spawned children find it."""
    return Program(name, f"{PYTHON} -B a.py", prepare=f"cat > a.py <<'PYTHON_ENDS'\n{source}\nPYTHON_ENDS\n" + more.pop("prepare", ""), **more)


def c(name, source, script="./a", options="", **more):
    """A program in C."""
    needs = ("gcc", *more.pop("needs", ()))
    return Program(name, script, needs=needs, prepare=f"cat > a.c <<'C_ENDS'\n{source}\nC_ENDS\ngcc -O1 -w -D_GNU_SOURCE -o a a.c -pthread {options}\n" +
                   more.pop("prepare", ""), **more)
