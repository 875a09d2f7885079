# SPDX-License-Identifier: MIT
"""T1-T8: the allocator. Early, late, wrong, replaced, shared between threads."""
import os

from harness import SETTINGS, FaultCase, slow
from real_programs import HEAP_STORIES, RealCase, allocators

BOTH = ("full", "sampled")


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

    def test_t6_counts_between_two_samples(self):
        """Samples so far apart that the packed counters, of 24 bits, wrapped: 3,222,784 of 20,000,000 calls were counted."""
        for gap in (1 << 20, 1 << 32):
            with self.subTest(gap=gap):
                trace = self.check(["many_small_blocks"], modes=("sampled",), options={"heap_sample_bytes": gap}, claims=False)
                if not SETTINGS.baseline:
                    self.assertEqual(trace.heap("allocs") - trace.heap("frees"), 0)
                    self.assertGreaterEqual(trace.heap("allocs"), 20000000)
                    self.assertLess(trace.heap("allocs"), 20001000)

    def test_t7_allocation_edges(self):
        self.check(["allocation_edges"], modes=BOTH)

    def test_t4_allocator_of_four_functions(self):
        """libc's malloc_usable_size, which is not its own, reads what lies before a block."""
        allocator = f"{SETTINGS.hosts}/libbare_allocator.so"
        if not os.path.exists(allocator):
            self.skipTest("the allocator is not built")
        self.check(["refused_realloc"], modes=BOTH, preload="{}:" + allocator)

    def test_t8_late_frees(self):
        self.check(["late_frees"], modes=BOTH)

    @slow
    def test_t8_late_frees_under_valgrind(self):
        self.need("valgrind")
        command = ["valgrind", "-q", "--run-libc-freeres=yes", "--error-exitcode=9", self.host("late_frees")]
        self.check(command, claims=False, timeout=300)

    def test_threads_under_memcheck(self):
        """The stacks that we switch to are known to it: no error in us, none made up in the program."""
        self.need("valgrind")
        self.check(["valgrind", "-q", "--error-exitcode=9", self.host("watched_threads")], modes=BOTH)

    def test_threads_under_helgrind(self):
        self.need("valgrind")
        file = os.path.join(os.path.dirname(__file__), "..", "..", "preload", "valgrind.supp")
        self.check(["valgrind", "-q", "--tool=helgrind", f"--suppressions={file}", "--error-exitcode=9", self.host("watched_threads")],
                   modes=BOTH)


class OtherAllocators(RealCase):
    """T4: jemalloc, tcmalloc and mimalloc, preloaded before and after ours, under real programs."""

    def matrix(self, name):
        tested = 0
        for place, preload in allocators():
            tested += 1
            with self.subTest(allocator=place):
                trace = self.check_real(name, HEAP_STORIES[name], preload=preload)
                if place.endswith("after"):  # else the program never calls us
                    self.assert_trace(trace, **{"heap.allocs": 1000})
        if not tested:
            self.skipTest("no other allocator is installed")

    def test_t4_allocators_with_cxx(self):
        self.matrix("c++")

    def test_t4_allocators_with_python(self):
        self.matrix("python")

    def test_t4_allocators_with_perl(self):
        self.matrix("perl")

    def test_t4_allocators_with_git(self):
        self.matrix("git")

    def test_t4_allocators_with_node(self):
        self.matrix("node")

    def test_t4_allocators_with_redis(self):
        self.matrix("redis")

    def test_t4_allocators_with_java(self):
        self.matrix("java")
