# SPDX-License-Identifier: MIT
"""--to pprof: a reader of profile.proto, written from its definition alone, finds the samples and times that --to collapsed has; and
`go tool pprof`, where it is installed, finds the functions and times of the report."""
import collections
import gzip
import os
import re
import shutil
import subprocess

from cpu_case import CpuCase, main

PROGRAM = """
import threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def rest():
    began = time.monotonic()
    time.sleep(0.2)
    print(time.monotonic() - began)
other = threading.Thread(target=burn, args=(0.3,))
other.start()
burn(0.5)
other.join()
rest()
"""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """{field: [number or bytes]}"""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, tag
            length, at = varint(data, at)
            assert at + length <= len(data)
            value, at = data[at:at + length], at + length
        found[tag >> 3].append(value)
    return found


class Profile:
    """samples: [(functions, innermost first; values; labels)]"""

    def __init__(self, path):
        with gzip.open(path) as file:
            whole = fields(file.read())
        self.texts = [text.decode() for text in whole[6]]
        assert self.texts[0] == "" and len(set(self.texts)) == len(self.texts)
        self.types = [tuple(self.texts[fields(one)[i][0]] for i in (1, 2)) for one in whole[1]]
        functions = {}
        for one in map(fields, whole[5]):
            assert one[1][0] not in functions
            functions[one[1][0]] = (self.texts[one[2][0]], self.texts[one[4][0]])
        self.locations = {}
        for one in map(fields, whole[4]):
            line = fields(one[4][0])
            self.locations[one[1][0]] = (*functions[line[1][0]], line[2][0])
        self.samples = []
        for one in map(fields, whole[2]):
            labels = {self.texts[label[1][0]]: self.texts[label[2][0]] if 2 in label else label[3][0] for label in map(fields, one[3])}
            self.samples.append(([self.locations[i] for i in one[1]], one[2], labels))


class Pprof(CpuCase):
    def exported(self, run, *options):
        path = os.path.join(self.folder, "x.pb.gz")
        self.ask("export", "--to", "pprof", *options, "-o", path, run)
        return Profile(path), path

    def test_the_samples_are_those_of_collapsed(self):
        run, _, _ = self.run_it("/usr/bin/python3", "-c", PROGRAM)
        profile, path = self.exported(run)
        self.assertEqual(profile.types, [("samples", "count"), ("cpu", "nanoseconds")])
        lines = self.ask("export", "--to", "collapsed", "-o", "-", run).splitlines()
        self.assertEqual(sum(values[0] for _, values, _ in profile.samples), sum(int(line.rsplit(" ", 1)[1]) for line in lines))
        stacks = collections.Counter()
        for line in lines:
            stack, count = line.rsplit(" ", 1)
            stacks[tuple(re.sub(r" \([^()]*:\d+\)$", "", name) for name in stack.split(";")[2:])] += int(count)
        ours = collections.Counter()
        for frames, values, _ in profile.samples:
            ours[tuple(name.replace(";", ":") for name, _, _ in reversed(frames))] += values[0]
        self.assertEqual(ours, stacks)
        burn_s = sum(values[1] for frames, values, _ in profile.samples if frames and any(name == "burn" for name, _, _ in frames)) / 1e9
        self.assertAlmostEqual(burn_s, self.functions(run)["burn"]["total_s"], delta=0.02)
        self.assertEqual(len({labels["tid"] for _, _, labels in profile.samples if "tid" in labels}) >= 2, True)
        self.check_go(path, burn_s)

    def check_go(self, path, burn_s):
        if not shutil.which("go"):
            return
        said = subprocess.run(["go", "tool", "pprof", "-top", "-cum", "-unit=s", path], capture_output=True, text=True, timeout=100, check=True).stdout
        row = next(line.split() for line in said.splitlines() if line.endswith(" burn"))
        self.assertAlmostEqual(float(row[3].rstrip("s")), burn_s, delta=0.01)

    def test_waits_have_their_reason(self):
        run, _, said = self.run_it("/usr/bin/python3", "-c", PROGRAM)
        profile, _ = self.exported(run, "--off-cpu")
        self.assertEqual(profile.types, [("waits", "count"), ("wait", "nanoseconds")])
        slept = [values[1] for frames, values, labels in profile.samples if labels["reason"] == "Sleep"]
        self.assertGreater(sum(slept) / 1e9, 0.19)
        self.assertLess(sum(slept) / 1e9, float(said) + 0.01)
        self.assertTrue(all(frames[0][0] == f"[{labels['reason']}]" for frames, _, labels in profile.samples))

    def test_the_same_run_gives_the_same_bytes(self):
        run, _, _ = self.run_it("/usr/bin/python3", "-c", PROGRAM)
        paths = [os.path.join(self.folder, f"{i}.pb.gz") for i in range(2)]
        for path in paths:
            self.ask("export", "--to", "pprof", "-o", path, run)
        with open(paths[0], "rb") as first, open(paths[1], "rb") as second:
            self.assertEqual(first.read(), second.read())


if __name__ == "__main__":
    main()
