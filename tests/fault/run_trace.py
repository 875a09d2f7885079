# SPDX-License-Identifier: MIT
"""What a run directory holds, as `proftrace info --json` and `proftrace dump --json` tell it."""
import collections
import json
import os
import re
import subprocess

ALLOCATIONS = {"heap_malloc", "heap_calloc", "heap_realloc", "heap_memalign"}
RELEASES = {"heap_free", "heap_realloc_free"}


class Trace:
    """One run. Totals come from info, single events from dump; both are read once."""

    def __init__(self, proftrace, run):
        self.proftrace = proftrace
        self.run = os.path.realpath(run)
        self._info = self._report = self._rows = None

    def _tool(self, *arguments):
        done = subprocess.run([self.proftrace, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                              env=dict(os.environ, LD_PRELOAD=""), check=False)
        if done.returncode:
            raise AssertionError(f"proftrace {' '.join(arguments)}: exit {done.returncode}\n{done.stderr.decode()}")
        return done.stdout

    def info(self):
        """What was captured, from headers and totals alone."""
        if self._info is None:
            self._info = json.loads(self._tool("info", self.run, "--json"))
        return self._info

    def report(self):
        """The whole report; reads every event."""
        if self._report is None:
            self._report = json.loads(self._tool("report", self.run, "--format", "json"))
        return self._report

    def processes(self):
        return self.info()["processes"]

    def files(self):
        return sorted(name for name in os.listdir(self.run) if name.endswith(".ptr"))

    def lost(self):
        """Events that were not stored, were overwritten or are damaged, in every process."""
        events = self.info()["events"]
        return events["overwritten"] + events["dropped"] + events["damaged"]

    def calls(self, event, what="calls"):
        """Totals of one row of events.def, over all processes."""
        if self._rows is None:
            self._rows = collections.Counter()
            stats = json.loads(self._tool("stats", self.run, "--by", "call", "--top", "1000", "--json"))
            for stage in stats["stages"]:
                for row in stage["calls"]:
                    for column in ("calls", "errors", "bytes"):
                        self._rows[row["call"], column] += row[column]
        return self._rows[re.sub("^(io|meta)_", "", event), what]

    def heap(self, what):
        return sum(process["heap"][what] or 0 for process in self.report()["processes"])

    def io(self, what, column="calls"):
        """The report's sums of descriptor calls: open, read, write, stat."""
        return sum(process["io"][what][column] for process in self.report()["processes"])

    def events(self, wanted=None):
        """Every event as a dictionary; `wanted` is a regular expression that its line must contain."""
        pattern = re.compile(wanted.encode()) if wanted else None
        command = [self.proftrace, "dump", self.run, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD="")) as dump:
            for line in dump.stdout:
                if not pattern or pattern.search(line):
                    yield json.loads(line)
        if dump.returncode:
            raise AssertionError(f"proftrace dump: exit {dump.returncode}")

    def allocations_of(self, size):
        return sum(event["event"] in ALLOCATIONS for event in self.events(f'"size_bytes": ?{size}\\b'))

    def live_at_end(self, size):
        """Blocks of one size that were never released: allocations less releases by address, in each process."""
        live, marked = collections.Counter(), set()
        for event in self.events('"heap_'):
            key = event["pid"], event["addr"]
            if event["event"] in ALLOCATIONS:
                marked.discard(key)
                live[key] += 1
                if event["size_bytes"] == size:
                    marked.add(key)
            elif event["event"] in RELEASES:
                live[key] -= 1
        return sum(live[key] > 0 for key in marked)

    def events_on_path(self, name, ending):
        return sum(event["event"] == name and str(event.get("path", "")).endswith(ending)
                   for event in self.events(f'"{name}"'))

    def offsets_are_ten_pids(self, name):
        return sum(event["offset_bytes"] == event["pid"] * 10 for event in self.events(f'"{name}"'))

    def value(self, key):
        """The number behind the KEY of a host's "trace:" line (host.h lists them)."""
        if "+" in key:
            return sum(self.value(part) for part in key.split("+"))
        if key == "processes":
            return len(self.processes())
        if key == "lost":
            return self.lost()
        if key.startswith("heap."):
            return self.heap(key[5:])
        if key.startswith("size:"):
            return self.allocations_of(int(key[5:]))
        if key.startswith("live_at_end:"):
            return self.live_at_end(int(key[12:]))
        if key.startswith("fd_path:"):
            ending, name = key[8:].rsplit(":", 1)
            return self.events_on_path(name, ending)
        if key.startswith("offset_is_ten_pids:"):
            return self.offsets_are_ten_pids(key.split(":")[1])
        name, _, what = key.partition(".")
        return self.calls(name, what or "calls")
