#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""alarms.py BUILD [--runs N] [--checks M] [--times] [--only NAME] - how often `check` is wrong.

Records N runs of each of five real programs while a second load keeps the machine busy, and eight regressions of each. Then it plays M checks of
each program: a run that is drawn against a baseline of five others. Says for each program: false alarms (a run like the others is called worse), and
which of the regressions one run's counts find. --times: the same with times of the same programs, made longer, five runs against five others; and how
often 10 % more time is found from five runs each, and 5 % from fifteen (with 30 runs or more). --quiet: without the second load."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SAMPLES = 200
TRAIN = """
import fcntl, os, sys, torch
WITH = sys.argv[1] if len(sys.argv) > 1 else ""
cache, log = {}, open("log.txt", "ab", buffering=0)
def load(i):
    name = f"sample{i % 20}.txt"
    if name not in cache or WITH == "cache":
        with open(name, "rb", buffering=0) as file: cache[name] = file.read()
    return cache[name]
class Files(torch.utils.data.Dataset):
    def __len__(self): return 210 if WITH == "work" else 200
    def __getitem__(self, i):
        data = load(i)
        if WITH == "read": open("sample0.txt", "rb", buffering=0).read(10)
        if WITH == "copy": data = b"".join(bytes([byte]) + bytes(600) for byte in data[:300])
        if WITH == "lock": fcntl.flock(log, fcntl.LOCK_EX); fcntl.flock(log, fcntl.LOCK_UN)
        if WITH == "stat": os.stat("sample1.txt")
        if WITH == "seek": log.seek(0, 2)
        return torch.tensor([float(sum(data[:100]))])
model = torch.nn.Linear(1, 1); optimizer = torch.optim.SGD(model.parameters(), 1e-12)
for x in (x for _ in range(int(os.environ.get("EPOCHS", "1"))) for x in torch.utils.data.DataLoader(Files(), batch_size=10, shuffle=True)):
    optimizer.zero_grad(); model(x).mean().backward(); optimizer.step()
    log.write(b"a step\\n")
    if WITH == "fsync": os.fsync(log)
"""
FETCH = """
import http.server, os, sys, threading, urllib.request
WITH = sys.argv[1] if len(sys.argv) > 1 else ""
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
def fetch(name):
    data = urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{name}").read()
    if WITH == "copy": data = bytes(bytearray(data) + bytearray(8000))[:-8000]
    with open("fetched.txt", "wb", buffering=0) as file:
        file.write(data)
        if WITH == "fsync": os.fsync(file)
    if WITH == "again": open("fetched.txt", "rb").read()
    if WITH == "stat": os.stat("fetched.txt")
    if WITH == "rename": os.rename("fetched.txt", "kept.txt")
for i in range((252 if WITH == "work" else 240) * int(os.environ.get("EPOCHS", "1"))):
    fetch("larger.txt" if WITH == "larger" else "data.txt")
    if WITH == "retry" and i % 10 == 0: fetch("data.txt")
"""
MAKE = "sh -c 'make -s clean; make -s -j2 %s'"
SQL = "sh -c 'rm -f a.db copy.db; sqlite3 a.db < %s'"
# Name: the command, and the same with a regression of some name.
PROGRAMS = {
    "training": ("python3 train.py", {what: f"python3 train.py {what}" for what in ("read", "cache", "fsync", "copy", "lock", "work", "stat", "seek")}),
    "make": (MAKE % "", {what: MAKE % f"WITH={what}" for what in ("file", "header", "temps", "archive", "install", "stamp", "shell", "twice")}),
    "sqlite": (SQL % "usual.sql", {what: SQL % f"{what}.sql" for what in ("transactions", "vacuum", "persist", "backup", "dump", "spill", "attach", "work")}),
    "git": ("git log --stat -40", {"work": "git log --stat -44", "patch": "git log -p -40", "status": "sh -c 'git log --stat -40; git status'",
                                   "show": "sh -c 'git log --stat -40; git show --stat HEAD'", "blame": "sh -c 'git log --stat -40; git blame README.md'",
                                   "grep": "sh -c 'git log --stat -40; git grep -c proftrace'", "twice": "sh -c 'git log --stat -40; git log --stat -40'",
                                   "describe": "sh -c 'git log --stat -40; git diff HEAD~5 --stat'"}),
    "fetcher": ("python3 fetch.py", {what: f"python3 fetch.py {what}" for what in ("larger", "fsync", "again", "stat", "rename", "work", "retry", "copy")}),
}
# The same, so long that a twentieth of it is more than the tenth of a second that counts.
LONG = {
    "training": "env EPOCHS=900 /usr/bin/python3 train.py",
    "make": "sh -c 'for i in $(seq 50); do make -s clean; make -s -j2; done'",
    "sqlite": "sh -c 'for i in $(seq 160); do rm -f a.db copy.db; sqlite3 a.db < usual.sql; done'",
    "git": "sh -c 'for i in $(seq 50); do git log --stat -40; done'",
    "fetcher": "env EPOCHS=18 /usr/bin/python3 fetch.py",
}
MAKEFILE = """
OBJECTS = 0.o 1.o 2.o 3.o 4.o 5.o
ifeq ($(WITH),file)
OBJECTS += 6.o
endif
ifeq ($(WITH),header)
CFLAGS += -include complex.h
endif
ifeq ($(WITH),temps)
CFLAGS += -save-temps
endif
all: $(OBJECTS)
\t@case "$(WITH)" in archive) ar rc all.a $(OBJECTS);; install) cp $(OBJECTS) /tmp;; stamp) touch stamp; sync stamp;; shell) for i in 1 2 3; do sh -c :; done;; twice) $(MAKE) -s clean; $(MAKE) -s WITH=;; esac
clean:
\trm -f *.o *.a *.i *.s stamp
"""


