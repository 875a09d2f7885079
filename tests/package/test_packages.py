#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What users install: the wheel in a new environment without a network, and the Debian package. Each is built, installed, used on a Python
and a C program, and removed; nothing stays behind. Needs PyPI (the compiler) and Debian's mirror: scripts/test-slow."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
LOOP = "#include <stdio.h>\nint main(void) { for (int i = 0; i < 3000; i++) { FILE *f = fopen(\"/etc/hostname\", \"r\"); if (f) fclose(f); } return 0; }\n"
PYTHON = "import proftrace\nwith proftrace.range('squares'):\n    sum(i * i for i in range(3000000))\nprint(proftrace.active())\n"


def play(*command, **more):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, check=False, env=environment, **more)
    if done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout + done.stderr


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="packages-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def use(self, proftrace, *python):
        """`python`: words of a command that has the package."""
        (self.folder / "loop.c").write_text(LOOP, encoding="ascii")
        play("cc", "-O1", "-g", "loop.c", "-o", "loop", cwd=self.folder)
        play(proftrace, "run", "-o", "of_c", "--", "./loop", cwd=self.folder)
        self.assertIn("3,000", play(proftrace, "stats", "of_c", "--by", "file", cwd=self.folder))
        if python:
            self.assertIn("True", play(proftrace, "run", "-o", "of_python", "--", *python, "-c", PYTHON, cwd=self.folder))
            said = play(*python, "-c", "import proftrace; print(proftrace.open('of_python').stages[0].table('ranges')[0]['name']); print(proftrace.__file__)",
                        cwd=self.folder)
            self.assertEqual(said.splitlines()[0], "squares")
            return said.splitlines()[1]
        return None


class Wheel(Installed):
    def test_wheel(self):
        built = []
        for name in "a", "b":
            said = play("env", f"PROFTRACE_WHEEL_BUILD={self.folder}/{name}-build", ROOT / "scripts/build-wheel", self.folder / name)
            built.append(next(pathlib.Path(line) for line in said.splitlines() if line.endswith(".whl")))
        self.assertEqual(built[0].read_bytes(), built[1].read_bytes())
        self.check_contents(built[0])
        play("/usr/bin/python3", "-m", "venv", self.folder / "venv")
        before = {path for path in (self.folder / "venv").rglob("*") if "__pycache__" not in path.parts}
        pip, programs = self.folder / "venv/bin/pip", self.folder / "venv/bin"
        play(pip, "install", "-q", "--no-index", built[0])
        self.use(programs / "proftrace", programs / "python")
        self.assertRegex(play(programs / "proftrace", "doctor"), r"loads and\s+writes a trace")
        play(pip, "uninstall", "-q", "-y", "proftrace")
        after = {path for path in (self.folder / "venv").rglob("*") if "__pycache__" not in path.parts and not path.is_dir()}
        self.assertEqual(after - before, set())
        self.check_target(pip, programs / "python", built[0])

    def check_target(self, pip, python, wheel):
        """Into a folder, as for a job or a function in a cloud."""
        target = self.folder / "target"
        play(pip, "install", "-q", "--no-index", "--target", target, wheel)
        self.use(target / "bin/proftrace", "env", f"PYTHONPATH={target}", python)
        said = play("env", f"PYTHONPATH={target}", python, "-c", "from proftrace import command; print(command.find())")
        self.assertEqual(said.strip(), str(target / "bin/proftrace"))

    def check_contents(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            for end in "/licenses/LICENSE", "/licenses/LINKED.txt", "/licenses/libdw-dev.txt", "/licenses/ziglang.txt", "proftrace/py.typed", ".data/data/share/proftrace/lib/libproftrace.so":
                self.assertTrue(any(name.endswith(end) for name in names), end)
            for name in names:
                if name.endswith(("scripts/proftrace", "lib/libproftrace.so")):
                    archive.extract(name, self.folder)
                    versions = play("objdump", "-T", self.folder / name)
                    newest = max(tuple(map(int, word.strip("()").partition("GLIBC_")[2].split("."))) for word in versions.split() if "GLIBC_2" in word)
                    self.assertLessEqual(newest, (2, 28), name)
            library = next(self.folder.rglob("data/share/proftrace/lib/libproftrace.so"))
        self.assertEqual(self.exports(library), self.exports(BUILD / "libproftrace.so"))
        for name in "malloc", "calloc", "free":  # they are called on any stack and align none: a vector kept there would kill the host
            code = play("objdump", "-d", f"--disassemble={name}", library)
            self.assertGreater(code.count("\n"), 20)
            self.assertNotIn("xmm", code, name)

    @staticmethod
    def exports(library):
        """What a program sees of a library, with versions."""
        names = {line.split()[-1] for line in play("nm", "-D", "--defined-only", library).splitlines()}
        return {name for name in names if not name.startswith(("GLIBC_", "__start_", "__stop_"))}


class Debian(Installed):
    def test_debian_package(self):
        if not shutil.which("dpkg") or os.geteuid() != 0:
            self.skipTest("not root on Debian")
        if subprocess.run(["dpkg", "-s", "proftrace"], capture_output=True, check=False).returncode == 0:
            self.skipTest("a proftrace is installed here")
        build = self.folder / "build"
        play("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-C", ROOT / "scripts/cmake/release.cmake", "-DPROFTRACE_TESTS=OFF")
        play("ninja", "-C", build)
        play("cpack", "-G", "DEB", "-B", self.folder, cwd=build, umask=0o077)
        package = next(self.folder.glob("*.deb"))
        self.assertNotIn("drwx------", play("dpkg-deb", "--contents", package))
        self.assertRegex(play("dpkg-deb", "--field", package, "Depends"), r"libc6 .*libdw1")
        play("dpkg", "-i", package)
        try:
            installed = [path for path in play("dpkg", "-L", "proftrace").split() if "proftrace" in path]
            self.assertIn("/usr/lib/libproftrace.so", installed)
            folder = "/usr/share/proftrace/python"
            python = "env", "-u", "PROFTRACE_COMMAND", f"PYTHONPATH={folder}", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3"  # else dpkg leaves what it compiled
            self.assertEqual(self.use("/usr/bin/proftrace", *python), f"{folder}/proftrace/__init__.py")
            play("env", "LD_PRELOAD=libproftrace.so", f"PROFTRACE_DIR={self.folder}/by_name", "true")  # found by its bare name
            self.assertTrue((self.folder / "by_name/latest").exists())
        finally:
            play("dpkg", "-P", "proftrace")
        self.assertEqual([path for path in installed if os.path.lexists(path)], [])


if __name__ == "__main__":
    unittest.main()
