# SPDX-License-Identifier: MIT
"""T22, T24, T26, T30, T32, T59 once more, with programs that people use: each meets the very fault, with and without us."""
import os
import re
import resource
import shutil
import subprocess

from harness import FaultCase, Result

BOTH = ("full", "sampled")
PYTHON = "/usr/bin/python3"
GIT = ("export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z;"
       " git init -q r; cd r; for i in $(seq 20); do seq $((i * 50)) >f$i; done; git add .;"
       " git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qm1; ")
SQLITE_ROWS = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < {rows})"
               " insert into t select x, hex(x * 7919) from c; select count(*), sum(a) from t;")


def without_pids(result):
    """What the shell says about a killed job, less its number and the blanks before it: those are fewer for a longer one."""
    return Result(result.out, re.sub(rb" *\d+ (Done|File size limit)", rb" \1", result.err), result.status)


def limit(what, value):
    return lambda: resource.setrlimit(what, (value, value))


class FileSizeLimit(FaultCase):
    """T22: our own files may not raise SIGXFSZ, and the program meets its own limit where it would without us."""

    def test_t22_python_is_told(self):
        """CPython ignores SIGXFSZ and gets EFBIG; the bytes before the limit are written."""
        script = ("import os, signal\nprint(signal.getsignal(signal.SIGXFSZ))\n"
                  "b = [bytes(600 + i % 900) for i in range(50000)]\n"
                  "f = os.open('file', os.O_CREAT | os.O_RDWR)\nn = 0\n"
                  "try:\n    while True: n += os.write(f, b'x' * 1000)\n"
                  "except OSError as e: print(e.errno, n)\n"
                  "print(os.fstat(f).st_size, signal.sigpending())\n")
        for size in (0, 4096, 100000, 2 << 20):
            with self.subTest(size=size):
                self.check([PYTHON, "-c", script], modes=BOTH, before_exec=limit(resource.RLIMIT_FSIZE, size), claims=False)

    def test_t22_python_dies(self):
        script = ("import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nb = [bytes(900) for i in range(50000)]\n"
                  "print('alive', flush=True)\nf = os.open('file', os.O_CREAT | os.O_RDWR)\nos.ftruncate(f, 1 << 30)\n")
        self.check([PYTHON, "-c", script], modes=BOTH, status=-25, before_exec=limit(resource.RLIMIT_FSIZE, 4096), claims=False)

    def test_t22_sqlite(self):
        self.need("sqlite3")
        query = SQLITE_ROWS.format(rows=20000)
        for trap in ("", "trap '' XFSZ; "):
            with self.subTest(trap=trap):
                script = f"ulimit -c 0; ulimit -f 64; {trap}sqlite3 t.db \"{query}\"; echo $?; stat -c %s t.db"
                self.check(["bash", "-c", script], modes=BOTH, claims=False, normalise=without_pids)

    def test_t22_redis_snapshot(self):
        """The forked child that writes the snapshot is killed by the limit; the server lives on and says so."""
        self.need("redis-server", "redis-cli")
        script = ("ulimit -c 0; ulimit -f 16; redis-server --save '' --appendonly no --port 0 --unixsocket $PWD/s --dir $PWD"
                  " >/dev/null 2>&1 & p=$!; for i in $(seq 1200); do redis-cli -s s ping >/dev/null 2>&1 && break; sleep 0.05; done;"
                  " redis-cli -s s eval \"for i=1,3000 do redis.call('set','k'..i,redis.sha1hex(i)..redis.sha1hex(-i)) end return 1\" 0;"
                  " redis-cli -s s bgsave; for i in $(seq 1200); do redis-cli -s s info persistence |"
                  " grep -q rdb_bgsave_in_progress:0 && break; sleep 0.05; done;"
                  " redis-cli -s s info persistence | grep rdb_last_bgsave_status; redis-cli -s s dbsize;"
                  " redis-cli -s s shutdown nosave; wait $p; echo ended $?; ls *.rdb")
        self.check(["bash", "-c", script], status=None, claims=False)

    def test_t22_git(self):
        self.check(["bash", "-c", GIT + "ulimit -c 0; ulimit -f 4; seq 100000 | shuf --random-source=<(yes) >big; echo $?;"
                    " git add f1 2>&1; git status -s | head; git log --format=%s"], modes=BOTH, status=None, claims=False, normalise=without_pids)