def prepare(folder):
    (folder / "data.txt").write_text("0123456789\n" * 200)
    (folder / "larger.txt").write_text("0123456789\n" * 300)
    for i in range(20):
        (folder / f"sample{i}.txt").write_text("0123456789" * 1000)
    (folder / "fetch.py").write_text(FETCH)
    (folder / "train.py").write_text(TRAIN)
    rows = [f"INSERT INTO t VALUES({i}, 'row {i} {'x' * 400}');" for i in range(3000)]
    usual = ["CREATE TABLE t(a, b);", "BEGIN;", *rows, "COMMIT;"]
    tens = [line for i, row in enumerate(rows) for line in ([row] if i % 100 else ["COMMIT;", "BEGIN;", row])]
    more = [f"INSERT INTO t VALUES({i}, 'row {i} {'x' * 400}');" for i in range(150)]
    scripts = {"usual": usual, "transactions": ["CREATE TABLE t(a, b);", "BEGIN;", *tens, "COMMIT;"], "vacuum": [*usual, "VACUUM;"],
               "persist": ["PRAGMA journal_mode=WAL;", *usual], "backup": [*usual, ".backup copy.db"], "dump": [*usual, ".output dump.txt", ".dump", ".output"],
               "spill": ["PRAGMA cache_size=10;", *usual], "attach": [*usual, "ATTACH 'copy.db' AS c;", "CREATE TABLE c.t AS SELECT * FROM t;"],
               "work": ["CREATE TABLE t(a, b);", "BEGIN;", *rows, *more, "COMMIT;"]}
    for name, lines in scripts.items():
        (folder / f"{name}.sql").write_text("\n".join(lines) + "\n")
    for i in range(7):
        (folder / f"{i}.c").write_text(f"#include <stdio.h>\nint f{i}(int a) {{ return printf(\"%d\", a); }}\n")
    (folder / "Makefile").write_text(MAKEFILE)


