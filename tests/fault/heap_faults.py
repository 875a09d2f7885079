# SPDX-License-Identifier: MIT
"""T1-T8: the allocator. Early, late, wrong, replaced, shared between threads."""
import glob

from harness import FaultCase, slow

BOTH = ("full", "sampled")
ALLOCATORS = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2*",
}


def library(pattern):
    found = sorted(glob.glob(f"/usr/lib/x86_64-linux-gnu/{pattern}"))
    return found[0] if found else None


class HeapFaults(FaultCase):
    def test_t1_t2_boot_allocations(self):
        self.check(["boot_allocations"], modes=BOTH)

    def test_t3_threads_before_main(self):
        for _ in range(5):
            self.check(["threads_before_main"], modes=BOTH, env={"EARLY_THREADS": 1})

    def test_t5_cxx_new_delete(self):
        self.check(["cxx_new_delete"], modes=BOTH)

    def test_t6_alloc_storm(self):
        self.check(["alloc_storm"], modes=BOTH)

    def test_t7_allocation_edges(self):
        self.check(["allocation_edges"], modes=BOTH)

    def test_t8_late_frees(self):
        self.check(["late_frees"], modes=BOTH)

    @slow
    def test_t8_late_frees_under_valgrind(self):
        self.need("valgrind")
        command = ["valgrind", "-q", "--run-libc-freeres=yes", "--error-exitcode=9", self.host("late_frees")]
        self.check(command, claims=False, timeout=300)


class OtherAllocators(FaultCase):
    """T4: jemalloc, tcmalloc and mimalloc, preloaded before and after ours, under real programs."""

    PROGRAMS = {
        "python": ["/usr/bin/python3", "-c", "import json, re, threading\n"
                   "def work():\n    for i in range(300): json.loads(json.dumps({'k': list(range(i)), 's': 'x' * i}))\n"
                   "t = [threading.Thread(target=work) for _ in range(4)]\n"
                   "[x.start() for x in t]; [x.join() for x in t]; print('done', bytearray(5 << 20).count(0))"],
        "perl": ["perl", "-e", "my %h; for my $i (1..60000) { $h{$i % 5000} .= 'x' x ($i % 90) } print scalar(keys %h), qq(\n)"],
        "node": ["node", "-e", "let a = []; for (let i = 0; i < 2e5; i++) a.push({i, s: 'x' + i});"
                 "console.log(Buffer.alloc(1 << 22).length, JSON.stringify(a).length)"],
        "redis": ["bash", "-c", "redis-server --save '' --appendonly no --port 0 --unixsocket $PWD/r.sock --dir $PWD"
                  " --logfile r.log & for i in $(seq 100); do [ -S r.sock ] && break; sleep 0.05; done;"
                  " redis-cli -s r.sock set a 1; for i in 1 2 3; do redis-cli -s r.sock"
                  " eval \"for i=1,5000 do redis.call('set','k'..i,string.rep('v',i%500)) end return 1\" 0; done;"
                  " redis-cli -s r.sock dbsize; redis-cli -s r.sock shutdown nosave; wait; echo ended $?"],
        "c++": ["cxx_new_delete"],
    }

    def matrix(self, name):
        command = self.PROGRAMS[name]
        self.need(*(program for program in (command[0], f"{name}-server") if program in ("perl", "node", "redis-server")))
        tested = 0
        for allocator, pattern in ALLOCATORS.items():
            path = library(pattern)
            if not path:
                continue
            tested += 1
            for order in (f"{path}:{{}}", f"{{}}:{path}"):
                with self.subTest(allocator=allocator, order="after" if order.startswith("{") else "before"):
                    self.check(command, preload=order, claims=False, timeout=60)
                    trace = self.trace()
                    self.assertIsNotNone(trace)
                    self.assertEqual(trace.lost(), 0)
        if not tested:
            self.skipTest("no other allocator is installed")

    def test_t4_allocators_with_cxx(self):
        self.matrix("c++")

    def test_t4_allocators_with_python(self):
        self.matrix("python")

    def test_t4_allocators_with_perl(self):
        self.matrix("perl")

    def test_t4_allocators_with_node(self):
        self.matrix("node")

    def test_t4_allocators_with_redis(self):
        self.matrix("redis")
