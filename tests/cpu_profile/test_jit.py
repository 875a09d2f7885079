# SPDX-License-Identifier: MIT
"""Code that programs make while they run: who called it, who made it, and the names that they give to it."""
import glob
import os
import shutil
import subprocess

from cpu_case import CpuCase, clean_environment, main

PYTHON = "/usr/bin/python3"
SCRIPT = """
function slowKernel(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
const end = process.cpuUsage().user + 1500000; let r = 0;
while (process.cpuUsage().user < end) r += slowKernel(1000000);
"""
JAVA = """
public class Hot {
    static long slowKernel(long n) { long s = 0; for (long i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
    public static void main(String[] a) {
        long end = System.nanoTime() + 2000000000L, r = 0;
        while (System.nanoTime() < end) r += slowKernel(1000000);
        System.out.println(r);
    }
}
"""
CONVOLUTION = """
import time, torch
torch.set_num_threads(1)
convolution, x = torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(8, 32, 64, 64)
end = time.process_time() + 2
while time.process_time() < end:
    convolution(x)
"""


def starts(*command):
    return bool(shutil.which(command[0])) and subprocess.run(command, capture_output=True, check=False).returncode == 0


class Jit(CpuCase):
    def self_percent(self, run, name):
        return sum(row["self_percent"] for row in self.functions(run).values() if row["function"] == name)

    def check_caller(self, run, profile, name, percent=90):
        functions = self.functions(run)
        self.assertGreater(functions[name]["self_percent"], percent)
        self.assertGreater(functions["calls_made_code"]["total_percent"], percent)
        self.assertGreater(functions["main"]["total_percent"], percent)
        self.assertLess(profile.cut_share(), 0.05)
        return functions[name]

    def test_the_caller_of_made_code_is_found(self):
        run, profile, _ = self.run_it(self.made, "0.8")
        self.check_caller(run, profile, "JIT code")
        collapsed = self.ask("export", "--to", "collapsed", "-o", "-", run)
        self.assertIn(";main;calls_made_code;JIT code ", collapsed)

    def test_also_when_it_keeps_neither_frame_pointer_nor_a_clean_stack(self):
        run, profile, _ = self.run_it(self.made, "0.8", "saves")
        self.check_caller(run, profile, "JIT code")

    def test_its_own_names_are_kept(self):
        run, profile, _ = self.run_it(self.made, "0.8", "map")
        for path in glob.glob(f"/tmp/perf-{profile.root}.map"):
            os.remove(path)
        self.check_caller(run, profile, "counts_down")
        self.assertEqual(len(glob.glob(os.path.join(run, "jit-0-*.map"))), 1)
        for path in glob.glob(os.path.join(run, "jit-0-*.map")):
            for text in (b"", b"\0" * 100, b"0 ffffffffffffffff \x1b[31m\n", b"0 10 cut", b"junk\n" * 1000):
                with open(path, "wb") as file:
                    file.write(text)
                self.assertNotIn("\x1b[31m", self.ask("report", "--full", run))
            os.remove(path)
            os.symlink("/etc/passwd", path)
        self.check_caller(run, profile, "JIT code")

    def test_node(self):
        if not starts("node", "--version"):
            self.skipTest("no node")
        path = os.path.join(self.folder, "hot.js")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        run, profile, _ = self.run_it("node", "--perf-basic-prof", path)
        for left in glob.glob(f"/tmp/perf-{profile.root}.map"):
            os.remove(left)
        hot = self.functions(run)["slowKernel"]
        self.assertGreater(hot["self_percent"], 60)
        self.assertEqual((hot["file"], hot["line"]), (path, 2))
        run, _, _ = self.run_it("node", path)
        self.assertGreater(self.functions(run)["JIT code (V8)"]["self_percent"], 60)

    def test_java(self):
        if not starts("java", "-version") or not shutil.which("javac"):
            self.skipTest("no java, or no javac")
        with open(os.path.join(self.folder, "Hot.java"), "w", encoding="utf-8") as file:
            file.write(JAVA)
        subprocess.run(["javac", "Hot.java"], cwd=self.folder, env=clean_environment(), check=True)
        run, profile, _ = self.run_it("java", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-cp", self.folder, "Hot")
        for left in glob.glob(f"/tmp/perf-{profile.root}.map"):
            os.remove(left)
        hot = [row for row in self.functions(run).values() if "Hot.slowKernel" in row["function"] or "Hot::slowKernel" in row["function"]]
        self.assertGreater(sum(row["self_percent"] for row in hot), 60)
        run, _, _ = self.run_it("java", "-cp", self.folder, "Hot")
        self.assertGreater(self.self_percent(run, "JIT code (JVM)"), 50)

    def test_convolutions_of_torch(self):
        if not starts(PYTHON, "-c", "import torch; assert torch.backends.mkldnn.is_available()"):
            self.skipTest("no torch with oneDNN")
        run, _, _ = self.run_it(PYTHON, "-c", CONVOLUTION)
        made = self.self_percent(run, "JIT code (oneDNN)")
        if not made and not self.self_percent(run, "JIT code"):
            self.skipTest("this torch computes convolutions without code made at run time")
        self.assertGreater(made, 10)
        self.assertLess(self.self_percent(run, "JIT code"), made / 5)


if __name__ == "__main__":
    main()
