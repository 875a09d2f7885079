#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time is the kernel's: that of each process, of each thread, of the table of functions and of the account, held beside what wait4
told who started them, for 500 short processes as for long ones; and no report says more than is possible."""
import json
import os
import sys

import cpu_case

sys.path.insert(0, os.path.dirname(cpu_case.HERE))
from possible import impossible  # noqa: E402

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
# Starts each of its arguments (one command each, in JSON) in turn and tells {pid: seconds by wait4}, then its own seconds.
DRIVER = """
import json, os, resource, sys
took = {}
for command in sys.argv[1:]:
    count, *words = json.loads(command)
    for _ in range(count):
        pid = os.posix_spawn(words[0], words, os.environ)
        usage = os.wait4(pid, 0)[2]
        took[pid] = usage.ru_utime + usage.ru_stime
own = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"children": took, "own": own.ru_utime + own.ru_stime}))
"""


def allowed_s(seconds):
    return max(0.02 * seconds, 0.005)


class KernelCounts(cpu_case.CpuCase):
    def record(self, *commands):
        """What the report has, and {pid: seconds}, the driver's own among them."""
        run, profile, output = self.run_it(PYTHON, "-c", DRIVER, *map(json.dumps, commands), options=())
        *lines, last = output.splitlines()
        told = json.loads(last)
        self.own_clocks = cpu_case.own_clocks("\n".join(lines))
        children = {int(pid): seconds for pid, seconds in told["children"].items()}
        report = json.loads(self.ask("report", "--format", "json", run))
        threads = json.loads(self.ask("stats", "--by", "thread", "--json", "--top", "100000", run))["stages"][0]["cpu_threads"]
        self.assertEqual(impossible(report), [])
        return report, threads, children, told["own"], profile

    def agree(self, shown, true, what):
        self.assertAlmostEqual(shown, true, delta=allowed_s(true), msg=f"{what}: {shown} s, by wait4 {true} s")

    def but_outliers(self, children, *shown):
        """[(pid, seconds)], without one in a hundred.

        A kernel that must find memory in a hurry lets whoever asks for a page do it, in the execve before the library is loaded
        and in the exit behind its last record too: a process of 20 ms has been charged 115 ms. A machine whose host takes its CPUs
        away charges a process for a time in which it did not run."""
        far = {pid: (seconds, *(table.get(pid) for table in shown)) for pid, seconds in children.items()
               if any(abs(table.get(pid, 0) - seconds) > allowed_s(seconds) for table in shown)}
        self.assertLessEqual(len(far), len(children) // 100, far)
        return [(pid, seconds) for pid, seconds in children.items() if pid not in far]

    def check(self, report, threads, children, own_s):
        stage = report["stages"][0]
        of_processes, of_threads = {}, {}
        for row in report["processes"]:
            of_processes[row["pid"]] = of_processes.get(row["pid"], 0) + row["cpu_s"]
        for row in threads:
            of_threads[row["pid"]] = of_threads.get(row["pid"], 0) + row["on_cpu_s"]
        for pid, seconds in self.but_outliers(children, of_processes, of_threads):
            self.agree(of_processes[pid], seconds, f"process {pid}")
            self.agree(of_threads[pid], seconds, f"threads of {pid}")
        all_s = own_s + sum(children.values())
        first = stage["cpu_functions"][0]
        # What the driver used after it told its own: the end of an interpreter.
        self.assertAlmostEqual(stage["cpu_s"], all_s, delta=allowed_s(all_s) + 0.02)
        self.agree(100 * first["self_s"] / first["self_percent"], stage["cpu_s"], "all functions")
        self.assertLessEqual(sum(row["self_s"] for row in stage["cpu_functions"]), stage["cpu_s"] + allowed_s(stage["cpu_s"]))
        # The stage's account may be of several processes that it waited for, one after the other.
        for account in [stage["time"], *(row for row in stage["threads"] if row["tid"] is not None)]:
            true = of_processes[account["pid"]] if "pid" in account else all_s
            self.assertLessEqual((account["computing_s"] or 0) + account["heap_s"], true + allowed_s(true), f"{account}")

    def test_500_short_processes(self):
        commands = [400, self.burn, "split", "0.001"], [100, PYTHON, "-c", "import json"]
        report, threads, children, own_s, _ = self.record(*commands)
        self.assertEqual(len(children), 500)
        self.check(report, threads, children, own_s)

    def test_long_ones(self):
        report, threads, children, own_s, _ = self.record([1, self.burn, "threads", "3", "1.5"], [1, PYTHON, "-c", "sum(range(30000000))"])
        self.check(report, threads, children, own_s)
        shown = {row["tid"]: row["on_cpu_s"] for row in threads}
        for tid, seconds in self.own_clocks.items():
            self.agree(shown[tid], seconds, f"thread {tid}")
        rows = {row["pid"]: row for row in report["stages"][0]["threads"] if row["tid"] == row["pid"]}
        python = list(children)[1]
        row = rows[python]
        # What is known of calls is how long they took: with waits for the disk, and for a hypervisor.
        computed, cpu = row["computing_s"] + row["heap_s"], children[python]
        in_calls = row["file_read_s"] + row["file_meta_s"]
        self.assertLessEqual(computed, cpu + allowed_s(cpu), row)
        self.assertGreaterEqual(computed + in_calls, cpu - allowed_s(cpu), row)
        self.assertLessEqual(computed + in_calls, cpu + allowed_s(cpu) + self.stolen_s + 0.1, row)


if __name__ == "__main__":
    cpu_case.main()
