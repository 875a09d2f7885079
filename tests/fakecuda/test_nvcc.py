#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program that nvcc built, unmodified, runs on the doubles as on a GPU."""
import os
import shutil
import subprocess
import unittest

from harness import DOUBLES, HERE, DoubleTest, main


def nvcc():
    return shutil.which("nvcc") or next((p for p in ["/usr/local/cuda/bin/nvcc"] if os.path.exists(p)), None)


@unittest.skipUnless(nvcc(), "no nvcc here")
class NvccTest(DoubleTest):
    def build(self, *flags):
        path = os.path.join(self.folder, "app" + "".join(flags))
        run = subprocess.run([nvcc(), *flags, os.path.join(HERE, "programs", "app.cu"), "-o", path], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode:
            self.skipTest("nvcc cannot build here: " + run.stdout.strip().splitlines()[-1])
        return path

    def soname(self, path):
        text = subprocess.run(["readelf", "-d", path], text=True, check=True, stdout=subprocess.PIPE).stdout
        return next((line.split("[")[1].rstrip("]") for line in text.splitlines() if "libcudart" in line), None)

    def check(self, *flags):
        path = self.build("-cudart", "shared", *flags)
        if not os.path.exists(os.path.join(DOUBLES, "lib", self.soname(path))):
            self.skipTest("no double of " + self.soname(path))
        outcome = self.assert_ran(self.run_program([path]))
        self.assertEqual(outcome.out, "cudaSuccess 7\n")
        kernels = outcome.recorded("kernel")
        self.assertEqual([k["name"] for k in kernels], ["_Z5saxpyifPf", "_Z6reducePf"] * 2 + ["_Z5saxpyifPf"])
        true = {t["correlation"]: t for t in outcome.true("kernel")}
        self.assert_times_true([(k, true[k["correlationId"]]) for k in kernels])
        return outcome

    def test_shared_runtime(self):
        outcome = self.check()
        self.assertEqual({k["streamId"] for k in outcome.recorded("kernel")}, {13, 7})

    def test_per_thread_default_stream(self):
        """-default-stream per-thread binds the _ptsz twins."""
        outcome = self.check("-default-stream", "per-thread")
        self.assertNotIn(7, {k["streamId"] for k in outcome.recorded("kernel")})
        names = {t["name"] for t in outcome.true("api")}
        self.assertTrue(any(n.endswith("_ptsz") for n in names), names)

    def test_static_runtime_is_out_of_reach(self):
        """With the runtime linked in, nothing of it can be doubled: it finds no driver and says so."""
        outcome = self.run_program([self.build("-cudart", "static")])
        self.assertEqual(outcome.truth, [])
        self.assertIn("cudaErrorInsufficientDriver", outcome.out)


if __name__ == "__main__":
    main()
