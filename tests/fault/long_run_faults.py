# SPDX-License-Identifier: MIT
"""Long runs: a month of a training at a scaled clock (a minute is a millisecond): how large its files are, what its totals are, also
by minute, how long the report takes, and that a kill at any moment loses nothing.

The rows of totals by minute are read here, too, by docs/format.md alone: what the program counted at the end of a minute is what they
must add up to.
"""
import collections
import contextlib
import os
import random
import resource
import signal
import struct
import subprocess
import time

from harness import FaultCase, SETTINGS, clean_environment, slow, wait_until

READ, STAT, WRITE, WAIT, STEP = range(5)
OPERATIONS, SLOTS = 5, 128
PAGE_HEAD = SLOTS * OPERATIONS * 16
MINUTE_NS = 1_000_000
MONTH = 43_200
MIB = 1 << 20
FAST_KILLS, SLOW_KILLS = 20, 300
SEGMENT, MINUTES_SEGMENT, MINUTES_MAGIC = 0x47455350, 4, 0x4e4d


def varints(payload):
    value = shift = 0
    for byte in payload:
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            yield value
            value = shift = 0


class Row:
    """A row of totals by minute: kinds by their row in the totals, (calls, errors, bytes, ticks) each."""

    def __init__(self, payload):
        numbers = varints(payload)
        self.first, self.n, self.sequence = next(numbers), next(numbers), next(numbers)
        self.kinds, row = {}, -1
        for distance in numbers:
            if distance == 0:  # counters
                self.counters = list(numbers)
                break
            row += distance
            calls = next(numbers)
            errors = next(numbers) if calls & 1 else 0
            moved = next(numbers) if calls & 2 else 0
            self.kinds[row] = (calls >> 2, errors, moved, next(numbers))


def rows_of(path):
    """{slot: [Row]} and the bytes of the segments they lie in."""
    with open(path, "rb") as f:
        content = f.read()
    rows, room = collections.defaultdict(list), 0
    for at in range(0, len(content), 4096):
        magic, kind, _, size, slot = struct.unpack_from("<IHHQI", content, at)
        if magic != SEGMENT or kind != MINUTES_SEGMENT:
            continue
        room += size
        place = at + 64
        while place + 12 <= at + size:
            commit, _, length = struct.unpack_from("<III", content, place)
            if commit & 0xffff != MINUTES_MAGIC:
                break
            rows[slot].append(Row(content[place + 12:place + 12 + length]))
            place += commit >> 16
    return rows, room


