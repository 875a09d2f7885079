# SPDX-License-Identifier: MIT
"""Files have their true names, wherever the program has gone meanwhile: it says itself, for each file that it writes, where that is."""
import json
import subprocess
import sys

from harness import SETTINGS, FaultCase, clean_environment, run_command

PROGRAM = r"""
import ctypes, os, subprocess, threading
sizes = iter(range(1000, 2000))
def said(path, size):
    print(os.path.realpath(path), size, flush=True)
def write(name, fd=None):
    size = next(sizes)
    to = os.open(name, os.O_CREAT | os.O_WRONLY) if fd is None else fd
    os.write(to, b"x" * size)
    said(f"/proc/self/fd/{to}", size)
    if fd is None: os.close(to)
    return size
def in_child(function):
    child = os.fork()
    if child == 0:
        function()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
start = os.open(".", os.O_RDONLY)
os.makedirs("a/deep/er"); os.mkdir("b")
write("at_start"); kept = os.open("kept", os.O_CREAT | os.O_WRONLY); write("", kept)
in_child(lambda: write("of_an_early_child"))
in_child(lambda: (os.chdir("b"), write("of_a_child_that_moved")))
write("still_at_start")
os.chdir("a")
write("in_a"); write("deep/../in_a_too"); write("./deep/in_deep"); write(os.path.abspath("absolute")); write("at_start")
write("", kept)
in_child(lambda: (write("of_a_child"), write("", kept), os.chdir("deep"), write("of_a_child_deeper"), os.fchdir(start), write("of_a_child_back")))
subprocess.run(["sh", "-c", "echo of a shell > of_sh"], cwd="deep", close_fds=False, check=True); said("deep/of_sh", 11)  # a vfork child has gone there
subprocess.run(["sh", "-c", "cd er; echo of a shell that moved > of_sh"], cwd="deep", check=True); said("deep/er/of_sh", 22)
write("in_a_after_others")
threading.Thread(target=lambda: (os.chdir("deep"), write("of_a_thread"))).start()
for thread in threading.enumerate():
    if thread is not threading.current_thread(): thread.join()
write("in_deep_after_a_thread")
try: os.chdir("nowhere")
except FileNotFoundError: pass
write("not_nowhere")
os.fchdir(start); write("back"); write("at_start")
ctypes.CDLL(None).syscall(80, b"a"); write("by_its_number")  # chdir
fd = os.open("deep", os.O_RDONLY); of_dir = os.open("of_dir", os.O_CREAT | os.O_WRONLY, dir_fd=fd); write("", of_dir)
os.rename("in_a", "renamed"); os.symlink("../b", "link")
os.chdir("link"); write("behind_a_link")
"""


class DirectoryTruth(FaultCase):
    maxDiff = None

    def test_names_of_files(self):
        for mode in ("sampled", "full"):
            with self.subTest(mode=mode):
                self.fresh_work()
                done = run_command(["/usr/bin/python3", "-S", "-c", PROGRAM], self.work, self.preload_environment(clean_environment(), mode))
                self.assertEqual((done.status, done.err), (0, b""))
                said = {}
                for line in done.out.decode().splitlines():
                    path, size = line.rsplit(" ", 1)
                    said[path] = said.get(path, 0) + int(size)
                self.assertGreater(len(said), 20)
                files = {row["path"]: row["written_bytes"] for row in self.trace().report()["stages"][0]["files"] if row["written_bytes"]}
                files.pop("(pipes)")  # what it said
                self.assertEqual(files, said)
                renamed = [event for event in self.events() if event.get("event") == "meta_rename"]
                self.assertEqual([(event["path"], event["to_path"]) for event in renamed], [(f"{self.work}/a/in_a", f"{self.work}/a/renamed")])

    def events(self):
        done = subprocess.run([SETTINGS.proftrace, "dump", "--json", self.trace().run], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit("run by tests/fault/run.py")
