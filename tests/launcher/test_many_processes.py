# SPDX-License-Identifier: MIT
"""The analyzer's memory does not grow with the number of processes as it would with their events: 10,000 trace files of their own in 256 MiB
and 10 s of CPU time. With PROFTRACE_TEST_ALL=1 ten times as many, which must work: 10 GB on the disk."""
import json
import os
import shutil
import subprocess
import unittest

from launcher_case import LIBRARY, LauncherCase, PROFTRACE, clean_environment

# More than a hundred events: fewer share a file with others.
WORKER = r"""
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 150; i++)
        close(open("/dev/null", O_RDONLY));
    return 0;
}
"""
STORM = r"""
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char **environ;
int main(int argc, char **argv)
{
    for (int i = argc == 3 ? atoi(argv[2]) : 0; i > 0; i--) {
        pid_t child;
        if (posix_spawn(&child, argv[1], NULL, NULL, argv + 1, environ))
            return 1;
        waitpid(child, NULL, 0);
    }
    return 0;
}
"""
FILE_BYTES = 128 << 10


class ManyProcesses(LauncherCase):
    def storm(self, processes):
        if shutil.disk_usage(self.folder).free < 2 * processes * FILE_BYTES:
            self.skipTest(f"no room for {processes:,} trace files in {self.folder}")
        worker, storm = (os.path.join(self.folder, name) for name in ("worker", "storm"))
        for program, text in ((worker, WORKER), (storm, STORM)):
            subprocess.run(["gcc", "-O1", "-x", "c", "-o", program, "-"], input=text.encode(), check=True)
        self.proftrace(worker, str(processes), program=storm, timeout=900, environment={
            "LD_PRELOAD": LIBRARY, "PROFTRACE_DIR": os.path.join(self.folder, "run"), "PROFTRACE_BUDGET_MIB": "40000"})
        names = os.listdir(os.path.join(self.folder, "run/latest"))
        self.assertGreaterEqual(sum(name.endswith(".ptr") for name in names), processes)

    def report(self, form):
        """What it says, its CPU time and its peak memory."""
        path = os.path.join(self.folder, "report")
        process = subprocess.Popen([PROFTRACE, "report", "--format", form, "-o", path, "run/latest"], cwd=self.folder, env=clean_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        with open(path, encoding="utf-8") as file:
            return file.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10

    def test_ten_thousand(self):
        self.storm(10_000)
        for form in "json", "text":
            said, cpu_s, memory_bytes = self.report(form)
            if cpu_s >= 10:  # 3 s alone: a machine whose caches others use took 11 once
                said, cpu_s, memory_bytes = self.report(form)
            print(f"report of 10,000 files ({form}): {cpu_s:.1f} s of CPU time, {memory_bytes >> 20} MiB", flush=True)
            self.assertLess(memory_bytes, 256 << 20)
            self.assertLess(cpu_s, 10)
            if form == "json":
                self.assertGreaterEqual(len(json.loads(said)["processes"]), 10_001)

    @unittest.skipUnless("PROFTRACE_TEST_ALL" in os.environ, "ten minutes: scripts/test-slow")
    def test_a_hundred_thousand(self):
        self.storm(100_000)
        said, cpu_s, memory_bytes = self.report("json")
        print(f"report of 100,000 files: {cpu_s:.1f} s of CPU time, {memory_bytes >> 20} MiB", flush=True)
        self.assertGreaterEqual(len(json.loads(said)["processes"]), 100_001)


if __name__ == "__main__":
    unittest.main()
