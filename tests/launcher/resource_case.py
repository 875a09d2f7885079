# SPDX-License-Identifier: MIT
"""What tests of run.json's resources share: a folder on a disk, and a program that says at its end what the kernel counted for it."""
import json
import os
import shutil
import sys
import tempfile

from launcher_case import LauncherCase, machine  # noqa: F401

GPU = ("gpu_util_percent", "gpu_mem_bytes", "gpu_power_w", "gpu_energy_j", "gpu_temperature_c", "gpu_throttled_percent",
       "gpu_power_cap_percent", "gpu_hw_slowdown_percent", "gpu_sw_thermal_percent", "gpu_hw_thermal_percent", "gpu_power_brake_percent")
PYTHON = (sys.executable, "-S", "-c")
# Says at its end what the kernel has counted for it: its own and that of children it has waited for.
SAY = """
import json, os, resource
def say(**more):
    io = dict(line.split(": ") for line in open("/proc/self/io").read().splitlines())
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    hwm = [l.split()[1] for l in open("/proc/self/status") if l.startswith("VmHWM")][0]
    print(json.dumps(dict(more, read=int(io["read_bytes"]), write=int(io["write_bytes"]),
        voluntary=own.ru_nvcsw + children.ru_nvcsw, involuntary=own.ru_nivcsw + children.ru_nivcsw,
        cpu=own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, hwm=int(hwm) * 1024)), flush=True)
"""


class ResourceCase(LauncherCase):
    def setUp(self):
        super().setUp()
        # /tmp may be memory: bytes go to storage only from a folder on a disk.
        self.disk = os.path.realpath(tempfile.mkdtemp(prefix="resources-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.disk, ignore_errors=True)

    def last(self, resource):
        return self.record()["resources"][resource]["last"]

    def reason(self, resource):
        one = self.record()["resources"][resource]
        self.assertIsNone(one["last"], resource)
        return one.get("reason") or ""

    def told(self, code, **more):
        """Run Python code that calls say(); what it said and what the record says."""
        done = self.run_it(*PYTHON, SAY + code, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), self.record()
