# SPDX-License-Identifier: MIT
"""Locks: what they answer is as without us, and what waited is in the trace: how long, and who held the lock."""
import collections
import os

from harness import FaultCase, SETTINGS, clean_environment, machine, run_command

BOTH = ("full", "sampled")


class LockFaults(FaultCase):
    def test_results(self):
        self.check(["lock_results"], modes=("sampled",))

    def test_flush_of_a_stream_that_is_held(self):
        """An empty stream's flush is no event, and a wait for its lock in one was none, too."""
        self.check(["flush_that_waits"], modes=BOTH)

    def test_t13_cancelled_and_jumped_out(self):
        self.check(["lock_cancelled"], modes=BOTH)

    def test_t14_storm_with_forks(self):
        self.check(["lock_storm"], modes=BOTH)

    def test_t42_old_conditions(self):
        self.check(["lock_old_conditions"], modes=BOTH)

    def test_t18_crowd_at_a_condition(self):
        """Threads are attached before they wait, not one by one while they hold the mutex that all want; nothing is lost."""
        machine.need_tasks(self, 1000)
        untraced = self.run_untraced([self.host("crowd_at_a_condition")], clean_environment(), timeout=300)
        self.assertEqual(untraced.status, 0)
        plain = self.cpu_ms()
        for mode in BOTH:
            trace = self.check(["crowd_at_a_condition"], modes=(mode,), timeout=300)
            traced = self.cpu_ms()
            self.assertLess(sum(traced), 4 * sum(plain) + 500)
            self.assertLess(traced[-1], 3 * plain[-1] + 150, "a second crowd in the places of the first costs nothing")
            # 1000 areas and what belongs to them; not one pool for each thread that found none
            kept = sum(os.path.getsize(f"{trace.run}/{name}") for name in trace.files())
            self.assertLess(kept, 2000 * (80_000 if mode == "sampled" else 150_000))
            began, late = {}, 0
            for event in trace.events('"(thread_start|lock_cond)"'):
                if event["event"] == "thread_start":
                    began[event["tid"]] = event["start_ns"]
                else:
                    late += event["start_ns"] < began.get(event["tid"], event["start_ns"] + 1)
            self.assertEqual(late, 0)

    def cpu_ms(self):
        with open(f"{self.work}/cpu", encoding="ascii") as f:
            return [float(line) for line in f]

    def test_t18_threads_of_c11(self):
        """They are made as others are."""
        self.check(["crowd_at_a_condition", "200", "1", "c11"], modes=BOTH)

    def test_t18_growth_is_shared(self):
        """A growth of the file is a clone, and on a busy machine two waits for a CPU: few for a crowd, and few questions who is dead."""
        self.need("strace")
        machine.need_tasks(self, 1000)
        self.fresh_work()
        traced = self.preload_environment(clean_environment(), "sampled")
        preload = traced.pop("LD_PRELOAD")
        counts = f"{self.scratch}/counts"
        result = run_command(["strace", "-f", "-qq", "-c", "-o", counts, "-e", "trace=clone,tgkill", "-E", f"LD_PRELOAD={preload}",
                              self.host("crowd_at_a_condition"), "1000", "1"], self.work, traced, timeout=300)
        if result.status and b"ptrace" in result.err:
            self.skipTest("ptrace is not allowed here")
        self.assertEqual(result.status, 0, result.err)
        with open(counts, encoding="ascii") as f:
            calls = {row[-1]: int(row[3]) for row in map(str.split, f) if row and row[-1] in ("clone", "tgkill")}
        self.assertLess(calls.get("clone", 0), 60)
        self.assertLess(calls.get("tgkill", 0), 5000)

    def waits(self, trace):
        """[(kind, what the trace has, what the program saw)]: a number of waits and their length, or only that."""
        counts, sums, joins, threads = collections.Counter(), collections.Counter(), [], {}
        for event in trace.events('"(lock_[a-z]+|wait_thread|thread_start)"'):
            key = event["event"], event.get("owner_tid", 0)
            counts[key] += 1
            sums[key] += event.get("duration_ns", 0)
            if event["event"] == "wait_thread":
                joins.append(event)
            elif event["event"] == "thread_start":
                threads[event["tid"]] = event["pthread"]
        with open(f"{self.work}/waits", encoding="ascii") as f:
            rows = [line.split() for line in f]
        self.assertEqual(len(rows), 9)
        for kind, count, ns, owner in ((kind, int(count), int(ns), int(owner)) for kind, count, ns, owner in rows):
            name = kind.split(".")[0]
            key = name, owner if name != "lock_sem" else 0
            if name == "wait_thread":
                self.assertEqual(joins[-1]["pthread"], threads[owner])
                yield kind, (1, joins[-1]["duration_ns"]), (1, ns)
            else:
                yield kind, (counts[key], sums[key]), (count, ns)

    def test_waits_are_as_long_as_the_program_saw(self):
        """Within 2 % of the waiter's own clock; the owner is the thread that held the lock, in another process as well. Whoever gets its CPU
        too late finds the lock free, or reads the clock late: one round of three is without. The program is as without us in all of
        them, and nothing is lost."""
        for _ in range(3):
            trace = self.check(["lock_waits"], modes=("sampled",), claims=False, timeout=240)
            self.assertEqual(trace.lost(), 0)
            wrong = list(self.wrong_claims(trace, self.shown.out.decode(), "sampled"))
            wrong += [wait for wait in self.waits(trace) if wait[1][0] != wait[2][0] or abs(wait[1][1] - wait[2][1]) >= 0.02 * wait[2][1]]
            if not wrong:
                return
        self.fail(wrong)

    def test_a_wrapper_behind_us_sees_every_call(self):
        wrapper = f"{SETTINGS.hosts}/liblock_wrapper.so"
        if not os.path.exists(wrapper):
            self.skipTest("the wrapper is not built")
        trace = self.check(["lock_waits"], modes=("sampled",), preload="{}:" + wrapper, claims=False, timeout=240)
        self.assertGreaterEqual(trace.calls("lock_mutex"), 13)

    def test_switched_off(self):
        trace = self.check(["lock_storm", "1"], modes=("sampled",), options={"locks": 0}, claims=False)
        self.assertEqual(trace.calls("lock_mutex") + trace.calls("wait_thread"), 0)

    def test_python_locks_and_conditions(self):
        script = ("import threading, time\n"
                  "lock, ready, here = threading.Lock(), threading.Condition(), []\n"
                  "lock.acquire()\n"
                  "def wait():\n    here.append(threading.get_native_id())\n    with lock: pass\n"
                  "def sleeps(tid): return open(f'/proc/self/task/{tid}/stat').read().rsplit(')')[1].split()[0] == 'S'\n"
                  "ts = [threading.Thread(target=wait) for _ in range(4)]\n"
                  "[t.start() for t in ts]\n"
                  "while len(here) < 4 or not all(map(sleeps, here)): time.sleep(.01)\n"
                  "time.sleep(.3); lock.release(); [t.join() for t in ts]\n"
                  "with ready: print(ready.wait(.1))\n")
        trace = self.check(["/usr/bin/python3", "-c", script], modes=BOTH)
        long = [event for event in trace.events('"lock_sem"') if event["duration_ns"] > 200e6]
        self.assertGreaterEqual(len(long), 4)
