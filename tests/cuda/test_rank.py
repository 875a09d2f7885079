#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rank that a process gives itself: workers of torch.multiprocessing start without one and set RANK while they run."""
import re
import subprocess

from cupti_case import BUILD, CuptiCase, main

# The driver comes up first (torch.cuda.is_available()), then the worker learns who it is.
WORKER = """
import ctypes, os
ctypes.CDLL("libcudart.so.13", mode=ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)  # as linked with it: what stands before the runtime is called
cuda.cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
memory = ctypes.c_void_p()
cuda.cudaMalloc(ctypes.byref(memory), 4096)
for name, value, *overwrite in {variables}:
    if value is None:
        cuda.unsetenv(name.encode())
    else:
        cuda.setenv(name.encode(), value.encode(), *overwrite or [1])
cuda.cudaDeviceSynchronize()
cuda.cudaFree(memory)
"""


class RankTest(CuptiCase):
    def rank_of(self, *variables, program="", **environment):
        outcome = self.run_program(["/usr/bin/python3", "-c", WORKER.format(variables=variables)], program, **environment)
        self.assertEqual(outcome.code, 0, outcome.err)
        said = subprocess.run([f"{BUILD}/proftrace", "dump", f"{outcome.folder}/trace/latest"], capture_output=True, text=True, check=True).stdout
        return re.findall(r"(?:local_rank|rank|world_size)=\d+", re.search("^process .*", said, re.M).group())

    def test_set_by_the_process(self):
        own = (("WORLD_SIZE", "8"), ("LOCAL_RANK", "1"), ("RANK", "5"))
        self.assertEqual(self.rank_of(*own), ["rank=5", "local_rank=1", "world_size=8"])
        self.assertEqual(self.rank_of(*own, program="fault subscribe39"), ["rank=5", "local_rank=1", "world_size=8"])
        self.assertEqual(self.rank_of(), [])

    def test_a_launcher_within_another_one(self):
        """A batch job of Slurm has number 0, and so have all workers that a script of it starts."""
        own = (("WORLD_SIZE", "8"), ("LOCAL_RANK", "1"), ("RANK", "5"))
        self.assertEqual(self.rank_of(*own, SLURM_PROCID="0", SLURM_LOCALID="0"), ["rank=5", "local_rank=1", "world_size=8"])
        self.assertEqual(self.rank_of(("SLURM_PROCID", "3"), SLURM_PROCID="0"), ["rank=0"])

    def test_a_rank_that_is_known_stays(self):
        self.assertEqual(self.rank_of(("RANK", "7"), RANK="2", LOCAL_RANK="0", WORLD_SIZE="4"), ["rank=2", "local_rank=0", "world_size=4"])

    def test_a_default_changes_nothing_that_is_set(self):
        """setenv(name, value, 0), after the process, or whoever started it, has set the same variable."""
        default = ("RANK", "7", 0)
        self.assertEqual(self.rank_of(default), ["rank=7"])
        self.assertEqual(self.rank_of(("RANK", "5"), default), ["rank=5"])
        self.assertEqual(self.rank_of(default, RANK="launcher's"), [])
        self.assertEqual(self.rank_of(("RANK", "5"), ("RANK", None), default), ["rank=7"])


if __name__ == "__main__":
    main()
