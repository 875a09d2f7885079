# SPDX-License-Identifier: MIT
"""Counts of file calls are true: git, SQLite, gcc, tar, Python and node, compared with strace (strace_case.py tells how)."""
import os
import subprocess

import strace_log
from harness import SETTINGS, clean_environment, run_command, slow
from strace_case import StraceCase

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
import ctypes; libc = ctypes.CDLL(None); os.close(libc.mkstemp(ctypes.create_string_buffer(b'XXXXXX')))
libc.mkdtemp(ctypes.create_string_buffer(b'XXXXXX'))
import _posixshmem; name = f'/truth-{os.getpid()}'; os.close(_posixshmem.shm_open(name, os.O_CREAT | os.O_RDWR, mode=0o600)); _posixshmem.shm_unlink(name)
for terminal in libc.posix_openpt(os.O_RDWR), libc.getpt(): terminal < 0 or os.close(terminal)
json.dump(list(range(1000)), open('j', 'w'))
"""

NODE = """
const fs = require('fs');
for (let i = 0; i < 15; i++) {
    fs.writeFileSync('f' + i, 'line\\n'.repeat(i)); fs.statSync('f' + i); fs.existsSync('g' + i); fs.lstatSync('.'); fs.appendFileSync('f' + i, 'x');
}
const fd = fs.openSync('raw', 'w+');
fs.writeSync(fd, 'x'.repeat(10000), 5); fs.writevSync(fd, [Buffer.from('a'), Buffer.from('bc')], 0); fs.readvSync(fd, [Buffer.alloc(10)], 1);
fs.readSync(fd, Buffer.alloc(9), 0, 9, 1); fs.fstatSync(fd); fs.ftruncateSync(fd, 100); fs.fsyncSync(fd); fs.closeSync(fd);
fs.copyFileSync('raw', 'copy'); fs.cpSync('.', '../tree', {recursive: true}); fs.rmSync('../tree', {recursive: true});
(async () => {
    const all = await Promise.all([...Array(15).keys()].map(i => fs.promises.readFile('f' + i)));
    await Promise.all([...Array(15).keys()].map(i => fs.promises.stat('f' + i)));
    await new Promise(done => fs.createReadStream('raw').pipe(fs.createWriteStream('piped')).on('close', done));
    console.log(all.reduce((sum, text) => sum + text.length, 0));
})();
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


class StraceTruth(StraceCase):
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

    @slow
    def test_node(self):
        """libuv asks about files and closes them by number."""
        self.compare(["node", "-e", NODE], seen=("open", "read", "write", "stat"))

    def test_calls_by_number(self):
        """Each system call of the four classes through syscall(2): results are the program's own check."""
        self.compare([self.host("raw_known")], seen=("open", "read", "write", "stat"))
