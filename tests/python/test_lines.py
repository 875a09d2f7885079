#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The line of every instruction of some hundred functions, by python_walk.h and by the interpreter, on every CPython."""
import json
import pathlib
import subprocess
import unittest

import pythons

HERE = pathlib.Path(__file__).resolve().parent


class Lines(unittest.TestCase):
    def test_every_instruction(self):
        for python in pythons.found():
            with self.subTest(str(python)):
                done = subprocess.run([python.path, HERE / "emit_lines.py"], capture_output=True, text=True, check=True)
                made = json.loads(done.stdout)
                self.assertGreater(len(made), 100)
                text = "".join(line + "\n" for line, _ in made)
                got = subprocess.run([pythons.BUILD / "tests/python/lines"], input=text, capture_output=True, text=True, check=True)
                for (line, expected), answer in zip(made, got.stdout.splitlines(), strict=True):
                    self.assertEqual(list(map(int, answer.split())), expected, line[:300])


if __name__ == "__main__":
    unittest.main()