class FewDescriptors(FaultCase):
    """T24: every descriptor that the limit allows is the program's."""

    def test_t24_python(self):
        script = ("import os, socket\nb = [bytes(600 + i % 900) for i in range(100000)]\nheld = []\n"
                  "try:\n    while True: held.append(os.open('/dev/null', os.O_RDONLY))\n"
                  "except OSError as e: print(e.errno, held)\n"
                  "try: socket.socket()\nexcept OSError as e: print(e.errno)\n"
                  "b = [bytes(600 + i % 900) for i in range(100000)]\n"
                  "for f in held: os.close(f)\nprint(os.pipe(), len(os.listdir('/proc/self/fd')))\n")
        for number in (8, 16):
            with self.subTest(limit=number):
                trace = self.check([PYTHON, "-c", script], modes=BOTH, before_exec=limit(resource.RLIMIT_NOFILE, number), claims=False)
                # While none is free the trace cannot grow: what it has no room for is counted, with the reason.
                events = trace.info()["events"]
                self.assertEqual((events["overwritten"], events["damaged"]), (0, 0))
                reasons = trace.report()["processes"][0]["events"]["drop_reasons"]
                names = reasons.get("definition", 0)  # without room for a name the event is stored all the same
                self.assertEqual(sum(reasons.values()) - names, events["dropped"], reasons)

    def test_t24_others(self):
        commands = {"sqlite3": f"sqlite3 t.db \"{SQLITE_ROWS.format(rows=20000)}\"",
                    "git": GIT + "ulimit -n 12; git status -s; git fsck --no-progress; git log --stat | sha256sum",
                    "perl": "perl -e 'while (open my $f, q(<), q(/dev/null)) { push @f, $f } print scalar(@f), qq( $!\\n)'",
                    "gcc": "echo 'int main(void){return 3;}' >m.c; gcc -o m m.c; echo $?; ./m; echo $?"}
        for program, command in commands.items():
            if not shutil.which(program):
                continue
            with self.subTest(program=program):
                self.check(["bash", "-c", f"ulimit -n 14; {command}"], modes=BOTH, status=None, claims=False)

    def test_t24_node(self):
        """Node makes some twenty descriptors of its own before it begins; what it opens then is the same count."""
        self.need("node")
        script = ("const fs=require('fs');let n=0;try{for(;;){fs.openSync('/dev/null');n++}}catch(e){console.log(e.code,n)}")
        self.check(["node", "-e", script], claims=False, before_exec=limit(resource.RLIMIT_NOFILE, 40))


class RingThatWrapped(FaultCase):
    """T26: what is overwritten is counted, and every total is still exact."""

    def test_t26_python(self):
        script = ("import os\nf = os.open('file', os.O_CREAT | os.O_RDWR)\n"
                  "for i in range(60000):\n    os.pwrite(f, b'x' * (i % 97), i * 31 % 100003)\n"
                  "    b = [bytes(700 + (i * k) % 4099) for k in range(10)]\nprint(os.fstat(f).st_size)\n")
        trace = self.check([PYTHON, "-c", script], options={"ring_mib": 1}, claims=False)
        self.assertEqual((trace.calls("io_pwrite"), trace.calls("io_pwrite", "bytes")), (60000, sum(i % 97 for i in range(60000))))
        self.assertGreaterEqual(trace.heap("allocs"), 600000)
        events = trace.info()["events"]
        self.assertGreater(events["overwritten"], 0, "the ring must have wrapped")
        self.assertEqual((events["dropped"], events["damaged"]), (0, 0))
        self.assertEqual(sum(1 for _ in trace.events()), events["recorded"])

    def test_t26_sqlite(self):
        self.need("sqlite3")
        script = ("(echo 'create table t(a,b);'; seq 60000 | sed 's/.*/insert into t values(&,hex(&));/'; echo 'select count(*) from t;')"
                  " >in; sqlite3 :memory: <in")
        trace = self.check(["bash", "-c", script], options={"ring_mib": 1}, claims=False)
        events = trace.info()["events"]
        self.assertGreater(events["overwritten"], 0, "the ring must have wrapped")
        self.assertEqual(sum(1 for _ in trace.events()), events["recorded"])
        allocations = trace.heap("allocs")
        full = self.check(["bash", "-c", script], options={"ring_mib": 512}, claims=False)
        self.assertEqual(full.lost(), 0)
        self.assertEqual(full.heap("allocs"), allocations, "totals may not depend on the ring")


