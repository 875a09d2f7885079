#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Real programs behave the same with and without the library.

transparency.py [--build DIR] [--slow] [-k NAME]    the fast part takes less than a minute; --slow adds the rest

Commands: output and exit status byte for byte, both runs of a pair next to one another. CPython: its own test modules, by verdict
of every single test (a count could hide one that fails for another that is mended). A test whose verdict differs is run twice more
each way before it counts as a difference: some fail by themselves now and then.
"""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import FaultCase, SETTINGS, clean_environment, run_command, slow  # noqa: E402

FAST_MODULES = """test_posix test_fileio test_mmap test_thread test_fcntl test_pty test_popen test_atexit test_epoll test_zlib
test_select""".split()
SLOW_MODULES = """test_os test_threadsignals test_tempfile test_shutil test_ctypes test_exceptions test_gc
test_threading test_subprocess test_fork1 test_eintr test_wait3 test_cmd_line_script test_io test_signal
test_faulthandler test_selectors test_largefile test_interpreters test_multiprocessing_main_handling test_sqlite3 test_dbm
test_glob test_pathlib test_socket test_resource test_stat test_file test_bufio test_logging test_queue test_sched
test_weakref test_memoryio test_pickle test_json test_re test_bz2 test_lzma test_gzip test_tarfile test_zipfile
test_concurrent_futures test_asyncio test_multiprocessing_fork test_multiprocessing_spawn
test_multiprocessing_forkserver""".split()
VERDICT = re.compile(r"^(?P<test>test\w* \([\w.]+\)).*? \.\.\. (?P<verdict>ok|FAIL|ERROR|skipped|expected failure|unexpected success)",
                     re.MULTILINE)

SETUP_MAKE = r"""rm -rf mk; mkdir mk; cd mk; for i in $(seq 20); do echo "int f$i(int x){return x*$i;}" > f$i.c; done
printf 'OBJS=%s\nall: lib.so\nlib.so: $(OBJS)\n\tgcc -shared -o lib.so $(OBJS)\n%%.o: %%.c\n\tgcc -O2 -fPIC -c $< -o $@\n' \
"$(ls *.c | sed s/.c$/.o/ | tr '\n' ' ')" > Makefile; make -s -j4 && sha256sum lib.so"""
GIT = r"""export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z
git init -q r; cd r; for i in $(seq 100); do echo $i > f$i; done; git add .; git -c user.name=a -c user.email=a@b commit -qm1
git clone -q --no-local . ../c; cd ../c; git fsck --no-progress; git gc -q; git log --stat | sha256sum; git status -s"""
NODE = r"""const{Worker}=require('worker_threads');const cp=require('child_process');let n=0;for(let i=0;i<4;i++){
new Worker("let s=0;for(let i=0;i<1e6;i++)s+=i;require('worker_threads').parentPort.postMessage(s)",{eval:true}).on('message',m=>{
console.log(m);if(++n==4){console.log(cp.execSync('echo hi').toString());process.exitCode=6}})}"""
REDIS = r"""redis-server --save '' --appendonly no --port 0 --unixsocket $PWD/r.sock --dir $PWD --logfile r.log --daemonize no & p=$!
for i in $(seq 1200); do redis-cli -s r.sock ping >/dev/null 2>&1 && break; sleep 0.05; done; redis-cli -s r.sock set a 1
redis-benchmark -s r.sock -n 5000 -c 20 -q -t set,get >/dev/null 2>&1; redis-cli -s r.sock bgsave
until redis-cli -s r.sock info persistence | grep -q bgsave_in_progress:0; do sleep 0.02; done
redis-cli -s r.sock dbsize; redis-cli -s r.sock shutdown nosave; wait $p; echo ended $?; ls *.rdb"""
JAVA = r"""cat > H.java <<J
import java.util.*;public class H{public static void main(String[] a)throws Exception{List<Thread> l=new ArrayList<>();
for(int i=0;i<20;i++){Thread t=new Thread(()->{long s=0;for(int k=0;k<300000;k++)s+=new int[8].length;});t.start();l.add(t);}
for(Thread t:l)t.join();Process p=new ProcessBuilder("echo","sub").inheritIO().start();System.out.println(p.waitFor());System.exit(9);}}
J
java H.java"""
PERL = r"""perl -e 'use threads; my @t=map{threads->create(sub{my $s=0;$s+=$_ for 1..50000;$s})}1..8; print join(q( ),map{$_->join}@t),qq(\n);
my $p=fork; if(!$p){exit 3} waitpid($p,0); print $?>>8,qq(\n); print qx(echo sub);'"""
GXX = r"""printf '#include <regex>\n#include <iostream>\n#include <thread>\nint main(){std::thread t([]{std::cout<<
std::regex_match("aab",std::regex("a+b"))<<std::endl;});t.join();try{throw 1;}catch(int e){return e+10;}}' > x.cc
g++ -O2 -pthread -o x x.cc && ./x; echo $?"""
COMMANDS = {  # name: (programs it needs, script)
    "bash_loop": ("bash", "for i in $(seq 60); do /bin/true; x=$(echo $i | tr 0-9 a-j); done; echo $x; (exit 7); echo $?; kill -TERM $$"),
    "make_parallel": ("make gcc", SETUP_MAKE),
    "git": ("git", GIT),
    "perl_threads_and_fork": ("perl", PERL),
    "sqlite_memory": ("sqlite3", "sqlite3 :memory: 'create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c "
                      "where x<100000) insert into t select x,x*7%1000 from c; create index i on t(b); select count(*),sum(a) from t "
                      "where b<100; select integrity_check from pragma_integrity_check;'"),
    "sqlite_wal": ("sqlite3", "sqlite3 s.db 'pragma journal_mode=wal; create table t(a,b); with recursive c(x) as (select 1 union all "
                   "select x+1 from c where x<50000) insert into t select x,x from c; select count(*) from t; "
                   "pragma wal_checkpoint(truncate);'"),
    "openssl": ("openssl", "head -c 5000000 /dev/zero | openssl dgst -sha512; openssl enc -aes-256-ctr -pass pass:x -pbkdf2 -nosalt "
                "-in /usr/bin/bash | sha256sum"),
    "node_workers": ("node", f"node -e \"{NODE.replace(chr(34), chr(92) + chr(34))}\""),
    "java_threads": ("java", JAVA),
    "redis": ("redis-server redis-benchmark", REDIS),
    "tar_and_compressors": ("tar gzip xz", "mkdir t; for i in $(seq 50); do seq $i > t/$i; done; tar c --sort=name --mtime=@0 t | tee >(gzip -n | "
                            "sha256sum >g) | xz -T2 | xz -d | sha256sum; until [ -s g ]; do sleep 0.02; done; cat g"),
    "find_xargs": ("find xargs", "find /etc -maxdepth 2 -type f -readable 2>/dev/null | sort | head -100 | xargs -P4 -n10 cat | wc -c"),
    "namespaces": ("unshare", "unshare -Ur id -u; unshare -mpf --mount-proc sh -c 'echo $$; ls /proc | grep -c ^1$'"),
    "busybox": ("busybox", "busybox echo static; busybox ls / | wc -l"),
}
SLOW_COMMANDS = {
    "stress_memory": ("stress-ng", "stress-ng --quiet --malloc 2 --malloc-ops 20000 --fork 2 --fork-ops 2000 --vfork 1 --vfork-ops 2000 "
                      "--clone 1 --clone-ops 500 --pthread 1 --pthread-ops 2000 --timeout 20; echo $?"),
    "stress_signals": ("stress-ng", "stress-ng --quiet --sigsegv 1 --sigsegv-ops 2000 --sigsuspend 1 --sigsuspend-ops 2000 --timer 1 --timer-ops "
                       "20000 --fault 1 --fault-ops 2000 --mmap 1 --mmap-ops 100 --exec 1 --exec-ops 300 --zombie 1 --zombie-ops 500 "
                       "--close 1 --close-ops 2000 --sigabrt 1 --sigabrt-ops 200 --context 1 --context-ops 2000 --seccomp 1 "
                       "--seccomp-ops 200 --unshare 1 --unshare-ops 50 --timeout 30; echo $?"),
    "cxx": ("g++", GXX),
    "valgrind": ("valgrind", "valgrind -q --error-exitcode=9 /bin/ls / | wc -l; echo ${PIPESTATUS[0]}"),
    "gdb": ("gdb", "gdb -batch -nx -ex 'break main' -ex run -ex continue /bin/true 2>&1 | grep -o 'exited normally'"),
    "strace": ("strace", "strace -f -o /dev/null bash -c 'echo traced; exit 4'; echo $?"),
}


