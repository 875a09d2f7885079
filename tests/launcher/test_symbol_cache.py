# SPDX-License-Identifier: MIT
"""What names were found for addresses is kept in the run directory: the same bytes with it, without it and where it cannot be kept."""
import json
import os
import re
import resource
import shutil
import stat
import unittest

import launcher_case
from launcher_case import PROFTRACE, LauncherCase
from sampled import no_samples

PROGRAM = "import json\nfor i in range(60):\n    json.loads(json.dumps([{'id': j, 'name': 'x' * 9} for j in range(4000)]))\n"
# Code that lies in memory only: a loop that counts down.
OF_MEMORY = """
import ctypes
import mmap
import os
fd = os.memfd_create("code")
os.ftruncate(fd, 4096)
code = mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code[:10] = bytes.fromhex("b900000040ffc975fcc3")
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""


@unittest.skipIf(no_samples(PROFTRACE), no_samples(PROFTRACE))
class SymbolCache(LauncherCase):
    def setUp(self):
        super().setUp()
        self.record(PROGRAM)

    def record(self, program):
        done = self.run_it("/usr/bin/python3", "-c", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.run_folder = os.path.realpath(os.path.join(self.folder, "proftrace.data/latest"))
        self.cache = os.path.join(self.run_folder, "symbols.cache")
        if os.path.exists(self.cache):
            os.unlink(self.cache)

    def answers(self):
        found = []
        for command in (["report", "--format", "json"], ["report", "--full"], ["stats", "--by", "stack"]):
            done = self.proftrace(command[0], self.run_folder, *command[1:])
            self.assertEqual(done.returncode, 0, done.stderr)
            found.append(done.stdout)
        for form in ("speedscope", "collapsed"):
            out = os.path.join(self.folder, "out")
            done = self.proftrace("export", self.run_folder, "--to", form, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, "rb") as file:
                found.append(file.read())
            os.unlink(out)
        return found

    def test_the_same_bytes_with_it_and_without(self):
        first = self.answers()
        self.assertEqual(stat.S_IMODE(os.stat(self.cache).st_mode), 0o600)
        self.assertIn("PyEval", first[0].decode())
        self.assertEqual(self.answers(), first)
        with open(self.cache, "r+b") as file:
            file.seek(os.path.getsize(self.cache) // 2)
            file.write(b"\xff" * 16)
        self.assertEqual(self.answers(), first)
        self.assertEqual([name for name in os.listdir(self.run_folder) if name.endswith(".new")], [])

    def test_a_directory_that_cannot_be_written(self):
        first = self.answers()
        os.unlink(self.cache)
        os.mkdir(self.cache)  # for root, too, there is no place for it
        self.assertEqual(self.answers(), first)
        self.assertTrue(os.path.isdir(self.cache))
        self.assertEqual([name for name in os.listdir(self.run_folder) if name.endswith(".new")], [])

    def test_no_file_of_code_is_opened_again(self):
        """Measured as page faults: reading the names of one library takes thousands."""
        def faults():
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
            done = self.proftrace("report", self.run_folder, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before, json.loads(done.stdout)

        first, report = faults()
        again, same = faults()
        self.assertEqual(report, same)
        self.assertLess(again, first)

    def test_a_run_copied_to_where_its_program_is_not(self):
        program = os.path.join(self.folder, "python")
        shutil.copy(os.path.realpath("/usr/bin/python3"), program)
        done = self.run_it(program, "-c", PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        first = self.proftrace("report", "--format", "json").stdout
        self.assertIn(b"PyEval", first)
        run = os.path.realpath(os.path.join(self.folder, "proftrace.data/latest"))
        copied = os.path.join(self.folder, "copied", os.path.basename(run))
        shutil.copytree(run, copied)
        linked = os.path.join(self.folder, "linked", os.path.basename(run))  # as DVC and git-annex make them
        os.makedirs(linked)
        for name in os.listdir(copied):
            os.symlink(os.path.join(copied, name), os.path.join(linked, name))
        os.unlink(program)
        for there in (copied, linked):
            for _ in range(2):
                self.assertEqual(self.proftrace("report", there, "--format", "json").stdout.replace(there.encode(), run.encode()), first)
        # Not yet fetched, or of another version: no names, but those that are there stay.
        cache = os.path.join(linked, "symbols.cache")
        for target in ("nowhere", "other"):
            os.unlink(cache)
            os.symlink(os.path.join(self.folder, target), cache)
            with open(os.path.join(copied, "symbols.cache"), "rb") as file:
                other = re.sub(rb"^proftrace symbols \d+", b"proftrace symbols 1", file.read())
            if target == "other":
                with open(cache, "wb") as file:
                    file.write(other)
            self.assertNotIn(b"PyEval", self.proftrace("report", linked, "--format", "json").stdout)
            self.assertTrue(os.path.islink(cache))
        with open(cache, "rb") as file:
            self.assertEqual(file.read(), other)

    def test_one_of_another_version_is_replaced_where_the_programs_are(self):
        self.record(PROGRAM + OF_MEMORY)
        first = self.answers()
        with open(self.cache, "rb") as file:
            self.assertIn(b"/memfd:code (deleted)", file.read())
        with open(self.cache, "r+b") as file:
            file.seek(len("proftrace symbols "))
            file.write(b"1")
        self.assertEqual(self.answers(), first)
        with open(self.cache, "rb") as file:
            self.assertNotEqual(file.read(20), b"proftrace symbols 1\n")


if __name__ == "__main__":
    launcher_case.unittest.main()
