#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The variables by which CUDA, NVTX and ITT find the library: set once, to the real path, taken from nobody, and left out of
programs that run without us."""
import ast
import json
import os
import shutil
import subprocess
import unittest

from annotation_case import BUILD, HOSTS, LIBRARY, VARIABLES, AnnotationCase, main
from cupti_case import DOUBLES, ENDED

REAL = os.path.realpath(LIBRARY)
ENV = "/usr/bin/env"
FORK_AND_THREADS = """
import os, subprocess, threading
subprocess.run(['/usr/bin/env'])
if os.fork() == 0:
    os.execv('/usr/bin/env', ['env'])
os.wait()
"""


class Variables(AnnotationCase):
    def seen(self, *command, **environment):
        """What the command and its children print as their environment: the values of ours, one list per process."""
        outcome = self.run_program(list(command) or [ENV], **environment)
        self.assertEqual(outcome.code, 0, outcome.err)
        lines = outcome.out.splitlines()
        return {name: [line.split("=", 1)[1] for line in lines if line.startswith(name + "=")] for name in VARIABLES}

    def test_all_processes_get_the_real_path(self):
        self.assertEqual(self.seen(), {name: [REAL] for name in VARIABLES})
        self.assertEqual(self.seen("/bin/sh", "-c", "env; sh -c env"), {name: [REAL] * 2 for name in VARIABLES})
        self.assertEqual(self.seen("/usr/bin/python3", "-c", FORK_AND_THREADS), {name: [REAL] * 2 for name in VARIABLES})

    def test_links_and_relative_paths(self):
        """The loader must recognise the file: the same one, by whatever name it was preloaded."""
        link = f"{self.root}/link.so"
        os.symlink(REAL, link)
        relative = os.path.relpath(REAL, self.root)
        for preload, cwd in ((link, None), (f"./{relative}", self.root)):
            env = self.environment(self.folder(), LD_PRELOAD=preload)
            out = subprocess.run([ENV], env=env, cwd=cwd, capture_output=True, text=True, check=True).stdout
            self.assertEqual(sorted(line for line in out.splitlines() if line.startswith(VARIABLES)),
                             sorted(f"{name}={REAL}" for name in VARIABLES))

    def test_switches(self):
        for switch, gone in (("PROFTRACE_CUDA", VARIABLES[0]), ("PROFTRACE_NVTX", VARIABLES[1]), ("PROFTRACE_ITT", VARIABLES[2])):
            self.assertEqual(self.seen(**{switch: "off"}), {name: [] if name == gone else [REAL] for name in VARIABLES})
        for environment in ({"PROFTRACE_DISABLE": "1"}, {"ENABLE_PROFILING": "false"}):
            self.assertEqual(self.seen(**environment), {name: [] for name in VARIABLES})

    def test_somebody_elses(self):
        foreign = {name: f"/opt/tool/{name}.so" for name in VARIABLES}
        self.assertEqual(self.seen(**foreign), {name: [value] for name, value in foreign.items()})
        self.assertEqual(self.seen(**{name: "none" for name in VARIABLES}), {name: ["none"] for name in VARIABLES})
        # another installation's: the library that is preloaded counts; an empty one names nobody
        for value in ("/old/libproftrace.so", ""):
            self.assertEqual(self.seen(**{name: value for name in VARIABLES}), {name: [REAL] for name in VARIABLES})

    def test_nsight_compute_has_cuda_for_itself(self):
        """It ends a program in which the variable names us: neither it nor what it starts has it, whatever a parent had set."""
        self.assertEqual(self.seen(NV_TPS_LAUNCH_TOKEN="Interactive Profile"), {name: [] if name == VARIABLES[0] else [REAL] for name in VARIABLES})
        ncu = f"{self.root}/ncu"
        shutil.copy(ENV, ncu)
        self.assertEqual(self.seen("/bin/sh", "-c", f"{ncu}; :"), {name: [] if name == VARIABLES[0] else [REAL] for name in VARIABLES})
        foreign = "/opt/nsight/libinjection.so"
        self.assertEqual(self.seen(NV_TPS_LAUNCH_TOKEN="x", CUDA_INJECTION64_PATH=foreign)[VARIABLES[0]], [foreign])

    def test_nothing_else_changes(self):
        """/proc/self/environ is what the program was started with; environ gains ours and nothing else."""
        dump = "import os; print(open('/proc/self/environ').read().count('\\0'), sorted(os.environ))"
        outcome = self.run_program(["/usr/bin/python3", "-c", dump])
        without = self.run_program(["/usr/bin/python3", "-c", dump], LD_PRELOAD=None, PROFTRACE_DIR=None)
        count, names = outcome.out.split(" ", 1)
        count_without, names_without = without.out.split(" ", 1)
        self.assertEqual(int(count), int(count_without) + 2)  # what the test adds: LD_PRELOAD and PROFTRACE_DIR
        gained = sorted(set(ast.literal_eval(names)) - set(ast.literal_eval(names_without)))
        self.assertEqual(gained, sorted(["LD_PRELOAD", "PROFTRACE_DIR", "PROFTRACE_SESSION", *VARIABLES]))

    def test_programs_that_would_break_do_not_get_them(self):
        """AddressSanitizer refuses a process with us in it, loaded or dlopened; what is somebody else's it gets as it was."""
        program = f"{self.root}/sanitized"
        source = "#include <stdio.h>\nint main(int c, char **v, char **e) { while (*e) puts(*e++); return 0; }"
        made = subprocess.run(["cc", "-fsanitize=address", "-x", "c", "-", "-o", program], input=source, text=True, capture_output=True,
                              check=False)
        if made.returncode:
            self.skipTest("no AddressSanitizer")
        foreign = "/opt/tool/libinjection.so"
        outcome = self.run_program(["/bin/sh", "-c", f"{program}; :"], NVTX_INJECTION64_PATH=foreign)
        self.assertEqual(outcome.code, 0)
        self.assertEqual([line for line in outcome.out.splitlines() if line.startswith(("LD_PRELOAD", "PROFTRACE_", *VARIABLES))],
                         [f"NVTX_INJECTION64_PATH={foreign}", f"PROFTRACE_DIR={outcome.folder}/trace"])


