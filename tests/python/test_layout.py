#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An interpreter that keeps its frames elsewhere than its version does: no stacks, a note, and the program never notices.

There is no such interpreter at hand, so the library's table is wrong instead: one offset after the other, in a copy.
"""
import pathlib
import re
import shutil
import struct
import tempfile
import unittest

import pythons

ROOT = pathlib.Path(__file__).resolve().parents[2]
NONE = 0xffff
# What no walk of this version needs, or what is found wrong by its type before it is read.
UNUSED = {"frame_owner"}
PROGRAM = "import time; time.sleep(0.003); print('fine')"


def members():
    """Names of struct pt_python_layout, in order."""
    text = (ROOT / "include/proftrace/python.h").read_text(encoding="utf-8")
    return re.findall(r"pt_u16 (\w+);", text.split("struct pt_python_layout {")[1].split("};")[0])


def tables():
    """{minor: {member: offset}} of python_layouts.def."""
    text = (ROOT / "include/proftrace/python_layouts.def").read_text(encoding="utf-8")
    rows = re.findall(r"LAYOUT\((\d+), (.*?)\)", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), flags=re.DOTALL)
    same = {"object_type": 8, "bytes_size": 16, "bytes_data": 32, "text_length": 16, "text_state": 32}
    return {int(minor): same | {m: NONE if v == "NONE" else int(v) for m, v in re.findall(r"\.(\w+) = (\w+)", row)} for minor, row in rows}


class Layout(unittest.TestCase):
    def run_with(self, python, library):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="python-layout-"))
        try:
            done = pythons.run([python.path, "-c", PROGRAM], folder, True, environment={"LD_PRELOAD": str(library)})
            self.assertEqual((done.status, done.out, done.err), (0, "fine\n", ""))
            [process] = pythons.processes(folder)
            return process, pythons.places(pythons.dump(folder))
        finally:
            shutil.rmtree(folder)

    def test_each_wrong_offset_is_noticed(self):
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="python-layout-"))
        self.addCleanup(shutil.rmtree, scratch)
        names, all_tables, whole = members(), tables(), pythons.LIBRARY.read_bytes()
        for python in pythons.found():
            table = all_tables.get(python.version[1])
            if not table:
                continue  # it says its offsets itself
            offsets = [table[name] for name in names]
            row = struct.pack(f"<I{len(names)}H", python.version[1], *offsets)
            self.assertEqual(whole.count(row), 1, str(python))
            for i, name in enumerate(names):
                if offsets[i] == NONE or name in UNUSED:
                    continue
                for wrong in offsets[i] + 8, 4000:
                    with self.subTest(python=str(python), member=name, offset=wrong):
                        changed = struct.pack(f"<I{len(names)}H", python.version[1], *offsets[:i], wrong, *offsets[i + 1:])
                        library = scratch / "libproftrace.so"
                        library.write_bytes(whole.replace(row, changed))
                        process, places = self.run_with(python, library)
                        self.assertEqual((process.state, places), ("no stacks", []))
                        self.assertTrue(process.note)


if __name__ == "__main__":
    unittest.main()
