#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A timeline that viewers hold only slowly, or not at all, sends its user to the format that holds any size."""
import subprocess
import tempfile
import unittest
from pathlib import Path

from viewer_case import BUILD

PROFTRACE = BUILD / "proftrace"
ADVICE = "--to perfetto holds any size; --from, --until, --pid, --stage and --min-dur make it smaller"
EVENTS, PATH = 55000, "/" + "d" * 1999


class Sizes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not PROFTRACE.exists():
            raise unittest.SkipTest(f"{PROFTRACE} is not built")
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.folder = Path(cls.place.name)
        text = cls.folder / "large.pt.txt"
        with open(text, "w", encoding="ascii") as file:
            file.write('proftrace-text 1\nprocess 7 start=0 end=60 state=exited exe="/a" comm="a"\nthread 7/7 slot=0 life=1 start=0\n')
            for number in range(EVENTS):
                file.write(f'{1 + number // 1000}.{number % 1000:03d}000000 +0.000100000 7/7 io_open fd=3 result=3 path="{PATH}"\n')
        (cls.folder / "run").mkdir()
        subprocess.run([PROFTRACE, "assemble", text, "-o", cls.folder / "run"], check=True, capture_output=True)

    def export(self, code, form, *options):
        ran = subprocess.run([PROFTRACE, "export", self.folder / "run", "--to", form, *options], capture_output=True, text=True,
                             check=False)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran.stderr

    def test_advice(self):
        self.assertIn(f"over 100 MB, viewers will be slow; {ADVICE}", self.export(0, "chrome"))
        self.assertIn(f"too large for a viewer ({ADVICE}; --force writes it all)", self.export(2, "chrome", "--max-size", "50M"))
        self.assertNotIn("viewers", self.export(0, "chrome", "--until", "10s"))
        self.assertNotIn("viewers", self.export(0, "perfetto"))
        self.assertEqual(sorted(path.name for path in (self.folder / "run").iterdir() if path.suffix not in (".ptr", ".bin")),
                         ["trace.json.gz", "trace.pftrace"])


if __name__ == "__main__":
    unittest.main()