@unittest.skipUnless(os.path.exists(f"{DOUBLES}/workload_13"), "the doubles are not built")
class Driver(AnnotationCase):
    """The driver loads what the variable names."""

    def cuda(self, *command, **environment):
        return self.run_program(list(command), LD_LIBRARY_PATH=f"{DOUBLES}/lib", **environment)

    def test_one_library_in_the_process(self):
        """Preloaded and injected it is one object with one constructor, also through a link; and CUPTI starts once."""
        link = f"{self.root}/libproftrace.so"
        os.symlink(REAL, link)
        for environment in ({}, {"CUDA_INJECTION64_PATH": link}, {"LD_PRELOAD": link}):
            outcome = self.cuda(f"{DOUBLES}/workload_13", "threads", **environment)
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertEqual(len(outcome.processes()), 1)
            self.assertEqual(outcome.states()[0], 1)

    def test_copy_of_the_library(self):
        """Another file is another library: the second one keeps still."""
        copy = shutil.copy(REAL, f"{self.root}/libother-copy.so")
        outcome = self.cuda(f"{DOUBLES}/workload_13", "basic", CUDA_INJECTION64_PATH=copy)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(len(outcome.processes()), 1)

    def test_bad_paths(self):
        for path in ("/nonexistent.so", "/etc/passwd", "relative.so", "/"):
            without = self.cuda(f"{DOUBLES}/workload_13", "basic", LD_PRELOAD=None, CUDA_INJECTION64_PATH=path)
            outcome = self.cuda(f"{DOUBLES}/workload_13", "basic", CUDA_INJECTION64_PATH=path)
            self.assertEqual((outcome.out, outcome.err, outcome.code), (without.out, without.err, without.code))

    def test_only_injected(self):
        outcome = self.cuda(f"{DOUBLES}/workload_13", "basic", LD_PRELOAD=None, CUDA_INJECTION64_PATH=LIBRARY)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertGreater(len(outcome.of("gpu_kernel")), 0)
        self.assertEqual(outcome.states()[-1], ENDED)
        self.assertEqual([e for e in outcome.events if e["event"].startswith(("io_", "cuda_launch"))], [])
        info = subprocess.run([f"{BUILD}/proftrace", "info", f"{outcome.folder}/trace/latest"], capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("started without the library", info)
        report = subprocess.run([f"{BUILD}/proftrace", "report", f"{outcome.folder}/trace/latest", "--format", "json"], capture_output=True,
                                text=True, check=True).stdout
        heap = json.loads(report)["stages"][0]["heap"]
        self.assertIsNone(heap["allocs"])
        self.assertIn("loaded into it late", heap["allocs_reason"])

    def test_disabled_library_that_is_injected(self):
        for environment in ({"PROFTRACE_DISABLE": "1"}, {"PROFTRACE_DISABLE": "1", "LD_PRELOAD": None}):
            outcome = self.cuda(f"{DOUBLES}/workload_13", "basic", CUDA_INJECTION64_PATH=LIBRARY, **environment)
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertFalse(os.path.exists(f"{outcome.folder}/trace"))

    def test_errno(self):
        """What the injection meets on its way is not the program's."""
        program = f"{HOSTS}/wrapper_host"
        outcome = self.cuda(program, "memory")
        self.assertEqual((outcome.code, "errno" in outcome.out), (0, False), outcome.out)


if __name__ == "__main__":
    main()
