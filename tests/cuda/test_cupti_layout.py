#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Our table of CUPTI's records and numbers against NVIDIA's headers, where a toolkit is installed: every offset and size, in the
struct that is named and in all that replaced it, because records of a kind may only have grown at their end."""
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, f"{ROOT}/scripts/lib")
import deftable  # noqa: E402

INCLUDE = next((f for f in (os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "include"),) if os.path.exists(f"{f}/cupti.h")), None)
SIZES = {"pt_u8": 1, "pt_u16": 2, "pt_u32": 4, "pt_u64": 8, "pt_uuid": 16}
NUMBERS = {"CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER": 5, "CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM": 1, "CUPTI_API_EXIT": 1,
           "CUPTI_ACTIVITY_OBJECT_THREAD": 2, "CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE": 2, "CUPTI_ACTIVITY_FLAG_FLUSH_FORCED": 1,
           "CUPTI_ERROR_MAX_LIMIT_REACHED": 12, "CUPTI_ERROR_NOT_INITIALIZED": 15, "CUPTI_ERROR_UNKNOWN": 999,
           "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED": 39, "CUPTI_CB_DOMAIN_DRIVER_API": 1, "CUPTI_CB_DOMAIN_RUNTIME_API": 2,
           "CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC": 1, "CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC": 1,
           "CUPTI_SYNCHRONIZATION_INVALID_VALUE": 0xffffffff, "CUDA_ERROR_NOT_READY": 600,
           "CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT": 0}


def newer(structs, name):
    """The struct and all that replaced it: Kernel5 -> Kernel5, Kernel6 ... Kernel10."""
    stem, number = re.fullmatch(r"(\D+)(\d*)", name).groups()
    found = [(int(n or 1), f"{stem}{n}") for s, n in (re.fullmatch(r"(\D+)(\d*)", x).groups() for x in structs) if s == stem]
    return [struct for n, struct in sorted(found) if n >= int(number or 1)]


@unittest.skipUnless(INCLUDE, "no CUDA toolkit with CUPTI's headers")
class LayoutTest(unittest.TestCase):
    def check(self, assertions):
        text = "#include <stddef.h>\n#include <cuda.h>\n#include <cupti.h>\n#include <cupti_activity_deprecated.h>\n"
        text += "".join(f'_Static_assert({condition}, "{what}");\n' for condition, what in assertions)
        with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
            file.write(text)
            file.flush()
            done = subprocess.run(["gcc", "-std=gnu11", "-fsyntax-only", "-I", INCLUDE, file.name], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, "\n".join(re.findall(r'error: .*', done.stderr)) or done.stderr[:2000])

    def test_records(self):
        structs = set()
        for header in ("cupti_activity.h", "cupti_activity_deprecated.h"):
            with open(f"{INCLUDE}/{header}", encoding="utf-8", errors="replace") as file:
                structs |= set(re.findall(r"^\} *CUpti_Activity(\w+);", file.read(), re.M))
        assertions = []
        for row in deftable.rows(f"{ROOT}/preload/cuda/cupti/layout.def"):
            if row.name != "FIELD":
                continue
            record, field, kind, offset, _, struct, path = row.args
            family = newer(structs, struct)
            self.assertTrue(family, f"{struct} is in no header")
            for later in family:
                type_name = f"CUpti_Activity{later}"
                assertions.append((f"offsetof({type_name}, {path}) == {offset} && sizeof((({type_name} *)0)->{path}) == {SIZES[kind]}",
                                   f"{record}.{field} in {later}"))
        self.assertGreater(len(assertions), 200)
        self.check(assertions)

    def test_numbers(self):
        assertions = [(f"(unsigned){name} == {number}u", name) for name, number in NUMBERS.items()]
        for row in deftable.rows(f"{ROOT}/preload/cuda/cupti/kinds.def"):
            assertions.append((f"CUPTI_ACTIVITY_KIND_{row.args[0]} == {row.args[1]}", row.args[0]))
        self.check(assertions)

    def test_calls(self):
        """Every function of the table is one that NVIDIA's library knows by that name: a slip would be a silent hole."""
        library = os.path.join(os.path.dirname(INCLUDE), "lib64/libcupti.so")
        if not os.path.exists(library):
            self.skipTest("headers only")
        cupti, names = ctypes.CDLL(library), set()
        for domain in (1, 2):
            for cbid in range(1, 1024):
                name = ctypes.c_char_p()
                if cupti.cuptiGetCallbackName(domain, cbid, ctypes.byref(name)) == 0 and name.value:
                    names.add(re.sub(r"(_ptsz|_ptds|_v\d+)+$", "", name.value.decode()))
        rows = [row.args[0] for row in deftable.rows(f"{ROOT}/preload/cuda/cuda_calls.def") if row.name in ("CALL", "NOISE")]
        self.assertEqual([name for name in rows if name not in names and name != "cudaInitDevice"], [])
        self.assertEqual(len(rows), len(set(rows)))

    def test_kinds_of_events(self):
        """include/proftrace/cuda.h stores copy, memory, synchronisation and overhead kinds as CUPTI numbers them."""
        names = {"COPY": ("MEMCPY_KIND", "copy"), "MEMORY": ("MEMORY_KIND", "memory"), "SYNC": ("SYNCHRONIZATION_TYPE", "sync")}
        words = {"DEVICE_STATIC": "DEVICE_STATIC", "EVENT": "EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT": "STREAM_WAIT_EVENT",
                 "STREAM": "STREAM_SYNCHRONIZE", "CONTEXT": "CONTEXT_SYNCHRONIZE"}
        with open(f"{ROOT}/include/proftrace/cuda.h", encoding="utf-8") as file:
            text = file.read()
        assertions = []
        for ours, (theirs, enum) in names.items():
            body = re.search(r"enum pt_cuda_%s \{(.*?)\};" % enum, text, re.S).group(1)
            for word, value in re.findall(r"PT_CUDA_%s_(\w+) = (\d+)" % ours, body):
                word = words.get(word, word) if ours == "SYNC" else word
                assertions.append((f"CUPTI_ACTIVITY_{theirs}_{word} == {value}", f"{ours} {word}"))
        self.assertGreater(len(assertions), 15)
        self.check(assertions)


if __name__ == "__main__":
    if not INCLUDE:
        print("no CUDA toolkit with CUPTI's headers: nothing to compare with")
        sys.exit(77)
    unittest.main(verbosity=2)
