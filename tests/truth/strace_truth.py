# SPDX-License-Identifier: MIT
"""Counts are true: open, read, write and stat calls and bytes of real programs equal what strace saw in the same run.

Method: the traced program runs under `strace -f -k` (strace itself is not traced: it sets the preload for its child with -E). One run
gives both numbers, so that nothing that differs from run to run (temporary names, timing, threads) can hide or fake a
difference. strace_log.py says which system calls are public: made by the program through one function of libc. A public call that we do
not hook (a missing alias) is there as well: libc's single frame then stands right below the program. Differences must be zero.
"""
import collections
import os
import subprocess

import strace_log
from harness import FaultCase, SETTINGS, clean_environment, run_command

ROWS = {
    "open": ("io_open",),
    "read": ("io_read", "io_pread", "io_readv", "io_preadv"),
    "write": ("io_write", "io_pwrite", "io_writev", "io_pwritev"),
    "stat": ("meta_stat",),
}

PYTHON = """
import os, shutil, tempfile, glob, json, subprocess, threading
for i in range(60):
    with open(f'f{i}', 'w') as f: f.write('line\\n' * i)
    os.stat(f'f{i}'); os.path.exists(f'g{i}'); os.lstat('.')
total = sum(len(open(p).read()) for p in sorted(glob.glob('f*')))
fd = os.open('raw', os.O_CREAT | os.O_RDWR)
os.pwrite(fd, b'x' * 10000, 5); os.writev(fd, [b'a', b'bc']); os.readv(fd, [bytearray(10)]); os.preadv(fd, [bytearray(9)], 1)
os.pwritev(fd, [b'q'], 3); os.fstat(fd); os.close(fd)
shutil.copy('raw', 'copy'); shutil.copytree('.', '../tree', dirs_exist_ok=True); shutil.rmtree('../tree')
with tempfile.TemporaryFile() as t: t.write(b'1' * 5000); t.seek(0); t.read()
def work(n):
    for i in range(50):
        with open(f't{n}', 'ab') as f: f.write(b'z' * i)
ts = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(subprocess.run(['cat', 'f9', 'raw'], capture_output=True).returncode, total)
import ctypes; os.close(ctypes.CDLL(None).mkstemp(ctypes.create_string_buffer(b'XXXXXX')))
json.dump(list(range(1000)), open('j', 'w'))
"""


def write_file(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def repository(work):
    write_file(f"{work}/make.sh", """set -e
        git init -q repo; cd repo
        for c in 1 2 3; do for i in $(seq 25); do echo "$c line $i" >> file$i; mkdir -p d$c; echo $i$c > d$c/f$i; done
        git add .; git -c user.name=a -c user.email=a@b commit -qm "commit $c"; done""")
    subprocess.run(["bash", "make.sh"], cwd=work, check=True, env=clean_environment(HOME=work), stdout=subprocess.DEVNULL)


def c_source(work):
    functions = "".join(f"double f{i}(double x) {{ return x > {i} ? sqrt(x) * {i} : f{i - 1 if i else 0}(x + 1); }}\n" for i in range(60))
    write_file(f"{work}/x.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n#include <string.h>\n"
               + "".join(f"double f{i}(double);\n" for i in range(60)) + functions)


def tree(work):
    os.makedirs(f"{work}/tree")
    for i in range(80):
        write_file(f"{work}/tree/f{i}", f"content {i}\n" * i * 20)


class StraceTruth(FaultCase):
    def compare(self, command, setup=None, mode="sampled"):
        self.need("strace", command[0])
        log = os.path.join(self.scratch, "strace.log")
        environment = self.preload_environment(clean_environment(HOME=self.work, PYTHONDONTWRITEBYTECODE=1), mode)
        preload = environment.pop("LD_PRELOAD")
        self.fresh_work(setup)
        traced = ["strace", "-f", "-k", "-qq", "-e", "signal=none", "-e", f"trace={strace_log.CALLS}", "-o", log,
                  "-E", f"LD_PRELOAD={preload}", *command]
        result = run_command(traced, self.work, environment, timeout=200)
        if b"PTRACE" in result.err or b"not permitted" in result.err:
            self.skipTest("ptrace is not allowed here")
        self.assertEqual(result.status, 0, result.err.decode(errors="replace"))
        calls = list(strace_log.read(log, os.path.basename(SETTINGS.lib)))
        theirs = strace_log.sums(calls)
        trace = self.trace()
        self.assertIsNotNone(trace)
        ours = {name: {"calls": trace.io(name), "bytes": trace.io(name, "bytes") if name in ("read", "write") else 0}
                for name in ROWS}
        self.assertGreater(theirs["read"]["calls"] + theirs["write"]["calls"], 0, "strace saw no public call at all")
        self.assertEqual(ours, theirs, self.explain(trace, calls))
        self.assertEqual(trace.lost(), 0)

    def test_the_method_itself(self):
        """What is public does not depend on our frames: a deterministic program gives the same sums with and without us."""
        self.need("strace", "sqlite3")
        command = ["sqlite3", "s.db", "create table t(a); insert into t values (1), (2); select sum(a) from t;"]
        sums = []
        environment = self.preload_environment(clean_environment(HOME=self.work), "sampled")
        preload = environment.pop("LD_PRELOAD")
        for extra in ([], ["-E", f"LD_PRELOAD={preload}"]):
            self.fresh_work()
            log = os.path.join(self.scratch, "strace.log")
            result = run_command(["strace", "-f", "-k", "-qq", "-e", f"trace={strace_log.CALLS}", "-o", log, *extra, *command],
                                 self.work, environment)
            if result.status:
                self.skipTest("ptrace is not allowed here")
            sums.append(strace_log.sums(strace_log.read(log, os.path.basename(SETTINGS.lib))))
        self.assertEqual(*sums)

    def explain(self, trace, calls):
        """Which threads and functions differ, for whoever has to find the cause."""
        theirs, ours = collections.Counter(), collections.Counter()
        for call in calls:
            if call.public:
                theirs[call.tid, strace_log.CLASS_OF[call.name]] += 1
        row_class = {row: name for name, rows in ROWS.items() for row in rows}
        for event in trace.events('"(io|meta)_'):
            if event["event"] in row_class:
                ours[event["tid"], row_class[event["event"]]] += 1
        lines = ["(thread, class): strace, proftrace"]
        differing = [key for key in set(theirs) | set(ours) if theirs[key] != ours[key]]
        lines += [f"{key}: {theirs[key]}, {ours[key]}" for key in sorted(differing)]
        lines += [f"{call.text}  {call.symbols} from {call.caller}" for call in calls
                  if call.public and (call.tid, strace_log.CLASS_OF[call.name]) in differing][:60]
        return "\n".join(lines)

    def test_git(self):
        self.compare(["bash", "-c", "git clone -q --no-local repo clone && git -C clone fsck --no-progress && git -C clone gc -q"],
                     repository)

    def test_sqlite(self):
        self.compare(["sqlite3", "s.db", "create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where"
                      " x<20000) insert into t select x, x||'text' from c; create index i on t(b); select count(*) from t;"])

    def test_gcc(self):
        self.compare(["gcc", "-O2", "-c", "x.c"], c_source)

    def test_tar_with_gzip(self):
        self.compare(["tar", "czf", "tree.tgz", "tree"], tree)

    def test_python(self):
        self.compare(["/usr/bin/python3", "-c", PYTHON], mode="full")