class Commands(FaultCase):
    """One test per row of COMMANDS; made below."""

    def compare(self, programs, script):
        self.need(*programs.split())
        self.check(["bash", "-c", script], status=None, modes=("sampled", "full") if SETTINGS.slow else ("sampled",), claims=False,
                   env={"HOME": self.work}, timeout=120, normalise=sort_node_output if "worker_threads" in script else None)
        trace = self.trace()
        self.assertIsNotNone(trace)
        self.assertEqual(trace.lost(), 0)


def sort_node_output(result):
    return type(result)(b"\n".join(sorted(result.out.split(b"\n"))), result.err, result.status)


def add_commands():
    for table, wrap in ((COMMANDS, lambda test: test), (SLOW_COMMANDS, slow)):
        for name, row in table.items():
            def test(self, row=row):
                self.compare(*row)
            test.__name__ = f"test_{name}"
            setattr(Commands, test.__name__, wrap(test))


add_commands()


class CPython(FaultCase):
    PYTHON = "/usr/bin/python3"

    def verdicts(self, module, env):
        self.fresh_work()
        # Where a virtual machine's kernel has vsock, but no host answers, these wait for ever, traced or not.
        result = run_command([self.PYTHON, "-m", "test", "-v", "--ignore", "*VSOCK*", module], self.work, env, timeout=400, stderr=subprocess.STDOUT)
        text = result.out.decode(errors="replace")
        found = {match["test"]: match["verdict"] for match in VERDICT.finditer(text)}
        found["(module)"] = str(result.status)
        return found, text

    def compare_module(self, module):
        probe = subprocess.run([self.PYTHON, "-c", f"import test.{module}"], capture_output=True, check=False)
        if probe.returncode:
            self.skipTest(f"test.{module} is not installed (Debian: libpython3.11-testsuite)")
        env = clean_environment(HOME=self.scratch)
        differing = None
        for _ in range(3):
            without, _ = self.verdicts(module, env)
            traced, text = self.verdicts(module, self.preload_environment(env, "sampled"))
            now = {name for name in set(without) | set(traced) if without.get(name) != traced.get(name)}
            # Of each attempt: what children print may stand within the line that tells how a test ended.
            differing = now if differing is None else differing & now
            if not differing:
                return
        lines = [f"{name}: without {without.get(name)}, with {traced.get(name)}" for name in sorted(differing)]
        self.fail("\n".join(lines) + "\n" + text[-3000:])


def add_modules():
    for modules, wrap in ((FAST_MODULES, lambda test: test), (SLOW_MODULES, slow)):
        for module in modules:
            def test(self, module=module):
                self.compare_module(module)
            test.__name__ = f"test_cpython_{module[5:]}"
            setattr(CPython, test.__name__, wrap(test))


add_modules()


if __name__ == "__main__":
    import run
    sys.argv.insert(1, "transparency")
    sys.exit(run.main())
