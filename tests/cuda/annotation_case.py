# SPDX-License-Identifier: MIT
"""What the tests of NVTX, ITT and the injection variables share: a program with and without the library, and its events."""
import os

from cupti_case import BUILD, LIBRARY, CuptiCase, main  # noqa: F401

HOSTS = os.path.join(BUILD, "cuda")
VARIABLES = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64")


class AnnotationCase(CuptiCase):
    def environment(self, folder, program="", **more):
        env = super().environment(folder, program)
        for name in ("LD_LIBRARY_PATH", "FAKECUDA", "FAKECUDA_WITNESS", *VARIABLES):
            env.pop(name, None)
        env.update(more)
        return {name: value for name, value in env.items() if value is not None}

    def both(self, *command, **environment):
        """The outcome with us; without us the program prints and returns the same."""
        command = [os.path.join(HOSTS, command[0]), *command[1:]] if "/" not in command[0] else list(command)
        if not os.path.exists(command[0]):
            self.skipTest(f"{command[0]} is not built")
        without = self.run_program(command, **{**environment, "LD_PRELOAD": None})
        with_us = self.run_program(command, **environment)
        self.assertEqual((with_us.out, with_us.code), (without.out, without.code), with_us.err)
        return with_us

    @staticmethod
    def ranges(outcome):
        """Begins, ends and marks as (tid, "+name", "-" or "!name") in order of time within their thread."""
        signs = {"range_begin": "+", "range_end": "-", "mark": "!"}
        rows = [(e["tid"], signs[e["event"]] + (e.get("name") or "")) for e in outcome.events if e["event"] in signs]
        return rows

    def names(self, outcome):
        return [name for _, name in self.ranges(outcome)]
