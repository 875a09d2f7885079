# SPDX-License-Identifier: MIT
"""T25: nothing committed is lost and nothing appears twice, at whatever moment the process is killed.

kill_storm keeps two counters per thread and operation in a shared page: begun (before the call) and returned (after it). After a kill
    returned <= recorded <= begun
must hold for every thread and operation, and the numbers that the operations carry must follow one another without a gap and
without a repetition. What was begun and had not returned is the one uncommitted record that a thread may lose.
"""
import collections
import os
import random
import signal
import struct
import subprocess
import time

from harness import FaultCase, SETTINGS, clean_environment, wait_until

MALLOC, FREE, WRITE, PREAD = range(4)
SLOTS, THREADS = 512, 8
FAST_KILLS, SLOW_KILLS = 40, 1000
GROWN_BYTES = 1 << 20  # before that, the areas of eight threads


def counters(path):
    """[(begun[4], returned[4])] per slot; None where the program has not come so far."""
    if not os.path.exists(path) or os.path.getsize(path) < SLOTS * 64:
        return None
    with open(path, "rb") as f:
        words = struct.unpack(f"<{SLOTS * 8}Q", f.read(SLOTS * 64))
    return [(words[i:i + 4], words[i + 4:i + 8]) for i in range(0, SLOTS * 8, 8)]


def has_begun(path):
    return any(returned[PREAD] for _, returned in counters(path) or ())