class Recorder:
    """Records runs, and keeps what a baseline has of each."""

    def __init__(self, build, folder, source):
        self.proftrace, self.folder, self.source, self.n = build / "proftrace", folder, source, 0

    def record(self, name, command):
        self.n += 1
        path, file = self.folder / f"run{self.n}", self.folder / "one.json"
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))} | {"PROFTRACE_STAGE": name, "PYTHONHASHSEED": "0"}
        if command.startswith("python3"):
            command = "/usr/bin/" + command
        done = subprocess.run(f"exec {self.proftrace} run --no-report -o {path} -- {command}", shell=True, cwd=self.source if name == "git" else self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, env=environment)
        if done.returncode:
            sys.exit(f"{name} failed: {done.stderr.decode()[-500:]}")
        file.unlink(missing_ok=True)
        subprocess.run([self.proftrace, "baseline", "add", file, path], check=True)
        return path, next(run for run in json.loads(file.read_text())["runs"] if isinstance(run, dict) and run["stage"] == name)

    def check(self, name, drawn, others, options=()):
        file = self.folder / "baseline.json"
        file.write_text(json.dumps({"schema_version": "1.0", "stages": {name: [entry for _, entry in others]}}))
        return subprocess.run([self.proftrace, "check", *(path for path, _ in drawn), "--baseline", file, *options], capture_output=True, text=True, check=False)


def false_alarms(recorder, name, runs, checks, options):
    alarms, figures = 0, 0
    for _ in range(checks):
        drawn = random.sample(runs, 5 if options else 1)
        done = recorder.check(name, drawn, random.sample([run for run in runs if run not in drawn], 5), options)
        alarms += done.returncode == 1
        figures += 2 if options else len(drawn[0][1]["figures"]) - 2
        if done.returncode == 1:
            print("   ", done.stdout.splitlines()[0], flush=True)
    return {"false_alarms": alarms, "checks": checks, "figures": figures}


def slowed(run, by):
    path, entry = run
    return path, entry | {"figures": entry["figures"] | {key: value / (1 + by) for key, value in entry["figures"].items() if key in ("wall_s", "cpu_s")}}


def power_of_times(recorder, name, runs, checks):
    """Times of a baseline that are shorter by 10 % or 5 % are a run that is longer: no other program is needed."""
    found = {}
    for by, n in ((0.10, 5), (0.05, 15)):
        codes = []
        for _ in range(checks):
            drawn = random.sample(runs, n)
            others = [slowed(run, by) for run in random.sample([run for run in runs if run not in drawn], n)]
            codes.append(recorder.check(name, drawn, others, ["--time"]).returncode)
        found[f"{by:.0%} of {n} and {n}"] = f"{codes.count(1)} of {checks}"
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--quiet", action="store_true", help="no second load")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=PROGRAMS)
    options = parser.parse_args()
    build, source = options.build.resolve(), pathlib.Path(__file__).resolve().parents[2]
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="alarms-") as name:
        folder = pathlib.Path(name)
        prepare(folder)
        subprocess.run(["git", "clone", "-q", source, folder / "repository"], check=True)  # somebody may commit meanwhile
        recorder = Recorder(build, folder, folder / "repository")
        load = subprocess.Popen(["sleep", "infinity"] if options.quiet else [sys.executable, "-c", "import time\nwhile True:\n    end = time.time() + 0.3\n    while time.time() < end: pass\n    time.sleep(0.2)"])
        try:
            for program, (usual, regressions) in PROGRAMS.items():
                if options.only and program != options.only:
                    continue
                recorder.record(program, usual)  # the first one finds no file in memory
                runs = [recorder.record(program, LONG[program] if options.times else usual) for _ in range(options.runs)]
                print(f"   {program}: {min(run[1]['figures']['wall_s'] for run in runs):.2f} to {max(run[1]['figures']['wall_s'] for run in runs):.2f} s", flush=True)
                found = false_alarms(recorder, program, runs, options.checks, ["--time"] if options.times else [])
                if options.times and options.runs >= 30:
                    found |= power_of_times(recorder, program, runs, max(20, options.checks // 2))
                elif not options.times:
                    worse = {what: recorder.check(program, [recorder.record(program, command)], random.sample(runs, 5)) for what, command in regressions.items()}
                    found |= {"found": sum(done.returncode == 1 for done in worse.values()), "not found": [what for what, done in worse.items() if done.returncode != 1]}
                print(program, json.dumps(found), flush=True)
        finally:
            load.kill()
            load.wait()


if __name__ == "__main__":
    main()
