# SPDX-License-Identifier: MIT
"""`proftrace doctor`, `help`, `version`: what they say is true and their exit codes are the contract's."""
import ctypes
import json
import os
import shutil
import struct
import subprocess
import unittest

from launcher_case import LIBRARY, PROFTRACE, LauncherCase, clean_environment

# Of statfs: btrfs, nilfs2, bcachefs.
COPY_ON_WRITE = ("9123683e", "3434", "ca451a4e")

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CUDA_DOUBLES = os.path.join(os.path.dirname(os.path.realpath(PROFTRACE)), "fakecuda/lib")


class Doctor(LauncherCase):
    def checks(self, *arguments, **options):
        done = self.proftrace("doctor", "--json", *arguments, **options)
        document = json.loads(done.stdout)
        self.assertEqual(document["can_trace"], done.returncode == 0)
        return {check["name"]: check for check in document["checks"]}

    def test_all_questions_are_answered(self):
        checks = self.checks("--", "/bin/true")
        for name in ("library", "run directories", "free space", "clock", "glibc", "/proc", "perf events", "ptrace", "command"):
            self.assertIn(name, checks)
        self.assertEqual(checks["library"]["status"], "ok", checks["library"])
        self.assertEqual(checks["command"]["status"], "ok")

    def test_perf_events_are_there_where_the_kernel_gives_them(self):
        """Tests that need samples are skipped by doctor's word: it has a witness of its own."""
        perf_event_open, software, attribute_bytes, period_ns = 298, 1, 128, 10_000_000
        attributes = struct.pack("IIQQ", software, attribute_bytes, 0, period_ns).ljust(attribute_bytes, b"\0")
        fd = ctypes.CDLL(None).syscall(perf_event_open, attributes, -1, 0, -1, 0)
        if fd < 0:
            self.skipTest("perf_event_open is refused here")
        os.close(fd)
        self.assertEqual(self.checks()["perf events"]["status"], "ok")

    def test_nothing_is_left_behind(self):
        scratch = os.path.join(self.folder, "scratch")
        os.mkdir(scratch)
        self.checks(environment={"TMPDIR": scratch})
        self.assertEqual(os.listdir(scratch), [])
        self.assertEqual(os.listdir(self.folder), ["scratch"])

    def long_root(self, bytes_):
        """An absolute path of that many bytes, of which nothing is there yet."""
        root = self.folder
        while (left := bytes_ - len(root)):
            root += "/" + "d" * (left - 1 if left <= 101 else min(100, left - 3))
        self.assertEqual(len(root), bytes_)
        return root

    def test_a_path_that_is_too_long_for_the_library(self):
        """It records nothing there, and has no voice: an absolute root of more than 272 bytes was said to be fine."""
        for bytes_, is_held in ((446, True), (447, False)):
            root = self.long_root(bytes_)
            os.makedirs(os.path.dirname(root))
            for directory, where in ((root, self.folder), (os.path.basename(root), os.path.dirname(root)), (f"{root}//", self.folder)):
                check = self.checks(environment={"PROFTRACE_DIR": directory}, cwd=where)["run directories"]
                self.assertEqual((check["status"], "the path has 447 bytes" in check["detail"]), ("ok", False) if is_held else ("fail", True))
                subprocess.run(["/bin/true"], env=clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_DIR=directory), cwd=where, check=True)
                self.assertEqual(os.path.exists(root), is_held)
                if is_held:
                    shutil.rmtree(root)
                    subprocess.run(["/bin/true"], env=clean_environment(LD_PRELOAD=LIBRARY, PROFTRACE_DIR=f"{directory}/x"), cwd=where, check=True)
                    self.assertFalse(os.path.exists(root))  # the beginning of that path
            shutil.rmtree(os.path.join(self.folder, os.path.relpath(root, self.folder).split("/")[0]))

    def test_a_root_that_is_too_long_for_its_runs(self):
        """The length of a run's name counts, not that of the longest: a root of 447 bytes was refused, and left behind."""
        name_bytes = len("20260101-120000-true-123456")
        for bytes_, is_held in ((470, True), (509 - name_bytes, True), (510 - name_bytes, False)):
            root = self.long_root(bytes_)
            done = self.proftrace("run", "--", "true", environment={"PROFTRACE_DIR": root})
            said = b"too long for the library (511 bytes, at most 510); name another one" in done.stderr
            self.assertEqual((done.returncode, said), (0, False) if is_held else (125, True), done.stderr)
            if is_held:
                info = json.loads(self.proftrace("info", "--json", os.path.join(root, "latest")).stdout)
                self.assertEqual(len(info["processes"]), 1)
                shutil.rmtree(os.path.join(self.folder, os.path.relpath(root, self.folder).split("/")[0]))
            self.assertEqual(os.listdir(self.folder), [])

    def test_a_run_directory_of_a_long_path(self):
        done = self.proftrace("run", "-o", "/".join(["e" * 100] * 5), "--", "true")
        self.assertEqual((done.returncode, b"at most 510); name another one with" in done.stderr), (125, True), done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_untraceable_command(self):
        program = self.compile("int main(void){return 0;}", "-static")
        self.assertIn("static", self.checks("--", program)["command"]["detail"])
        self.assertEqual(self.checks("no-such-command")["command"]["status"], "fail")

    def test_no_program_to_try_the_library_on(self):
        """Where `true` is a static busybox, or lies elsewhere (NixOS), it said that the library does not work."""
        bin_folder = os.path.join(self.folder, "bin")
        os.mkdir(bin_folder)
        self.compile("int main(void){return 0;}", "-static", name="bin/true")
        for path, reason in (bin_folder, "static"), (self.folder, "no such command"):
            check = self.checks(environment={"PATH": path})["library"]
            self.assertEqual(check["status"], "warn", check)
            self.assertIn("could not be tried", check["detail"])
            self.assertIn(reason, check["detail"])
        os.remove(os.path.join(bin_folder, "true"))
        os.symlink("/bin/true", os.path.join(bin_folder, "true"))
        self.assertEqual(self.checks(environment={"PATH": bin_folder})["library"]["status"], "ok")

    def test_switched_off(self):
        for name, values in (("PROFTRACE_DISABLE", ("1", "yes", "on", "True")), ("ENABLE_PROFILING", ("false", "0", "off", "no"))):
            for value in values:
                check = self.checks(environment={name: value})["switched off"]
                self.assertEqual((check["status"], check["detail"]), ("fail", f"{name}={value}: nothing is recorded"))
        for name, value in (("PROFTRACE_DISABLE", "0"), ("ENABLE_PROFILING", ""), ("ENABLE_PROFILING", "1")):
            self.assertNotIn("switched off", self.checks(environment={name: value}))
        self.assertNotIn("switched off", self.checks(environment={"PROFTRACE_DISABLE": "0", "ENABLE_PROFILING": "false"}))

    def test_option_that_is_not_understood(self):
        checks = self.checks(environment={"PROFTRACE_HEAP": "everything"})
        self.assertEqual(checks["options"]["status"], "warn")
        checks = self.checks(environment={"PROFTRACE_HEAP": "Full"})  # the library takes it to the letter
        self.assertEqual(checks["options"]["remedy"], "did you mean full?")

    def test_a_filter_that_refuses_is_seen(self):
        """As those of containers: what the settings of the machine say is not what happens there."""
        with open(os.path.join(TESTS, "cpu_profile", "no_perf.c"), encoding="utf-8") as file:
            text = file.read()
        for number, (call, check) in enumerate((("perf_event_open", "perf events"), ("process_vm_readv", "ptrace"))):
            refusing = self.compile(text.replace("SYS_perf_event_open", f"SYS_{call}"), name=f"refusing{number}")
            done = subprocess.run([refusing, PROFTRACE, "doctor", "--json"], capture_output=True, text=True, check=False)
            found = {row["name"]: row for row in json.loads(done.stdout)["checks"]}[check]
            self.assertEqual(found["status"], "warn", found)
            self.assertIn(f"{call}: Operation not permitted", found["detail"])
            self.assertIn("--cap-add", found["remedy"])

    def test_what_nobody_can_change_is_not_advised(self):
        """Not even root can lower a ptrace_scope of 3."""
        script = f"mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo 3 >/proc/sys/kernel/yama/ptrace_scope || exit 77; exec {PROFTRACE} doctor --json"
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=self.folder, capture_output=True, text=True, check=False)
        if not done.stdout:
            self.skipTest(f"no mounts here: {done.stderr}")
        found = {row["name"]: row for row in json.loads(done.stdout)["checks"]}["ptrace"]
        self.assertEqual((found["status"], found["remedy"]), ("warn", "nobody can, until the next boot: set it below 3 in /etc/sysctl.d, and reboot"))

    def machine_with_a_gpu(self):
        """The environment of one, by doubles of NVML and the driver; its python3 has no packages. The driver is of CUDA 11: a newer libcupti, which
        this machine may have, is none for it."""
        for name in ("driver", "bin"):
            os.mkdir(os.path.join(self.folder, name))
        with open(os.path.join(TESTS, "fakenvml", "fakenvml.c"), encoding="utf-8") as file:
            self.compile(file.read(), "-shared", "-fPIC", name="driver/libnvidia-ml.so.1")
        with open(os.path.join(self.folder, "gpus"), "w", encoding="ascii") as file:
            file.write("device NVIDIA H200\n")
        python = os.path.join(self.folder, "bin/python3")
        os.symlink("/bin/true", python)
        return {"FAKENVML": file.name, "LD_LIBRARY_PATH": f"{self.folder}/driver:{os.path.dirname(CUDA_DOUBLES)}/driver", "FAKECUDA": "driver_version 11080",
                "PATH": f"{os.path.dirname(python)}:/usr/bin:/bin"}

    def gpu(self, *command, **environment):
        return self.checks(*(("--", *command) if command else ()), environment=environment)["GPU"]

    def packages(self, runtime="libcudart.so.12", cupti="libcupti.so.12", double="libcupti.so.12"):
        """A folder of Python packages: the wheels of the CUDA runtime and of CUPTI."""
        folder = os.path.join(self.folder, f"packages-{cupti}")
        for wheel, name, target in (("cuda_runtime", runtime, "/dev/null"), ("cuda_cupti", cupti, f"{CUDA_DOUBLES}/{double}"),
                                    ("cuda_cupti", "libfakegpu.so", f"{CUDA_DOUBLES}/libfakegpu.so")):
            os.makedirs(f"{folder}/nvidia/{wheel}/lib", exist_ok=True)
            os.symlink(target, f"{folder}/nvidia/{wheel}/lib/{name}")
        return folder

    def test_no_gpu_is_no_question(self):
        if not os.path.exists("/dev/nvidiactl"):
            self.assertNotIn("GPU", self.checks(environment={"PATH": self.folder}))

    @unittest.skipUnless(os.path.isdir(CUDA_DOUBLES), "no doubles of CUDA were built")
    def test_a_gpu_without_cupti(self):
        row = self.gpu(**self.machine_with_a_gpu())
        self.assertEqual(row["status"], "warn", row)
        self.assertTrue(row["detail"].startswith("NVIDIA H200, but no libcupti: "), row)
        self.assertIn("CUDA_HOME", row["remedy"])

    @unittest.skipUnless(os.path.isdir(CUDA_DOUBLES), "no doubles of CUDA were built")
    def test_a_gpu_with_cupti(self):
        """Found as the library finds it: by its name, below a toolkit's folder, and before both beside the runtime that Python's packages bring."""
        machine = self.machine_with_a_gpu()
        os.mkdir(os.path.join(self.folder, "toolkit"))
        os.symlink(CUDA_DOUBLES, os.path.join(self.folder, "toolkit/lib64"))
        by_name = {**machine, "LD_LIBRARY_PATH": f"{machine['LD_LIBRARY_PATH']}:{CUDA_DOUBLES}"}
        self.assertEqual(self.gpu(**by_name)["detail"], f"NVIDIA H200; CUPTI is {CUDA_DOUBLES}/libcupti.so.11.8")
        by_name["FAKECUDA"] = "driver_version 13000"
        self.assertEqual(self.gpu(**by_name)["detail"], f"NVIDIA H200; CUPTI is {CUDA_DOUBLES}/libcupti.so.13")
        at_home = self.gpu(**machine, CUDA_HOME=os.path.join(self.folder, "toolkit"))
        self.assertEqual((at_home["status"], at_home["detail"]), ("ok", f"NVIDIA H200; CUPTI is {self.folder}/toolkit/lib64/libcupti.so.11.8"))
        wheels = self.packages()
        in_wheels = self.gpu("/usr/bin/python3", "train.py", **by_name, PYTHONPATH=wheels)
        self.assertEqual(os.path.realpath(in_wheels["detail"].split("CUPTI is ")[1]), f"{CUDA_DOUBLES}/libcupti.so.12")
        self.assertIn(wheels, in_wheels["detail"])
        # Not a newer one of the same CUDA 11, which the loader finds by its name.
        wheels = self.packages("libcudart.so.11.0", "libcupti.so.11.7", "libcupti.so.11.8")
        of_11 = self.gpu("/usr/bin/python3", "train.py", **by_name, PYTHONPATH=wheels)
        self.assertEqual(of_11["detail"], f"NVIDIA H200; CUPTI is {wheels}/nvidia/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.11.7")

    def test_another_tool_has_cupti(self):
        machine = self.machine_with_a_gpu()
        row = self.gpu(**machine, CUDA_INJECTION64_PATH="/opt/tool/libtool.so")
        self.assertEqual((row["status"], row["remedy"]), ("warn", "unset CUDA_INJECTION64_PATH"))
        self.assertIn("names another tool, /opt/tool/libtool.so", row["detail"])
        self.assertEqual(self.gpu(**machine, PROFTRACE_CUDA="off")["status"], "ok")

    def test_unwritable_root(self):
        checks = self.checks(environment={"PROFTRACE_DIR": "/proc/x"})
        self.assertEqual(checks["run directories"]["status"], "fail")
        self.assertTrue(checks["run directories"]["remedy"])

    def test_a_root_whose_parent_is_missing(self):
        """The launcher makes both, the library alone makes nothing: a service recorded nothing, and this was ok."""
        os.mkdir(os.path.join(self.folder, "there"))
        for root, status in (("there/runs", "ok"), ("missing/runs/", "warn"), ("a/b/runs", "warn")):
            check = self.checks(environment={"PROFTRACE_DIR": os.path.join(self.folder, root)})["run directories"]
            self.assertEqual(check["status"], status, check)
            self.assertEqual(self.checks(environment={"PROFTRACE_DIR": root})["run directories"]["status"], "ok")
        self.assertEqual(check["remedy"], f"mkdir -p {self.folder}/a/b/runs")
        self.assertEqual(self.checks(environment={"PROFTRACE_DIR": "/proftrace-of-nobody"})["run directories"]["status"], "ok" if os.geteuid() == 0 else "fail")

    def test_file_system_that_copies_on_write(self):
        kind = subprocess.run(["stat", "-f", "-c", "%t", self.folder], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if kind not in COPY_ON_WRITE:
            self.assertNotIn("file system", self.checks())
        double = self.compile("#define _GNU_SOURCE\n#include <string.h>\n#include <sys/vfs.h>\n"
                              "int fstatfs(int fd, struct statfs *of) { memset(of, 0, sizeof *of); of->f_type = 0x9123683e; return fd < 0; }",
                              "-shared", "-fPIC", name="double.so")
        check = self.checks(environment={"LD_PRELOAD": double})["file system"]
        self.assertEqual(check["status"], "warn")
        self.assertIn("btrfs", check["detail"])

    def test_text(self):
        done = self.proftrace("doctor")
        for line in done.stdout.decode().splitlines():
            self.assertRegex(line, r"^(ok   |warn |fail |     ) ")


class Help(LauncherCase):
    def commands(self):
        lines = self.proftrace("help").stdout.decode().split("Commands:")[1].splitlines()
        return [line.split()[0] for line in lines if line.startswith("  ")]

    def test_every_command_has_options_text(self):
        self.assertIn("run", self.commands())
        for command in self.commands():
            for words in (("help", command), (command, "--help")):
                done = self.proftrace(*words)
                self.assertEqual(done.returncode, 0, (words, done.stderr))
                self.assertIn(f"usage: proftrace {command}".encode(), done.stdout)
                self.assertEqual(done.stderr, b"")

    def test_unknown(self):
        done = self.proftrace("help", "repot")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"'report'", done.stderr)

    def test_version(self):
        for words in (("version",), ("--version",)):
            self.assertRegex(self.proftrace(*words).stdout.decode(), r"^proftrace \d+\.\d+\.\d+ \(trace format \d+\)\n$")


if __name__ == "__main__":
    unittest.main()
