#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What was not to be recorded is not known: null and a reason, never 0; the other parts stay what they are."""
import json
import os
import subprocess
import sys
import unittest

from account_case import BUILD, AccountCase

PROGRAM = """
import os, socket, threading, time
time.sleep(0.3)
lock = threading.Lock()
lock.acquire()
threading.Timer(0.2, lock.release).start()
lock.acquire()
if not os.fork():
    time.sleep(0.2); os._exit(0)
os.wait()
open('/proc/self/stat').read()
"""
NEEDS = {"PROFTRACE_LOCKS": {"lock_s", "gil_wait_s", "workers_s"},
         "PROFTRACE_WAITS": {"sleep_s", "child_wait_s", "data_wait_s", "idle_s", "workers_s"},
         "PROFTRACE_NET": {"network_s", "data_wait_s", "idle_s"},
         "PROFTRACE_IO": {"file_read_s", "file_write_s", "file_meta_s", "network_s", "data_wait_s", "child_wait_s", "workers_s"},
         "PROFTRACE_STDIO": {"file_read_s", "file_write_s", "file_meta_s"},
         "PROFTRACE_HEAP": {"heap_s"}}
LAUNCHER = {"python_s", "native_s", "runnable_s"}
GPU = {"gpu_wait_s", "copy_s"}


class Layers(AccountCase):
    def unknown(self, time):
        nulls = {key for key in time if key.endswith("_s") and time[key] is None}
        for key in nulls:
            self.assertTrue(time.get(key + "_reason"), f"{key} is null without a reason")
        return nulls

    def test_all_are_known_by_default(self):
        _, _, stage = self.run_traced("/usr/bin/python3", "-S", "-c", PROGRAM)
        self.assertLessEqual(self.unknown(stage["time"]) - LAUNCHER, GPU)

    def test_each_layer(self):
        for option, parts in NEEDS.items():
            with self.subTest(option=option):
                _, _, stage = self.run_traced("/usr/bin/python3", "-S", "-c", PROGRAM, **{option: "off"})
                self.assertEqual(self.unknown(stage["time"]) - LAUNCHER - GPU, parts)
                self.assertIn(option, stage["time"][sorted(parts)[0] + "_reason"])
                self.assertGreater(stage["time"]["unattributed_s"], 0.15 if option in ("PROFTRACE_LOCKS", "PROFTRACE_WAITS") else -1)

    def test_without_the_launcher(self):
        """Several threads, so that the process's CPU time is not that of the main thread."""
        runs = os.path.join(self.folder, "runs")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFTRACE_")}
        environment.update(PROFTRACE_DIR=runs, LD_PRELOAD=os.path.join(BUILD, "libproftrace.so"))
        subprocess.run(["/usr/bin/python3", "-S", "-c", PROGRAM], env=environment, check=True, timeout=60)
        del environment["LD_PRELOAD"]
        done = subprocess.run([os.path.join(BUILD, "proftrace"), "report", "--format", "json", os.path.join(runs, "latest")],
                              env=environment, capture_output=True, check=True, timeout=60)
        time = json.loads(done.stdout)["stages"][0]["time"]
        self.assertEqual(self.unknown(time) - GPU, LAUNCHER - {"runnable_s"} | {"page_fault_s", "workers_s"})
        self.check_sum(time, time["wall_s"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
