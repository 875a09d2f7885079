# SPDX-License-Identifier: MIT
"""Real programs and their short stories. The longer ones lie in programs/; each prints the same every time it runs."""
import atexit
import glob
import os
import shutil
import subprocess
import tempfile

from harness import FaultCase, SETTINGS

PYTHON = "/usr/bin/python3"
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")

ALLOCATORS = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2*",
}


def allocators():
    """(name, preload list) of the allocators that are installed, each before and after ours."""
    for name, pattern in ALLOCATORS.items():
        for path in sorted(glob.glob(f"/usr/lib/x86_64-linux-gnu/{pattern}"))[:1]:
            yield f"{name} before", f"{path}:{{}}"
            yield f"{name} after", f"{{}}:{path}"


START_REDIS = ("redis-server --save '' --appendonly no --port 0 --unixsocket $PWD/r.sock --dir $PWD --logfile r.log {options} & p=$!;"
               " for i in $(seq 1200); do redis-cli -s r.sock ping >/dev/null 2>&1 && break; sleep 0.05; done; ")
STOP_REDIS = "redis-cli -s r.sock shutdown nosave; wait $p; echo ended $?"


def redis(story, options="", stop=STOP_REDIS):
    """A server that lives for the lines of `story`, which ask it things."""
    return ["bash", "-c", START_REDIS.format(options=options) + story + "; " + stop]


def java(name, *arguments, options=()):
    """A class of programs/, started as quickly as the machine can."""
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx256m", *options, "-cp", "{classes}", name, *arguments]


def python(name, *arguments):
    return [PYTHON, "-B", os.path.join(PROGRAMS, f"{name}.py"), *arguments]


HEAP_STORIES = {
    "python": [PYTHON, "-c", "import json, re, threading\n"
               "def work():\n    for i in range(300): json.loads(json.dumps({'k': list(range(i)), 's': 'x' * i}))\n"
               "t = [threading.Thread(target=work) for _ in range(4)]\n"
               "[x.start() for x in t]; [x.join() for x in t]; print('done', bytearray(5 << 20).count(0))"],
    "perl": ["perl", "-e", "my %h; for my $i (1..60000) { $h{$i % 5000} .= 'x' x ($i % 90) } print scalar(keys %h), qq(\n)"],
    "node": ["node", "-e", "let a = []; for (let i = 0; i < 2e5; i++) a.push({i, s: 'x' + i});"
             "console.log(Buffer.alloc(1 << 22).length, JSON.stringify(a).length)"],
    "redis": redis("redis-cli -s r.sock set a 1; for i in 1 2 3; do redis-cli -s r.sock"
                   " eval \"for i=1,5000 do redis.call('set','k'..i,string.rep('v',i%500)) end return 1\" 0; done;"
                   " redis-cli -s r.sock dbsize"),
    "git": ["bash", "-c", "export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=2020-01-01T00:00:00Z"
            " GIT_COMMITTER_DATE=2020-01-01T00:00:00Z; git init -q r; cd r; for i in {1..40}; do seq $i > f$i; done; git add .;"
            " git -c user.name=a -c user.email=a@b commit -qm1; git -c pack.threads=2 repack -adq; git fsck --no-progress;"
            " git log --stat | sha256sum; git grep --threads=4 -c 7"],
    "java": java("Heap"),
    "c++": ["cxx_new_delete"],
}
NEEDS = {"python": [PYTHON], "redis": ["redis-server", "redis-cli"], "java": ["java", "javac"], "git": ["git"], "perl": ["perl"],
         "node": ["node"], "sqlite": ["sqlite3"], "g++": ["g++"], "c++": []}


class RealCase(FaultCase):
    """Base of the tests that run real programs."""
    classes = None

    def compiled(self, command):
        """The command with the folder of the Java classes, which are compiled when the first test asks for them."""
        if "{classes}" in command and not RealCase.classes:
            RealCase.classes = tempfile.mkdtemp(prefix="proftrace-java-")
            atexit.register(shutil.rmtree, RealCase.classes, ignore_errors=True)
            subprocess.run(["javac", "-d", RealCase.classes, *glob.glob(os.path.join(PROGRAMS, "*.java"))], check=True)
        return [word.replace("{classes}", RealCase.classes or "") for word in command]

    def check_real(self, name, command, *, lossless=True, **how):
        """The command of the program called `name`, compared; its trace, which by default has lost nothing."""
        self.need(*NEEDS[name])
        trace = self.check(self.compiled(command), claims=False, **dict({"timeout": 60}, **how))
        if not SETTINGS.baseline:
            self.assertIsNotNone(trace, "no run directory was made")
            if lossless:
                self.assertEqual(trace.lost(), 0)
        return trace

    def assert_trace(self, trace, **least):
        """Each key of the trace (as in host.h, '_' for '.') at least as often; nothing to say where there was no library."""
        if not SETTINGS.baseline:
            for key, number in least.items():
                self.assertGreaterEqual(trace.value(key), number, key)
