#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rank that a launcher gave a process is in its trace, whoever the launcher was."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from viewer_case import BUILD

LIBRARY, PROFTRACE = BUILD / "libproftrace.so", BUILD / "proftrace"
SLURM = {"SLURM_PROCID": "7", "SLURM_LOCALID": "3", "SLURM_STEP_NUM_TASKS": "8"}


class Ranks(unittest.TestCase):
    def rank_of(self, variables):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["/bin/true"], env={"LD_PRELOAD": str(LIBRARY), "PROFTRACE_DIR": folder, **variables}, check=True)
            path = Path(folder) / "latest"
            ran = subprocess.run([PROFTRACE, "dump", path], capture_output=True, text=True, check=True)
            info = subprocess.run([PROFTRACE, "info", "--json", path], capture_output=True, text=True, check=True)
        line = next(line for line in ran.stdout.splitlines() if line.startswith("process "))
        words = dict(word.split("=", 1) for word in line.split(" argv=")[0].split(" ") if "=" in word)
        self.assertEqual(json.loads(info.stdout)["processes"][0]["rank"], int(words["rank"]) if "rank" in words else None)
        return [int(words[key]) if key in words else None for key in ("rank", "local_rank", "world_size")]

    def test_launchers(self):
        for variables, wanted in (
                ({}, [None, None, None]),
                ({"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}, [0, 0, 1]),
                ({"OMPI_COMM_WORLD_RANK": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "6"}, [4, 0, 6]),
                ({"PMI_RANK": "2", "PMI_SIZE": "3"}, [2, None, 3]),
                (SLURM, [7, 3, 8]),
                ({**SLURM, "RANK": "1", "WORLD_SIZE": "2"}, [1, None, 2]),
                ({**SLURM, "RANK": "first", "WORLD_SIZE": "2"}, [7, 3, 8]),
                ({"LOCAL_RANK": "1", "WORLD_SIZE": "2"}, [None, None, None]),
                *(({"RANK": text}, [None, None, None]) for text in ("", "-1", "1 ", "9" * 40))):
            with self.subTest(variables=variables):
                self.assertEqual(self.rank_of(variables), wanted)


if __name__ == "__main__":
    unittest.main()
