# SPDX-License-Identifier: MIT
"""Folders that somebody else can write into: what they plant there is neither followed nor read as ours, and nobody's file is
overwritten. Where two users are needed, the tests need root."""
import json
import os
import shutil
import stat
import subprocess
import time
import unittest

from launcher_case import LIBRARY, PROFTRACE, LauncherCase, clean_environment

ONE, TWO = 4001, 4002  # nobody's


class Planted(LauncherCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.victim = os.path.join(self.folder, "victim")
        with open(self.victim, "w", encoding="utf-8") as file:
            file.write("precious")

    def assert_victim_is_untouched(self):
        with open(self.victim, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def assert_files(self, *paths):
        for path in paths:
            status = os.lstat(os.path.join(self.folder, path))
            self.assertTrue(stat.S_ISREG(status.st_mode), path)
            self.assertEqual(status.st_mode & 0o077, 0, f"{path} is private")

    def by(self, user, *command, environment=None, **options):
        """As another user, who can read the programs but not write them."""
        if os.geteuid():
            self.skipTest("needs root, to be two users")
        options.setdefault("cwd", self.folder)
        options.setdefault("timeout", 100)
        return subprocess.run(command, user=user, group=user, extra_groups=[], capture_output=True, check=False,
                              env=clean_environment(HOME="/", **(environment or {})), **options)

    def programs(self):
        """Copies that every user can run, wherever the build lies."""
        folder = os.path.join(self.folder, "programs")
        if not os.path.exists(folder):
            os.mkdir(folder)
            for path in (PROFTRACE, LIBRARY):
                shutil.copy(path, folder)
            os.chmod(folder, 0o755)
        return os.path.join(folder, "proftrace"), os.path.join(folder, "libproftrace.so")

    def folder_of(self, user, name, mode=0o755):
        path = os.path.join(self.folder, name)
        os.mkdir(path)
        if user is not None and not os.geteuid():
            os.chown(path, user, user)
        os.chmod(path, mode)
        return path

    def run_of(self, user, root):
        """A run of a bare preload in a root of this user."""
        done = self.by(user, "/bin/ls", "/", environment={"LD_PRELOAD": self.programs()[1], "PROFTRACE_DIR": root})
        self.assertEqual(done.returncode, 0, done.stderr)
        return os.path.realpath(os.path.join(root, "latest"))

    def assert_refused(self, done, *said):
        text = done.stderr.decode()
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(text.count("\n"), 1, text)
        for part in said:
            self.assertIn(part, text)


class Exports(Planted):
    FORMATS = {"chrome": "trace.json.gz", "perfetto": "trace.pftrace"}

    def test_links_and_pipes_under_the_name_of_an_export(self):
        """Replaced, not followed and not waited for."""
        done = self.run_it("/usr/bin/python3", "-c", "pass", options=("-o", "run"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for plant in ("link", "pipe", "device"):
            for to, name in self.FORMATS.items():
                path = os.path.join(self.folder, "run", name)
                if os.path.lexists(path):
                    os.unlink(path)
                if plant == "pipe":
                    os.mkfifo(path)
                else:
                    os.symlink(self.victim if plant == "link" else "/dev/full", path)
                done = self.proftrace("export", "run", "--to", to, timeout=60)
                with self.subTest(plant=plant, to=to):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assert_files(os.path.join("run", name))
                    self.assert_victim_is_untouched()
        self.assertEqual([name for name in os.listdir(os.path.join(self.folder, "run")) if name.endswith(".new")], [])

    def test_a_link_where_the_folder_of_an_export_is_to_go(self):
        story = "\n".join(["proftrace-text 1 start_realtime_ns=1705320000000000000",
                           "process 100 ppid=1 uid=0 start=0.000000000 end=10.000000000 state=exited exit_status=0 comm=train",
                           "thread 100/100 slot=0 life=1 start=0.000000000", '1.000000000 100/100 range_begin name="step"',
                           "2.000000000 100/100 range_end", ""])
        with open(os.path.join(self.folder, "story"), "w", encoding="utf-8") as file:
            file.write(story)
        os.mkdir(os.path.join(self.folder, "run"))
        elsewhere = self.folder_of(None, "elsewhere")
        self.assertEqual(self.proftrace("assemble", "story", "-o", "run").returncode, 0)
        os.symlink(elsewhere, os.path.join(self.folder, "run", "torch-traces"))
        done = self.proftrace("export", "run", "--to", "torch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(elsewhere), [])
        name, = os.listdir(os.path.join(self.folder, "run", "torch-traces"))
        self.assert_files(os.path.join("run", "torch-traces", name))
        done = self.proftrace("export", "run", "--to", "torch", "-o", "elsewhere")
        self.assertEqual((done.returncode, os.listdir(elsewhere)), (0, [name]), done.stderr)

    def test_a_pipe_that_the_user_names_is_written_into(self):
        self.assertEqual(self.run_it("true", options=("-o", "run")).returncode, 0)
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            done = self.proftrace("export", "run", "--to", "chrome", "-o", "pipe")
            self.assertEqual(done.returncode, 0, done.stderr)
            json.loads(reader.communicate()[0])
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))

    def test_the_run_of_another_user(self):
        """Its owner would choose what root writes; read it can be, and exported to where root says."""
        run = self.run_of(ONE, self.folder_of(ONE, "theirs"))
        for to, name in self.FORMATS.items():
            self.by(ONE, "ln", "-s", "/dev/full", os.path.join(run, name))
        before = sorted(os.listdir(run))
        for to in self.FORMATS:
            self.assert_refused(self.proftrace("export", run, "--to", to, timeout=60), "belongs to another user", "-o")
        self.assertEqual(self.proftrace("report", run).returncode, 0)
        self.assertEqual(sorted(os.listdir(run)), before, "a report leaves nothing there: no cache of symbols")
        done = self.proftrace("export", run, "--to", "chrome", "-o", "mine.json")
        self.assertEqual(done.returncode, 0, done.stderr)


class Reports(Planted):
    def test_a_link_where_a_report_is_to_go(self):
        """In a folder that all may write into, by any name that can be guessed."""
        self.assertEqual(self.run_it("true", options=("-o", "run")).returncode, 0)
        shared = self.folder_of(None, "shared", 0o777)
        for name in ("out.html.part", "out.html.new", "out.html"):
            os.symlink(self.victim, os.path.join(shared, name))
        done = self.proftrace("report", "run", "-f", "html", "-o", "shared/out.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_victim_is_untouched()
        self.assertFalse(os.path.islink(os.path.join(shared, "out.html")))

    def test_a_device_behind_the_link_of_another_user(self):
        """A user may say /dev/null; nobody else may say it for them."""
        self.assertEqual(self.run_it("true", options=("-o", "run")).returncode, 0)
        shared = self.folder_of(None, "shared", 0o777)
        self.by(ONE, "ln", "-s", "/dev/full", os.path.join(shared, "out.md"))
        for arguments in (("report", "run", "-f", "md"), ("export", "run", "--to", "chrome")):
            self.assertEqual(self.proftrace(*arguments, "-o", "shared/out.md").returncode, 0)
            self.assertTrue(stat.S_ISREG(os.lstat(os.path.join(shared, "out.md")).st_mode))
            self.by(ONE, "ln", "-sf", "/dev/full", os.path.join(shared, "out.md"))
        self.assertEqual(self.proftrace("report", "run", "-o", "/dev/null").returncode, 0)

    def test_the_run_directory_is_swapped(self):
        """Its parent belongs to somebody else, who puts a directory of theirs there while the command runs: with a trace of
        theirs, and links under the names of our reports."""
        proftrace, _ = self.programs()
        parent = self.folder_of(ONE, "parent", 0o777)
        theirs = self.run_of(ONE, self.folder_of(ONE, "theirs"))
        if not os.geteuid():
            os.chown(self.victim, TWO, TWO)
        with subprocess.Popen([proftrace, "run", "-o", "sub", "--", "/bin/sh", "-c", "until [ -e go ]; do sleep 0.1; done"], cwd=parent, user=TWO, group=TWO,
                              extra_groups=[], env=clean_environment(HOME="/"), stderr=subprocess.PIPE) as launcher:
            self.wait_for(lambda: os.path.exists(os.path.join(parent, "sub", "run.json")))
            time.sleep(0.3)
            names = " ".join(f"report.{form}{tail}" for form in ("json", "md", "html") for tail in ("", ".part", ".new"))
            done = self.by(ONE, "sh", "-c", f"cd {parent} && mv sub s && mkdir -m 777 sub && cp {theirs}/*.pt? sub && chmod 644 sub/*.pt? && "
                           f"for name in {names}; do ln -s {self.victim} sub/$name; done")
            open(os.path.join(parent, "go"), "wb").close()
            self.assertEqual(done.returncode, 0, done.stderr)
            said = launcher.communicate()[1].decode()
        self.assert_victim_is_untouched()
        self.assertIn("somebody moved", said)
        self.assertTrue(all(os.path.islink(os.path.join(parent, "sub", name)) for name in names.split()))

    def test_copies_of_the_reports(self):
        """--report-dir and its names."""
        shared = self.folder_of(None, "shared", 0o777)
        for name in ("report.json", "report.json.part", "report.html.part"):
            os.symlink(self.victim, os.path.join(shared, name))
        os.mkfifo(os.path.join(shared, "report.md"))
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [{"stage": "one", "cmd": ["true"]}]}}, file)
        done = self.proftrace("pipeline", "--config", "config.json", "--report-dir", "shared")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_victim_is_untouched()
        for name in "report.json", "report.md", "report.html":
            status = os.lstat(os.path.join(shared, name))
            self.assertTrue(stat.S_ISREG(status.st_mode), name)
            self.assertEqual(status.st_mode & 0o022, 0, name)


class Latest(Planted):
    def shared_root(self):
        return self.folder_of(None, "shared", 0o1777)

    def test_a_directory_under_that_name(self):
        """The launcher says that it stands in the way; a report does not take it for ours."""
        root = self.shared_root()
        self.by(ONE, "mkdir", os.path.join(root, "latest"))
        environment = {"PROFTRACE_DIR": root}
        done = self.proftrace("run", "--", "true", environment=environment)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"/latest could not be made to lead to this run: Is a directory", done.stderr)
        self.assert_refused(self.proftrace("report", environment=environment), "/latest", "name a run")
        for command in ("info", "stats", "dump"):
            self.assert_refused(self.proftrace(command, root), "/latest", "name a run")
        run = max(name for name in os.listdir(root) if name != "latest")
        self.assertEqual(self.proftrace("report", run, environment=environment).returncode, 0)

    def test_a_link_of_another_user_and_a_forged_run(self):
        root = self.shared_root()
        theirs = self.run_of(ONE, self.folder_of(ONE, "theirs"))
        self.by(ONE, "ln", "-s", theirs, os.path.join(root, "latest"))
        for command in ("report", "info", "stats", "dump"):
            self.assert_refused(self.proftrace(command, environment={"PROFTRACE_DIR": root}), "belongs to another user", "name a run")
        self.assert_refused(self.proftrace("export", "--to", "chrome", environment={"PROFTRACE_DIR": root}), "belongs to another user")
        self.assertEqual(self.proftrace("info", theirs).returncode, 0, "named, it is read")

    def test_our_link_to_the_run_of_another_user(self):
        root = self.shared_root()
        theirs = self.run_of(ONE, self.folder_of(ONE, "theirs"))
        os.symlink(theirs, os.path.join(root, "latest"))
        self.assert_refused(self.proftrace("report", environment={"PROFTRACE_DIR": root}), "belongs to another user")

    def test_ours_takes_the_place_of_a_link(self):
        root = self.shared_root()
        self.by(ONE, "ln", "-s", "/", os.path.join(root, "latest"))
        environment = {"PROFTRACE_DIR": root}
        done = self.proftrace("run", "--", "true", environment=environment)
        self.assertNotIn(b"could not be made", done.stderr)
        self.assertEqual(self.proftrace("report", environment=environment).returncode, 0)


if __name__ == "__main__":
    unittest.main()