class Forks(FaultCase):
    """T30: children that neither libc nor the interpreter has prepared."""

    def test_t30_python_raw_forks(self):
        script = ("import ctypes, os\nlibc = ctypes.CDLL(None)\nlibc.syscall.restype = ctypes.c_long\n"
                  "class Args(ctypes.Structure): _fields_ = [(n, ctypes.c_uint64) for n in 'fpcesSzt']\n"
                  "args = Args(0, 0, 0, 0, 17, 0, 0, 0)\n"
                  "ways = {'_Fork': lambda: libc._Fork(), 'SYS_fork': lambda: libc.syscall(57),\n"
                  "        'SYS_clone': lambda: libc.syscall(56, 17, 0, 0, 0, 0),\n"
                  "        'SYS_clone3': lambda: libc.syscall(435, ctypes.byref(args), ctypes.sizeof(args)), 'fork': os.fork}\n"
                  "f = os.open('file', os.O_CREAT | os.O_RDWR)\n"
                  "for number, (name, way) in enumerate(ways.items()):\n    pid = way()\n"
                  "    if pid == 0:\n        b = [bytes(700) for _ in range(2000)]\n"
                  "        for i in range(100): os.pwrite(f, b'c', number * 100 + i)\n        os._exit(number + 1)\n"
                  "    print(name, os.waitpid(pid, 0)[1] >> 8, flush=True)\n")
        trace = self.check([PYTHON, "-c", script], modes=BOTH, claims=False)
        self.assertEqual(len(trace.processes()), 6)
        self.assertEqual((trace.calls("io_pwrite"), trace.lost()), (500, 0))
        seen = sorted(event["offset_bytes"] for event in trace.events('"io_pwrite"'))
        self.assertEqual(seen, list(range(500)))

    def test_t30_interpreters_that_fork(self):
        forks = {"perl": ["perl", "-e", "for (1..40) { my $p = fork; if (!$p) { my @a = map { 'x' x $_ } 1..500; exit 3 }"
                          " waitpid $p, 0; $s += $? >> 8 } print qq($s\\n)"],
                 "bash": ["bash", "-c", "for i in {1..40}; do (exit 3); s=$((s + $?)); done; echo $s"],
                 "python3": [PYTHON, "-c", "import os\ns = 0\nfor i in range(40):\n    p = os.fork()\n    if not p: os._exit(3)\n"
                             "    s += os.waitpid(p, 0)[1] >> 8\nprint(s)"]}
        for name, command in forks.items():
            if not shutil.which(name):
                continue
            with self.subTest(program=name):
                trace = self.check(command, modes=BOTH, claims=False)
                # A child that exits without one event of its own leaves no file.
                self.assertLessEqual(len(trace.processes()), 41)
                self.assertEqual(trace.lost(), 0)


