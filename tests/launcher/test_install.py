#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""After `cmake --install` the bare name is enough: LD_PRELOAD=libproftrace.so CMD, and proftrace finds its library."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])


class Install(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="install-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.prefix = self.folder / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix], check=True, capture_output=True)

    def test_the_bare_name_is_enough(self):
        libraries = ":".join(str(path.parent) for path in self.prefix.rglob("libproftrace.so"))
        environment = dict(os.environ, LD_LIBRARY_PATH=libraries, LD_PRELOAD="libproftrace.so",
                           PROFTRACE_DIR=str(self.folder / "data"))
        ran = subprocess.run(["/bin/cat", "/etc/passwd"], env=environment, capture_output=True, check=True)
        self.assertEqual(ran.stderr, b"")
        info = subprocess.run([self.prefix / "bin" / "proftrace", "info", self.folder / "data", "--json"], capture_output=True,
                              check=True)
        self.assertGreater(json.loads(info.stdout)["events"]["recorded"], 0)

    def test_where_the_bare_name_is_not_enough_it_is_said(self):
        """As in /usr/local/lib64 of Fedora, into which ld.so does not look."""
        for known, is_said in ("libc.so.6 (libc6,x86-64) => /lib64/libc.so.6", True), ("libproftrace.so (libc6,x86-64) => /usr/nowhere/lib64/libproftrace.so", False):
            stub = self.folder / "ldconfig"
            stub.write_text(f'#!/bin/sh\n[ "$1" = -p ] && echo "\t{known}"\n')
            stub.chmod(0o755)
            script = ROOT / "scripts/cmake/packaging/tell_loader.cmake"
            done = subprocess.run(["cmake", "-DCMAKE_INSTALL_PREFIX=/usr/nowhere", "-Dproftrace_library_folder=lib64", "-P", script], capture_output=True,
                                  env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "DESTDIR": ""}, text=True, check=True)
            self.assertEqual("LD_PRELOAD=/usr/nowhere/lib64/libproftrace.so" in done.stdout, is_said, done.stdout)

    def test_the_command_finds_its_library(self):
        environment = dict(os.environ, PROFTRACE_DIR=str(self.folder / "data"))
        ran = subprocess.run([self.prefix / "bin" / "proftrace", "run", "--", "/bin/echo", "hi"], env=environment,
                             capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, "hi\n"), ran.stderr)

    def test_others_may_enter_the_folders(self):
        """An administrator with the umask 077: files were readable, but nobody else came to them."""
        prefix = self.folder / "by_root"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True, umask=0o077)
        closed = [str(path) for path in [prefix, *prefix.rglob("*")] if path.stat().st_mode & 0o044 != 0o044 or path.is_dir() and path.stat().st_mode & 0o055 != 0o055]
        self.assertEqual(closed, [])

    def test_the_license_comes_along(self):
        self.assertIn("MIT License", (self.prefix / "share" / "doc" / "proftrace" / "LICENSE").read_text(encoding="utf-8"))

    def test_the_schema_and_the_manual_come_along(self):
        """What help promises is there: pages where scdoc was there to make them."""
        schema = json.loads((self.prefix / "share" / "proftrace" / "report.schema.json").read_text(encoding="utf-8"))
        self.assertIn("stages", schema["properties"])
        pages = {path.name for path in (self.prefix / "share" / "man").rglob("proftrace-*.1")}
        says = subprocess.run([self.prefix / "bin" / "proftrace", "help"], capture_output=True, text=True, check=True).stdout
        self.assertEqual("proftrace-COMMAND(1)" in says, bool(pages))
        if shutil.which("scdoc"):
            self.assertLessEqual({"proftrace-run.1", "proftrace-report.1", "proftrace-pipeline.1"}, pages)
        if pages and shutil.which("man"):
            environment = dict(os.environ, MANPATH=str(self.prefix / "share" / "man"), MANPAGER="cat")
            shown = subprocess.run(["man", "proftrace-run"], env=environment, capture_output=True, text=True, check=True).stdout
            self.assertIn("trace a command", shown)

    def test_the_manual_is_made_in_a_folder_of_any_name(self):
        if not shutil.which("scdoc"):
            self.skipTest("no scdoc")
        build = self.folder / "a b&c'd"
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DPROFTRACE_TESTS=OFF"], check=True, capture_output=True)
        made = subprocess.run(["ninja", "-C", build, "manual"], capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertIn(".TH", (build / "docs" / "proftrace.1").read_text(encoding="utf-8"))

    def test_where_it_cannot_be_built_it_says_so(self):
        """Another processor or libc: all that one saw were errors of the compiler in our sources."""
        machines = {"x86-64": ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]}
        if shutil.which("musl-gcc"):
            machines["glibc 2.35"] = ["-DCMAKE_C_COMPILER=musl-gcc"]
        for name, options in machines.items():
            done = subprocess.run(["cmake", "-S", ROOT, "-B", self.folder / name, "-G", "Ninja", "-DPROFTRACE_TESTS=OFF", *options],
                                  capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn(name, done.stderr)

    def test_a_package_without_what_it_needs_is_not_made(self):
        """Without dpkg-dev: a package was made that could be installed where it could not run."""
        cpack = os.path.realpath(shutil.which("cpack", path="/usr/bin:/usr/local/bin") or "")
        if not os.path.isfile(cpack):
            self.skipTest("no cpack")
        tools = self.folder / "tools"
        tools.mkdir()
        for name in "cmake", "dpkg", "dpkg-deb", "file", "sh", "strip", "tar", "uname":
            if shutil.which(name):
                os.symlink(shutil.which(name), tools / name)
        done = subprocess.run([cpack, "-G", "DEB", "-D", "CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",  # or it looks in /usr/bin, too
                               "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "package"], cwd=self.folder,
                              env={**os.environ, "PATH": str(tools)}, capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("dpkg-shlibdeps is not on PATH", done.stderr)
        self.assertIn("dpkg-dev", done.stderr)
        self.assertEqual(list((self.folder / "package").glob("*.deb")), [])

    def test_the_public_header_is_installed(self):
        header = self.prefix / "include" / "proftrace" / "proftrace.h"
        self.assertTrue(header.exists())
        program = self.folder / "annotated.c"
        program.write_text('#include <proftrace/proftrace.h>\nint main(void) { PROFTRACE_RANGE("all"); proftrace_step(1); return '
                           "proftrace_active(); }\n")
        subprocess.run(["cc", "-I", self.prefix / "include", program, "-o", self.folder / "annotated"], check=True)
        self.assertEqual(subprocess.run([self.folder / "annotated"], check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