class KillStorm(FaultCase):
    def storm(self, mode, *arguments, delay=None, at_start=False, env=None, **options):
        """Start the storm, kill its whole group `delay` seconds after its first event (None: it ends by itself), or after it was started;
        returns its counters."""
        page = os.path.join(self.scratch, "counters")
        if os.path.exists(page):
            os.unlink(page)
        environment = self.preload_environment(clean_environment(**(env or {})), mode, **options)
        self.fresh_work()
        child = subprocess.Popen([self.host("kill_storm"), page, *arguments], cwd=self.work, env=environment,
                                 start_new_session=True, stdin=subprocess.DEVNULL)
        try:
            if delay is not None:
                if not at_start:
                    wait_until(lambda: has_begun(page))
                time.sleep(delay)
                os.killpg(child.pid, signal.SIGKILL)
            status = child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            self.fail(f"kill_storm {arguments} did not end")
        return status, counters(page)

    def assert_between(self, returned, recorded, begun, what):
        self.assertLessEqual(returned, recorded, f"{what}: lost")
        self.assertLessEqual(recorded, begun, f"{what}: recorded what never began")

    def check_events(self, trace, slots, mode):
        """Every single event against the counters: numbers in order, none missing, none twice."""
        numbers = collections.defaultdict(list)
        writes, blocks = collections.defaultdict(list), {}
        thread_of = {}
        for event in trace.events('"event":"io_(pread|write)"'):
            if event["event"] == "io_pread":
                slot = event["offset_bytes"] >> 40
                thread_of[event["tid"]] = slot
                numbers[slot, PREAD].append(event["offset_bytes"] & (1 << 40) - 1)
            else:
                writes[event["tid"]].append(event["result"])
        # A malloc that began before a free of another thread may have got its block: the block that came first goes first.
        for process, _, event, address, size in trace.heap_events() if mode == "full" else ():
            at = blocks.setdefault((process, address), [])
            is_ours = event == "heap_malloc" and 2048 <= size < 2048 * (THREADS + 1)
            if is_ours:
                numbers[size // 2048 - 1, MALLOC].append(size % 2048)
            if event == "heap_malloc" and (is_ours or at):
                at.append(size // 2048 - 1 if is_ours else None)
            elif event == "heap_free" and at:
                slot = at.pop(0)
                if slot is not None:
                    numbers[slot, FREE].append(0)
        for tid, results in writes.items():
            if tid in thread_of:
                numbers[thread_of[tid], WRITE] = [result - 1 for result in results]
        modulus = {MALLOC: 2048, WRITE: 4096, PREAD: 1 << 40, FREE: 1}
        for slot, (begun, returned) in enumerate(slots):
            for operation in (MALLOC, FREE, WRITE, PREAD):
                if mode != "full" and operation in (MALLOC, FREE):
                    continue
                got = numbers[slot, operation]
                what = f"slot {slot} operation {operation}"
                if returned[PREAD] or operation != WRITE:
                    self.assert_between(returned[operation], len(got), begun[operation], what)
                self.assertEqual(got, [i % modulus[operation] for i in range(len(got))], f"{what}: out of order")

    def check_totals(self, trace, slots, overhead=0):
        """Totals against the sum of the counters; `overhead` bounds what libc allocates for the threads themselves."""
        begun = [sum(slot[0][operation] for slot in slots) for operation in range(4)]
        returned = [sum(slot[1][operation] for slot in slots) for operation in range(4)]
        for operation, value in ((WRITE, trace.calls("io_write")), (PREAD, trace.calls("io_pread"))):
            self.assert_between(returned[operation], value, begun[operation], f"total of operation {operation}")
        self.assert_between(returned[MALLOC], trace.heap("allocs"), begun[MALLOC] + overhead, "total of allocations")
        self.assert_between(returned[FREE], trace.heap("frees"), begun[FREE] + overhead, "total of releases")

    def kill_at_random(self, kills, mode, seed, *arguments, longest=0.04, **options):
        """One in five comes at any moment of the start, perhaps before there is anything to see; the others after the first event. Of many
        kills with forks, a good part must meet a file that has grown and a child that has its own."""
        moments = random.Random(seed)
        done = grown = 0
        for kill in range(kills):
            at_start = kill % 5 == 0
            _, slots = self.storm(mode, str(THREADS), *arguments, delay=moments.uniform(0.003, longest), at_start=at_start, **options)
            trace = self.trace()
            if not slots or not trace or not trace.files() or not sum(slot[1][PREAD] for slot in slots):
                continue
            done += not at_start
            sizes = [os.path.getsize(os.path.join(trace.run, file)) for file in trace.files()]
            grown += len(sizes) > 1 and max(sizes) > GROWN_BYTES
            with self.subTest(kill=kill, mode=mode, options=options):
                self.check_totals(trace, slots, overhead=2 * THREADS + 8)
                if not options:
                    self.assertEqual(trace.lost(), 0)
                    self.check_events(trace, slots, mode)
        self.assertGreater(done, kills // 4, "most kills came before the first event")
        if "forks" in arguments and SETTINGS.slow:  # a few kills say nothing of most
            self.assertGreater(grown, done // 4, "no child, or no growth")

    def kills(self, share):
        return max(2, (SLOW_KILLS if SETTINGS.slow else FAST_KILLS) * share // 100)

    def test_t25_random_kills_full(self):
        self.kill_at_random(self.kills(35), "full", 1)

    def test_t25_random_kills_sampled(self):
        self.kill_at_random(self.kills(35), "sampled", 2)

    def test_t25_random_kills_with_a_ring_that_wraps(self):
        self.kill_at_random(self.kills(20), "full", 3, longest=0.2, ring_mib=1)

    def test_t25_random_kills_between_forks_full(self):
        self.kill_at_random(self.kills(50 if SETTINGS.slow else 10), "full", 4, "forks", longest=0.1)

    def test_t25_random_kills_between_forks_sampled(self):
        self.kill_at_random(self.kills(50 if SETTINGS.slow else 5), "sampled", 5, "forks", longest=0.1)

    def test_a_clean_run_counts_exactly(self):
        for mode in ("full", "sampled"):
            status, slots = self.storm(mode, str(THREADS), "none", "6000")
            self.assertEqual(status, 0)
            trace = self.trace()
            self.assertEqual(trace.lost(), 0)
            self.check_totals(trace, slots, overhead=2 * THREADS + 8)
            self.check_events(trace, slots, mode)

    def with_kill_points(self):
        """Use the library that can kill its host at named points; the build makes it beside the hosts."""
        path = os.path.join(SETTINGS.hosts, "libproftrace_kill.so")
        if not os.path.exists(path):
            self.skipTest("libproftrace_kill.so is not built")
        self.addCleanup(setattr, SETTINGS, "lib", SETTINGS.lib)
        SETTINGS.lib = path

    def test_t25_killed_inside(self):
        """Inside flush, reset, growth, the copy of the totals, and a forked child's first event."""
        self.with_kill_points()
        # Every image passes "fork" once and a child inherits the count: 2 is the first event of each child.
        points = {"publish": (1, 2, 7, 23), "reset": (1, 2, 7, 23), "totals": (1, 2, 7, 23), "growth": (1, 2, 7), "fork": (2,)}
        for point, passings in points.items():
            for n in passings if SETTINGS.slow else passings[::2]:
                for mode in ("full", "sampled") if SETTINGS.slow else ("full",):
                    with self.subTest(point=point, n=n, mode=mode):
                        self.kill_inside(point, n, mode)

    def kill_inside(self, point, n, mode):
        rounds, env = "30000", {"PROFTRACE_TEST_KILL": f"{point}:{n}"}
        if point == "fork":
            rounds = "2000"
        status, slots = self.storm(mode, str(THREADS), "forks" if point == "fork" else "none", rounds, env=env)
        self.assertEqual(status, 0 if point == "fork" else -signal.SIGKILL, "killed at the wrong place")
        trace = self.trace()
        self.assertIsNotNone(trace)
        self.check_totals(trace, slots, overhead=2 * THREADS + 8)
        self.assertEqual(trace.lost(), 0)
        self.assertFalse(trace.info()["events"]["truncated"], "no file lost its end")
        self.check_events(trace, slots, mode)

    def test_t25_python_killed(self):
        script = ("import os, sys\nfd = os.open('/dev/null', os.O_WRONLY)\n"
                  "for i in range(5000): os.pwrite(fd, b'x', i)\n"
                  "b = [bytes(700 + i % 99) for i in range(50000)]\nos.kill(os.getpid(), 9)")
        trace = self.check(["/usr/bin/python3", "-c", script], status=-9, modes=("full", "sampled"))
        self.assertEqual([event["offset_bytes"] for event in trace.events('"io_pwrite"')], list(range(5000)))

    def test_t25_redis_killed(self):
        self.need("redis-server", "redis-cli")
        script = ("redis-server --save '' --appendonly no --port 0 --unixsocket $PWD/r.sock --dir $PWD --logfile r.log & p=$!;"
                  " for i in $(seq 1200); do redis-cli -s r.sock ping >/dev/null 2>&1 && break; sleep 0.05; done;"
                  " redis-cli -s r.sock eval \"for i=1,20000 do redis.call('set','k'..i,string.rep('v',i%500)) end return 1\" 0;"
                  " { kill -9 $p; wait $p; } 2>&-; echo $?")
        trace = self.check(["bash", "-c", script], claims=False)
        self.assertEqual(trace.lost(), 0)
        self.assertTrue(any("redis-server" in process["exe"] and process["heap"]["allocs"] > 20000
                            for process in trace.report()["processes"]))
