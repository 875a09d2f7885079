#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Layouts, call ids, declarations and symbols of the doubles are those of the toolkit that is installed here."""
import os
import re
import subprocess
import unittest

from harness import DOUBLES, HERE, main

TOOLKIT = os.environ.get("CUDA_HOME", "/usr/local/cuda")
INCLUDE = os.path.join(TOOLKIT, "include")
ENGINE = os.path.join(HERE, "engine")


def table(path, macros):
    """Rows (macro, arguments) of a .def file as the compiler sees it for CUDA 13."""
    text = subprocess.run(["gcc", "-E", "-P", "-DFAKECUDART_MAJOR=13", "-xc", path], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return re.findall(r'\b(%s)\((\w+), (\d+), "(\w*)"\)' % macros, text)


def symbols(path):
    text = subprocess.run(["nm", "-D", "--defined-only", path], text=True, check=True, stdout=subprocess.PIPE).stdout
    return {line.split()[-1].replace("@@", "@") for line in text.splitlines() if " T " in line}


@unittest.skipUnless(os.path.exists(os.path.join(INCLUDE, "cupti.h")), "no CUDA toolkit here: set CUDA_HOME")
class LayoutTest(unittest.TestCase):
    maxDiff = 4000

    def test_layouts(self):
        """Compiling layouts_check.c against cupti.h is the comparison."""
        run = subprocess.run(["gcc", "-std=c11", "-fsyntax-only", "-I", INCLUDE, "-I", ENGINE, "-I", os.path.join(HERE, "abi"),
                              os.path.join(HERE, "layouts_check.c")], text=True, stderr=subprocess.PIPE)
        self.assertEqual(run.stderr, "")

    def check_ids(self, path, macros, header, prefix):
        with open(os.path.join(INCLUDE, header), encoding="utf-8") as file:
            ids = dict(re.findall(r"%s(\w+)\s*=\s*(\d+)" % prefix, file.read()))
        rows = table(path, macros)
        self.assertGreater(len(rows), 20)
        for _, name, cbid, suffix in rows:
            self.assertEqual(ids.get(self.enumerator(name, suffix)), cbid, name)

    @staticmethod
    def enumerator(name, suffix):
        return name + suffix

    def test_runtime_ids(self):
        self.check_ids(os.path.join(HERE, "cudart", "runtime.def"), "API|TWIN", "cupti_runtime_cbid.h",
                       "CUPTI_RUNTIME_TRACE_CBID_")

    def test_driver_ids(self):
        self.check_ids(os.path.join(HERE, "driver", "driver.def"), "API|TWIN", "cupti_driver_cbid.h",
                       "CUPTI_DRIVER_TRACE_CBID_")

    def test_symbols(self):
        """Every symbol of a double exists in the real library under the same version."""
        for soname in ("libcudart.so.13", "libcupti.so.13"):
            real = os.path.join(TOOLKIT, "lib", soname)
            if not os.path.exists(real):
                real = os.path.join(TOOLKIT, "lib64", soname)
            if not os.path.exists(real):
                self.skipTest(f"no {soname} in {TOOLKIT}")
            extra = symbols(os.path.join(DOUBLES, "lib", soname)) - symbols(real)
            # an older runtime's name for a function that 13 has under its plain name
            self.assertEqual({s for s in extra if not s.startswith("cudaGetDeviceProperties_v2@")}, set())


if __name__ == "__main__":
    main()
