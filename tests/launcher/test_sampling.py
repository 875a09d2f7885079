# SPDX-License-Identifier: MIT
"""What run.json says about the tree of processes is what the kernel says."""
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import unittest

from launcher_case import LauncherCase, comm_of, descendants_of

BURN = "import time\nt=time.process_time()\nwhile time.process_time()-t<{seconds}: pass\n"
LEFT = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
char *volatile kept;
static void *go_on(void *unused)
{
    kept = malloc(100 << 20);
    memset(kept, 1, 100 << 20);
    usleep(1000000);
    exit(7);
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, go_on, NULL);
    pthread_exit(NULL);
}
"""


class Sampling(LauncherCase):
    def burn(self, seconds):
        return [sys.executable, "-S", "-c", BURN.format(seconds=seconds)]

    def test_cpu_time_is_that_of_wait4(self):
        """Within 2 % of what the kernel told the launcher's wait4, read here from the launcher that has just ended."""
        seen_s, code = self.end_of(self.start_it(*self.burn(1.5), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        self.assertEqual(code, 0)
        record = self.record()
        self.assertGreater(seen_s, 1.4)
        self.assertAlmostEqual(record["cpu_s"], seen_s, delta=0.02 * seen_s)
        self.assertAlmostEqual(record["cpu_percent_avg"], 100 * record["cpu_s"] / (record["duration_ns"] / 1e9), delta=0.1)

    def test_samples_of_processes_that_come_and_go(self):
        script = "for i in 1 2 3 4 5 6; do {0} -S -c '{1}'; done".format(sys.executable, BURN.format(seconds=0.25))
        self.run_it("sh", "-c", script, options=("--interval", "100"))
        record = self.record()
        previous, area = 0, 0.0
        for sample in record["samples"]:
            area += sample["cpu_percent"] / 100 * (sample["t_ns"] - previous) / 1e9
            previous = sample["t_ns"]
            self.assertLess(sample["cpu_percent"], 100 * (os.cpu_count() or 1) + 60)
        self.assertGreater(record["cpu_s"], 1.5)
        self.assertAlmostEqual(area, record["cpu_s"], delta=0.15)

    def test_orphans_are_found(self):
        burn = f"{sys.executable} -S -c '{BURN.format(seconds=0.6)}'"
        script = f"(({burn}; touch burnt) &) ; until [ -e burnt ]; do sleep 0.1; done"
        self.run_it("sh", "-c", script, options=("--interval", "100"))
        self.assertGreater(self.record()["cpu_s"], 0.55)

    def test_memory(self):
        self.run_it(sys.executable, "-S", "-c", "import time\nx=b'x'*(200<<20)\ntime.sleep(0.5)", options=("--interval", "100"))
        record = self.record()
        self.assertGreater(record["rss_max_bytes"], 200 << 20)
        self.assertLess(record["rss_max_bytes"], 260 << 20)
        shares = [s["pss_bytes"] for s in record["samples"] if s["pss_bytes"] is not None]
        self.assertTrue(shares)
        known = [s["rss_bytes"] for s in record["samples"] if s["rss_bytes"] is not None]
        self.assertGreater(max(known), 200 << 20)

    def test_memory_of_a_small_child_of_a_large_parent(self):
        """The kernel keeps a peak across exec: the child of a large program would be said to be as large."""
        script = ("import subprocess,sys\nx=b'x'*(150<<20)\nsubprocess.Popen(['true'],preexec_fn=lambda:None).wait()\n"
                  "print(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1])")
        done = self.run_it("/usr/bin/python3", "-S", "-c", script)
        own_mib = int(done.stdout) / 1024
        report = json.loads(self.proftrace("report", "--format", "json").stdout)
        peaks = [(os.path.basename(p["exe"]), p["rss_mb_max"]) for p in report["processes"] if p["exe"]]
        self.assertAlmostEqual(max(peak for _, peak in peaks if peak), own_mib, delta=0.02 * own_mib)
        self.assertEqual([peak for name, peak in peaks if name == "true"], [None])

    def test_a_process_whose_main_thread_has_ended(self):
        """The kernel calls it a zombie and knows no memory of it; the samples go on with its other threads."""
        program = self.compile(LEFT, "-O1", "-pthread")
        self.assertEqual(self.run_it(program, options=("--interval", "100")).returncode, 7)
        record = self.record()
        # From the first that has all of it: how soon that is depends on the machine.
        large_ns = next((s["t_ns"] for s in record["samples"] if (s.get("rss_bytes") or 0) > 97 << 20), record["duration_ns"])
        later = [s for s in record["samples"] if large_ns <= s["t_ns"] < record["duration_ns"] - 200e6]
        while later and later[-1]["rss_bytes"] == 0:
            later.pop()  # it had ended, and on a busy machine nobody has waited for it yet
        self.assertTrue(later, record["samples"])
        for sample in later:
            self.assertEqual((sample["processes"], sample["threads"]), (1, 1))
            self.assertAlmostEqual(sample["rss_bytes"] / 2**20, 101, delta=4)

    def test_memory_is_not_counted_twice_between_vfork_and_exec(self):
        """subprocess starts children by vfork: for a moment they run in their parent's memory."""
        script = ("import subprocess,time\nx=b'x'*(150<<20)\nend=time.time()+1.5\n"
                  "while time.time()<end: subprocess.run(['true'])")
        self.run_it("/usr/bin/python3", "-S", "-c", script, options=("--interval", "10"))
        self.assertLess(self.record()["rss_max_bytes"], 200 << 20)

    def test_daemon_is_left_alone(self):
        done = self.run_it("sh", "-c", "setsid sleep 30 >/dev/null 2>&1 </dev/null & echo $!")
        pid = int(done.stdout)
        try:
            os.kill(pid, 0)
            self.assertLess(self.record()["duration_ns"], 10e9)
            self.assertTrue(any("still running" in note for note in self.record()["notes"]))
        finally:
            os.kill(pid, signal.SIGKILL)

    def test_interval(self):
        for options, environment in ((("--interval", "100"), {}), ((), {"PROFTRACE_INTERVAL_MS": "100"}),
                                     (("--interval", "100ms"), {"PROFTRACE_INTERVAL_MS": "9999"})):
            self.run_it("sleep", "2", options=options, environment=environment)
            record = self.record()
            at_s = [sample["t_ns"] / 1e9 for sample in record["samples"]]
            # As often as that and no more; on a busy machine a look is dearer, and there are fewer of them.
            self.assertLessEqual(len(at_s), record["duration_ns"] / 1e8 + 2)
            self.assertGreaterEqual(len(at_s), 3)
            self.assertGreaterEqual(statistics.median(b - a for a, b in zip(at_s, at_s[1:])), 0.09)

    def test_short_run_has_no_invented_numbers(self):
        for _ in range(10):
            self.run_it("true")
            record = self.record()
            if record["duration_ns"] < 90e6:  # else there is a sample at its end, as there should be
                self.assertEqual(record["samples"], [])
                self.assertIsNone(record["cpu_percent_max"])
                return
        self.skipTest("no run of `true` took less than 90 ms here")

    def test_killed_launcher_leaves_what_it_knew(self):
        process = self.start_it("sleep", "2", stderr=-1)
        self.wait_for(lambda: os.path.exists(os.path.join(self.folder, "proftrace.data/latest/run.json")))
        process.kill()
        process.wait()
        record = self.record()
        self.assertEqual(record["command"], ["sleep", "2"])
        self.assertIsNone(record["exit"])

    @staticmethod
    def cost_of_one_read(pids):
        """Percent of a core to read one small file of each of them every 500 ms, asleep in between as the launcher is."""
        began = time.thread_time(), time.monotonic()
        for _ in range(4):
            for pid in pids:
                with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
                    file.read(1024)
            time.sleep(0.5)
        return 100 * (time.thread_time() - began[0]) / (time.monotonic() - began[1])

    def cost_of_many_processes(self):
        """Percent of a core that the launcher takes while 200 processes sleep, and that reading one file of each takes us."""
        process = self.start_it("sh", "-c", "for i in $(seq 200); do sleep 1000 & done; wait", stderr=-1)
        asleep = self.wait_for(lambda: self.sleepers(process.pid), 60)
        time.sleep(1)  # the library's beginnings are over, and one sample at least has met them all
        begin, cpu = time.monotonic(), self.cpu_seconds(process.pid)
        time.sleep(4.2)
        share = 100 * (self.cpu_seconds(process.pid) - cpu) / (time.monotonic() - begin)
        one_read = self.cost_of_one_read(asleep)
        for pid in asleep:
            os.kill(pid, signal.SIGKILL)
        process.wait(60)
        self.assertGreaterEqual(max(s["processes"] for s in self.record()["samples"]), 200)
        print(f"launcher with 200 processes at 500 ms: {share:.2f} % of a core; to read one file of each: {one_read:.2f} %", file=sys.stderr)
        return share, one_read

    def test_cost_with_many_processes(self):
        """At most half a percent, as promised, or on a slower machine as much as it takes to read two files of each process."""
        costs = []
        for _ in range(3):
            share, one_read = self.cost_of_many_processes()
            if share <= max(0.5, 2 * one_read):
                return
            costs.append((share, one_read))
        self.fail(f"the launcher takes more than half a percent, and more than two reads: {costs}")

    @staticmethod
    def sleepers(launcher):
        """The pids of all 200, or None."""
        found = [pid for pid in descendants_of(launcher) if comm_of(pid) == "sleep"]
        return found if len(found) == 200 else None

    @staticmethod
    def cpu_seconds(pid):
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9


if __name__ == "__main__":
    unittest.main()
