#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Page faults and CPU quota, held against what the program and the kernel say."""
import json
import os
import sys
import unittest

from launcher_case import LauncherCase, machine

FAULTS = """
import mmap, os, resource
def touch(pages):
    memory = mmap.mmap(-1, pages * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(memory), 4096):
        memory[at] = 1
touch(20000)
if not os.fork():
    touch(30000)
    os._exit(0)
os.wait()
print(sum(resource.getrusage(who).ru_minflt for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)), flush=True)
"""
QUOTA = "/sys/fs/cgroup/cpu"


class FaultsAndQuota(LauncherCase):
    def last(self, resource):
        return self.record()["resources"][resource]["last"]

    def test_faults_are_those_of_getrusage(self):
        """Its own and those of the child that it waited for; what comes after its last look is a few pages."""
        said = int(self.run_it(sys.executable, "-c", FAULTS).stdout.split()[0])
        self.assertGreater(said, 50000)
        self.assertGreaterEqual(self.last("minor_faults"), said)
        self.assertLess(self.last("minor_faults"), said + 5000)

    def test_many_commands_are_no_page_fault_storm(self):
        """Each process touches its trace file for the first time: the tracer's fault, not the program's."""
        self.run_it(sys.executable, "-c", "import subprocess\nfor i in range(400): subprocess.run(['/bin/true'])")
        report = json.loads(self.proftrace("report", "--format", "json").stdout)
        self.assertNotIn("page_fault_storm", [finding["rule"] for finding in report["findings"]])

    def test_no_quota_no_throttling(self):
        if machine.quota_cpus() is not None:
            self.skipTest("our own control group has a quota")
        self.run_it(sys.executable, "-c", "sum(range(3000000))")
        resource = self.record()["resources"]["cpu_throttled_s"]
        self.assertIn(resource.get("last"), (0, None))
        if resource.get("last") is None:
            self.assertTrue(resource["reason"])

    def test_a_quota_is_seen(self):
        """A tenth of a CPU for half a second of work: the kernel's own count, as the group's file has it at the end."""
        group = f"{QUOTA}/launcher-{os.getpid()}"
        try:
            os.mkdir(group)
        except OSError as error:
            self.skipTest(f"no control group of our own: {error}")
        self.addCleanup(os.rmdir, group)
        for name, value in (("cpu.cfs_period_us", 100000), ("cpu.cfs_quota_us", 10000)):
            with open(f"{group}/{name}", "w", encoding="ascii") as file:
                file.write(str(value))

        def join():
            with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
        self.run_it(sys.executable, "-c", "sum(range(30000000))", preexec_fn=join)
        with open(f"{group}/cpu.stat", encoding="ascii") as file:
            said = dict(line.split() for line in file)
        self.assertGreater(self.last("cpu_throttled_s"), 0.2)
        self.assertLessEqual(self.last("cpu_throttled_s"), int(said["throttled_time"]) / 1e9 + 0.001)  # written in ms


if __name__ == "__main__":
    unittest.main()