class LongRunFaults(FaultCase):
    def month(self, minutes, *, delay=None, at_start=True, minute_ns=MINUTE_NS, **options):
        """Run it for so many minutes, or kill it and all its children `delay` seconds after it was started, or after its first read. Its page,
        or None."""
        self.page = os.path.join(self.scratch, "counters")
        if os.path.exists(self.page):
            os.unlink(self.page)
        options = {"minute_ms": minute_ns // MINUTE_NS, **options}
        environment = self.preload_environment(clean_environment(), "sampled", **options)
        self.fresh_work()
        command = [self.host("month"), self.page, str(minute_ns), str(minutes)]
        with subprocess.Popen(command, cwd=self.work, env=environment, start_new_session=True, stdin=subprocess.DEVNULL) as child:
            if delay is None:
                self.assertEqual(child.wait(timeout=400), 0)
            else:
                if not at_start:
                    wait_until(lambda: any(returned[READ] for _, returned in self.counted() or ()))
                with contextlib.suppress(subprocess.TimeoutExpired):  # of one that ends itself
                    child.wait(timeout=delay)
                self.has_killed_itself = child.poll() == -signal.SIGKILL
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        self.pid = child.pid
        slots = self.counted()
        if slots:
            with open(self.page, "rb") as f:
                f.seek(PAGE_HEAD)
                self.first_minute, = struct.unpack("<Q", f.read(8))
                self.reads_until = struct.unpack(f"<{minutes}I", f.read(4 * minutes))
        return slots

    def counted(self):
        """[(begun[5], returned[5])] per slot of the page; None where the program has not come so far."""
        if not os.path.exists(self.page) or os.path.getsize(self.page) < PAGE_HEAD:
            return None
        with open(self.page, "rb") as f:
            words = struct.unpack(f"<{SLOTS * OPERATIONS * 2}Q", f.read(PAGE_HEAD))
        step = 2 * OPERATIONS
        return [(words[i:i + OPERATIONS], words[i + OPERATIONS:i + step]) for i in range(0, len(words), step)]

    def report(self, most_s=None, most_bytes=None):
        """report.json of the run, made within limits; its only stage."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        report = self.trace().report()
        took = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if most_s:
            self.assertLess(cpu, most_s, f"the report took {took:.1f} s")
            if after.ru_maxrss > before.ru_maxrss:  # of the largest child so far: other tests had larger ones
                self.assertLess(after.ru_maxrss * 1024, most_bytes)
        self.assertEqual(len(report["stages"]), 1)
        return report, report["stages"][0]

    def check_totals(self, slots, stage):
        """What the program counted is what the totals say; of one that was killed, between begun and returned."""
        calls = {row["call"]: row["calls"] for row in stage["calls"]}
        names = {READ: "pread", STAT: "stat", WRITE: "pwrite", WAIT: "wait_sleep"}
        for operation, name in names.items():
            begun = sum(slot[0][operation] for slot in slots)
            returned = sum(slot[1][operation] for slot in slots)
            self.assertLessEqual(returned, calls.get(name, 0), f"{name}: lost")
            self.assertLessEqual(calls.get(name, 0), begun, f"{name}: recorded what never began")
        return calls

    def check_minutes(self, slots, stage):
        """All intervals together are the totals."""
        minutes = stage["minutes"]
        self.assertEqual(sum(row["calls"] for row in minutes), sum(row["calls"] or 0 for row in stage["calls"]))
        steps = sum(row["steps"] for row in minutes)
        self.assertLessEqual(slots[0][1][STEP], steps)
        self.assertLessEqual(steps, slots[0][0][STEP])
        heap = sum(row["allocs"] for row in minutes)
        self.assertEqual(heap, stage["heap"]["allocs"])
        self.assertLessEqual(len(minutes), 744)
        ends = [row["at_s"] + row["seconds"] for row in minutes]
        self.assertEqual([round(at, 6) for at in ends[:-1]], [round(row["at_s"], 6) for row in minutes[1:]])

    def check_rows(self):
        """At the end of each minute of which there is a row: as many reads as the program had counted."""
        name = next(name for name in self.trace().files() if f"-{self.pid}-" in name)
        rows, room = rows_of(os.path.join(self.trace().run, name))
        counted, last = [], 0
        for reads in self.reads_until:
            last = reads or last
            counted.append(last)
        kinds = collections.Counter(kind for row in rows[0] for kind in row.kinds)
        # of the kinds that come each minute, pread comes most often
        pread = max(((sum(row.kinds.get(kind, (0,))[0] for row in rows[0]), kind) for kind in kinds), default=(0, None))[1]
        reads = checked = 0
        for row in rows[0]:
            if not row.kinds:
                continue
            reads += row.kinds.get(pread, (0,))[0]
            end = row.first + row.n - 1 - self.first_minute
            if 0 <= end < len(counted):
                self.assertLessEqual(abs(reads - counted[end]), 3, f"until minute {end}")
                checked += 1
        return rows, room, checked

    def sizes(self):
        run = self.trace().run
        return sum(os.path.getsize(os.path.join(run, file)) for file in os.listdir(run))

    def test_a_month(self):
        """A week of it, where all tests run; more on a machine so busy that in a week too little is done for a ring to be used up."""
        for minutes in (MONTH // 4, MONTH // 2, MONTH) if not SETTINGS.slow else (MONTH, 2 * MONTH, 4 * MONTH):
            slots = self.month(minutes, session_ring_mib=2 if SETTINGS.slow else 1)
            report, stage = self.report(most_s=20, most_bytes=400 * MIB)
            if report["trace_quality"]["overwritten"]:
                break
        self.check_totals(slots, stage)
        self.check_minutes(slots, stage)
        self.assertGreater(report["trace_quality"]["overwritten"], 0, "nothing was overwritten: this says nothing")
        self.assertEqual(report["trace_quality"]["dropped"], 0)
        self.assertIn("none", {row["events"] for row in stage["minutes"]})
        self.assertIn("all", {row["events"] for row in stage["minutes"]})
        self.assertTrue(any("there are only totals" in note for note in report["trace_quality"]["notes"]))
        rows, room, checked = self.check_rows()
        if SETTINGS.slow:
            print(f"rows {sum(map(len, rows.values()))}, room {room / MIB:.1f} MiB, all files {self.sizes() / MIB:.1f} MiB")
        active = sum(1 for reads in self.reads_until if reads)  # of the others there is nothing to tell
        self.assertGreater(checked, active // 2, "of too few minutes there is a row")
        self.assertLess(room, 16 * MIB)  # of one process, a quarter of what a session may have
        processes = sum(1 for slot in slots if slot[0][READ])
        self.assertLess(self.sizes(), 2 * MIB + room * 2 + processes * MIB // 2)

    def test_a_month_with_little_room_for_minutes(self):
        """Rows tell of more and more minutes; nothing is lost, and the room is never used up."""
        slots = self.month(MONTH // 2, session_ring_mib=2, minutes_mib=1)
        _, stage = self.report()
        self.check_totals(slots, stage)
        self.check_minutes(slots, stage)
        rows, room, checked = self.check_rows()
        self.assertLessEqual(room, MIB)
        self.assertGreater(checked, 100)
        self.assertGreater(max(row.n for row in rows[0] if row.kinds), 1)

    def test_few_calls_a_minute(self):
        """What a process did before its first buffer was full lay in the minute of its start, or in that of the buffer after it."""
        minute_ns = 4 * MINUTE_NS
        for minutes in (100, 800):
            with self.subTest(minutes=minutes):
                environment = self.preload_environment(clean_environment(), "sampled", minute_ms=minute_ns // MINUTE_NS)
                self.fresh_work()
                subprocess.run([self.host("call_a_minute"), str(minute_ns), str(minutes)], cwd=self.work, env=environment, check=True)
                _, stage = self.report()
                self.assertGreaterEqual(sum(row["calls"] for row in stage["minutes"]), 2 * minutes)
                for row in stage["minutes"]:  # each lasts a minute at the least, and the start has a few of its own
                    self.assertLess(row["calls"], 2 * row["seconds"] * 1e9 / minute_ns + 12, f"after {row['at_s']} s")
                name, = self.trace().files()
                rows, _ = rows_of(os.path.join(self.trace().run, name))
                self.assertGreater(len(rows[0]), minutes // 4 if minutes > 100 else 20)

    def test_without_minutes(self):
        slots = self.month(300, minutes_mib=0)
        _, stage = self.report()
        self.check_totals(slots, stage)
        self.assertNotIn("minutes", stage)

    def test_kills_at_any_moment(self):
        """One in five counted from the start, perhaps before there is anything to see; the others from the first read."""
        moments = random.Random(16)
        done = 0
        for kill in range(SLOW_KILLS if SETTINGS.slow else FAST_KILLS):
            at_start = kill % 5 == 0
            slots = self.month(MONTH, delay=moments.uniform(0.05, 1.5), at_start=at_start, session_ring_mib=1)
            if not slots or not self.trace() or sum(slot[1][READ] for slot in slots) < 100:
                continue
            with self.subTest(kill=kill):
                _, stage = self.report()
                self.check_totals(slots, stage)
                self.check_minutes(slots, stage)
                self.check_rows()
                done += not at_start
        self.assertGreater(done, 10, "most kills came before the first event")

    def test_killed_while_a_row_is_written(self):
        self.with_kill_points()
        killed = []
        for n in (1, 2, 30) if not SETTINGS.slow else range(1, 60):
            with self.subTest(n=n):
                self.kill_in_a_row(n)
                killed.append(self.has_killed_itself)
        self.assertIn(True, killed, "no row was written as far as where it kills itself")

    def with_kill_points(self):
        path = os.path.join(SETTINGS.hosts, "libproftrace_kill.so")
        if not os.path.exists(path):
            self.skipTest("libproftrace_kill.so is not built")
        self.addCleanup(setattr, SETTINGS, "lib", SETTINGS.lib)
        SETTINGS.lib = path

    def kill_in_a_row(self, n):
        slots = self.month(2000, delay=30 if n == 1 else 1.5, session_ring_mib=1, test_kill=f"minutes:{n}")
        _, stage = self.report()
        self.check_totals(slots, stage)
        self.check_minutes(slots, stage)
        self.check_rows()

    def storm(self, threads, rounds="0", delay=None, mode="sampled", **options):
        """Of each thread of kill_storm, the numbers of its preads that are in the trace, in order; starts_ns has when each began."""
        page = os.path.join(self.scratch, "storm")
        environment = self.preload_environment(clean_environment(), mode, **options)
        self.fresh_work()
        with subprocess.Popen([self.host("kill_storm"), page, str(threads), "none", rounds], cwd=self.work, env=environment,
                              stdin=subprocess.DEVNULL) as child:
            if delay is not None:
                time.sleep(delay)
                child.kill()
        with open(page, "rb") as f:
            words = struct.unpack(f"<{threads * 8}Q", f.read(threads * 64))
        numbers = collections.defaultdict(list)
        self.starts_ns = {}
        for event in self.trace().events('"event":"io_pread"'):
            self.starts_ns[event["offset_bytes"]] = event["start_ns"]
            numbers[event["offset_bytes"] >> 40].append(event["offset_bytes"] & (1 << 40) - 1)
        return [(numbers[thread], words[8 * thread + 7]) for thread in range(threads)]

    def assert_numbers(self, numbers, first, end):
        """One after the other. Without assertEqual, which takes minutes to say how long lists differ."""
        wrong = next(((number, wanted) for number, wanted in zip(numbers, range(first, end)) if number != wanted), None)
        self.assertEqual((wrong, len(numbers)), (None, end - first), "the number that is there, and the one that should be")

    def test_keep_first(self):
        """The first events are there, and the last ones, and what lies between was overwritten."""
        for there, returned in self.storm(4, "300000", mode="full", ring_mib=2, keep_first_mib=1):
            self.assert_numbers(there[:3000], 0, 3000)
            self.assert_numbers(there[-300:], returned - 300, returned)
            self.assertLess(len(there), returned)
        self.assertGreater(self.trace().report()["trace_quality"]["overwritten"], 0)
        self.assertEqual(self.trace().report()["trace_quality"]["dropped"], 0)

    def test_keep_nearly_all_of_the_first(self):
        """Also where the session, not the ring, is what a process has: the last segment of the start leaves room for the latest events."""
        for there, returned in self.storm(4, "500000", mode="full", session_ring_mib=5, keep_first_mib=3):
            self.assert_numbers(there[:3000], 0, 3000)
            self.assert_numbers(there[-300:], returned - 300, returned)
            self.assertLess(len(there), returned)
        self.assertGreater(self.trace().report()["trace_quality"]["overwritten"], 0)
        self.assertEqual(self.trace().report()["trace_quality"]["dropped"], 0)

    def test_keep_nothing_but_the_first(self):
        """All of the ring is for the start: what comes later is dropped and counted, totals are exact."""
        for there, returned in self.storm(4, "300000", mode="full", ring_mib=1, keep_first_mib=1):
            self.assert_numbers(there[:3000], 0, 3000)
            self.assertLess(len(there), returned)
        self.assertGreater(self.trace().report()["trace_quality"]["dropped"], 0)
        self.assertEqual(self.trace().calls("io_pread"), 4 * 150000)

    def test_keep_last_by_time(self):
        """What is older than that is overwritten before the ring grows; what is younger is there."""
        for seconds in 3, 10, 30:  # beside others, three seconds of calls may not fill what is there before anything must go
            (there, returned), _ = self.storm(2, delay=seconds, keep_last_s=1)
            overwritten = self.trace().report()["trace_quality"]["overwritten"]
            if overwritten:
                break
        self.assertGreater(overwritten, 0)
        self.assertLess(len(there), returned)
        self.assertGreaterEqual(there[-1] + 1, returned)
        # How many calls that are depends on what else runs: those without a gap up to the end began 0.9 s before it.
        oldest = there[-1]
        while oldest - 1 in self.starts_ns:
            oldest -= 1
        self.assertLess(self.starts_ns[oldest], max(self.starts_ns.values()) - 0.9e9)

    @slow
    def test_rings_of_the_dead_are_given_back(self):
        """Under the launcher a generation that comes late has as much as the first: the latest events are kept, totals of all."""
        page = os.path.join(self.scratch, "storm")
        command = f"{self.host('kill_storm')} {page} 1 none 1500000; sleep 12"
        script = "; ".join([command] * 3)
        environment = self.preload_environment(clean_environment(), "sampled", session_ring_mib=2)
        del environment["LD_PRELOAD"]
        self.fresh_work()
        subprocess.run([SETTINGS.proftrace, "run", "--no-report", "--", "/bin/sh", "-c", script], cwd=self.work, env=environment,
                       check=True, stderr=subprocess.DEVNULL)
        trace = self.trace()
        storms = sorted((process for process in trace.info()["processes"] if "kill_storm" in process["exe"]),
                        key=lambda process: process["start_s"])
        recorded = [process["events"]["recorded"] for process in storms]
        self.assertEqual(len(storms), 3)
        self.assertLess(recorded[0], recorded[2] // 4, "the oldest events are still there")
        self.assertGreater(recorded[2], 100000)
        self.assertEqual(trace.calls("io_pread"), 3 * 750000)
        self.assertEqual(trace.report()["trace_quality"]["corrupt"], 0)
        disk = sum(os.stat(os.path.join(trace.run, file)).st_blocks * 512 for file in trace.files())
        self.assertLess(disk, 4 * MIB)

    def test_rings_share_what_a_session_has(self):
        """Processes together have no more than the session's limit, and one that comes when others have theirs finds room."""
        page = os.path.join(self.scratch, "storm")
        self.preload_environment(clean_environment(), "sampled")
        command = f"{self.host('kill_storm')} {page} 1 none"
        script = f"{command} 1500000; {command} 1500000; {command} 1500000"
        environment = self.preload_environment(clean_environment(), "sampled", session_ring_mib=4)
        self.fresh_work()
        subprocess.run(["/bin/sh", "-c", script], cwd=self.work, env=environment, check=True)
        trace = self.trace()
        self.assertLess(sum(os.path.getsize(os.path.join(trace.run, file)) for file in trace.files()), 6 * MIB)
        storms = [process for process in trace.info()["processes"] if "kill_storm" in process["exe"]]
        self.assertEqual(len(storms), 3)
        for process in storms:
            self.assertGreater(process["events"]["recorded"], 10000, "it found no room")
        self.assertEqual(trace.calls("io_pread"), 3 * 750000)