class SharedMemoryForks(FaultCase):
    """T32: the child borrows the parent's memory, and our thread state with it, until it calls exec."""

    def children(self, trace, program):
        return sum(os.path.basename(process["exe"]) == program for process in trace.report()["processes"])

    def test_t32_python_subprocess(self):
        script = ("import subprocess\nsubprocess._USE_VFORK = True\nsubprocess._USE_POSIX_SPAWN = False\n"
                  "print([subprocess.run(['/bin/sh', '-c', f'exit {i}']).returncode for i in range(30)])\n"
                  "for bad in ('/no/such', '/etc/passwd'):\n"
                  "    try: subprocess.run([bad])\n    except OSError as e: print(e.errno)\n"
                  "b = [bytes(4247) for _ in range(100)]\n")
        trace = self.check([PYTHON, "-c", script], modes=BOTH, claims=False)
        self.assertEqual((self.children(trace, "dash") + self.children(trace, "sh"), trace.lost()), (30, 0))

    def test_t32_python_posix_spawn(self):
        script = ("import os\npids = [os.posix_spawn('/bin/sh', ['sh', '-c', f'exit {i}'], os.environ) for i in range(30)]\n"
                  "print([os.waitpid(p, 0)[1] >> 8 for p in pids])\n")
        trace = self.check([PYTHON, "-c", script], modes=BOTH, claims=False)
        self.assertEqual(self.children(trace, "dash") + self.children(trace, "sh"), 30)
        self.assertEqual((trace.calls("proc_spawn"), trace.lost()), (30, 0))

    def test_t32_java_process_builder(self):
        """The JVM has three ways to start a process, one of them vfork."""
        self.need("java", "javac")
        source = ("public class P { public static void main(String[] a) throws Exception { int s = 0; for (int i = 0; i < 8; i++)"
                  " s += new ProcessBuilder(\"/bin/sh\", \"-c\", \"exit \" + i).inheritIO().start().waitFor();"
                  " System.out.println(s); } }")
        with open(os.path.join(self.scratch, "P.java"), "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run(["javac", "-d", self.scratch, os.path.join(self.scratch, "P.java")], check=True, capture_output=True)
        for way in ("VFORK", "POSIX_SPAWN", "FORK"):
            with self.subTest(way=way):
                trace = self.check(["java", "-Xshare:auto", f"-Djdk.lang.Process.launchMechanism={way}", "-cp", self.scratch, "P"],
                                   modes=("sampled",), claims=False)
                self.assertEqual(self.children(trace, "dash") + self.children(trace, "sh"), 8)

    def test_t32_compilers_and_node(self):
        programs = {
            "gcc": "echo 'int main(void){return 3;}' >m.c; gcc -o m m.c; ./m; echo $?; gcc -c no.c; echo $?",
            "make": "printf 'all: a b c\\na b c:\\n\\t@echo $@; exit 0\\nbad:\\n\\t@exit 4\\n' >Makefile; make -s; make -s bad; echo $?",
            "git": GIT + "git log --stat | sha256sum; git gc -q; git fsck --no-progress; echo $?",
            "node": "node -e \"const c=require('child_process');let s=0;for(let i=0;i<10;i++)"
                    "s+=c.spawnSync('/bin/sh',['-c','exit '+i]).status;console.log(s, c.spawnSync('/no/such').error.code)\""}
        for program, script in programs.items():
            if not shutil.which(program):
                continue
            with self.subTest(program=program):
                trace = self.check(["bash", "-c", script], claims=False)
                self.assertEqual(trace.lost(), 0)


class ClosedAndFullOutput(FaultCase):
    """T59: what the program says about its output is what it says without us, and our descriptors never stand in for its own."""

    def test_t59_programs(self):
        programs = {
            "git": GIT + "git log --stat",
            "python3": "python3 -c \"import sys, os; b=[bytes(900) for i in range(20000)]; print('x' * 100000); sys.stderr.write('e')\"",
            "node": "node -e \"console.log('x'.repeat(100000)); console.error('e')\"",
            "perl": "perl -e 'print q(x) x 100000; print STDERR q(e); close STDOUT or exit 7'",
            "sqlite3": "sqlite3 :memory: \"select hex(zeroblob(100000))\""}
        for program, command in programs.items():
            if not shutil.which(program):
                continue
            for redirection in (">/dev/full", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>&1", "| head -c 10"):
                with self.subTest(program=program, redirection=redirection):
                    script = f"( {command} ) {redirection}; echo ended ${{PIPESTATUS[0]}}; ls | head -50"
                    trace = self.check(["bash", "-c", script], status=None, claims=False)
                    self.assertEqual(trace.lost(), 0)

    def test_t59_python_counts_its_descriptors(self):
        """With 0, 1 and 2 closed the next open gives 0: the program's file, and none of our bytes in it."""
        script = ("import os\nf = [os.open(n, os.O_CREAT | os.O_RDWR) for n in 'abcd']\nb = [bytes(900) for i in range(50000)]\n"
                  "os.write(f[0], repr(f).encode())\nos.write(2, b'!')\n")
        for redirection in ("<&- >&- 2>&-", ">&- 2>&-", "<&-"):
            with self.subTest(redirection=redirection):
                self.check(["bash", "-c", f"{PYTHON} -S -c \"{script}\" {redirection}; echo $?; head -c 99 a b c d"],
                           modes=BOTH, status=None, claims=False)
