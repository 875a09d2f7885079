# SPDX-License-Identifier: MIT
"""What a run directory holds, as `proftrace info --json` and `proftrace dump --json` tell it."""
import collections
import contextlib
import json
import os
import re
import subprocess

ALLOCATIONS = {"heap_malloc", "heap_calloc", "heap_realloc", "heap_memalign"}
RELEASES = {"heap_free", "heap_realloc_free"}
HEAP_LINE = re.compile(rb'"tid":(\d+),"process":(\d+),"event":"(heap_(?:m|c|re)alloc|heap_memalign|heap_free|heap_realloc_free)",'
                       rb'"addr":(\d+)(?:,"size_bytes":(\d+))?')


class Trace:
    """One run. Totals come from info, stats and report, single events from dump; each is read when it is asked for."""

    def __init__(self, proftrace, run):
        self.proftrace = proftrace
        self.run = os.path.realpath(run)
        self._info = self._report = self._rows = None
        self._counted = {}

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
                        self._rows[row["call"], column] += row[column] or 0  # null: in other rows
        return self._rows[re.sub("^(io|meta)_", "", event), what]

    def heap(self, what):
        return sum(process["heap"][what] or 0 for process in self.report()["processes"])

    def io(self, what, column="calls"):
        """The report's sums of descriptor calls: open, read, write, stat."""
        return sum(process["io"][what][column] for process in self.report()["processes"])

    @contextlib.contextmanager
    def _dump(self):
        command = [self.proftrace, "dump", self.run, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD="")) as dump:
            yield dump.stdout
            dump.stdout.read()
        if dump.returncode:
            raise AssertionError(f"proftrace dump: exit {dump.returncode}")

    def events(self, wanted=None):
        """Every event as a dictionary; `wanted` is a regular expression that its line must contain."""
        pattern = re.compile(wanted.encode()) if wanted else None
        with self._dump() as lines:
            for line in lines:
                if not pattern or pattern.search(line):
                    yield json.loads(line)

    def heap_events(self):
        """(process, thread, event, address, size or None) of every heap unit, fast."""
        with self._dump() as lines:
            for line in lines:
                match = HEAP_LINE.search(line)
                if match:
                    size = match[5]
                    yield int(match[2]), int(match[1]), match[3].decode(), int(match[4]), int(size) if size else None

    def tally(self, keys):
        """Count everything that the keys ask of single events, in one pass; `value` finds the results."""
        sizes = {int(key[5:]) for key in keys if key.startswith("size:")}
        live = {int(key[12:]) for key in keys if key.startswith("live_at_end:")}
        if sizes or live:
            self._tally_heap(sizes, live)
        for key in keys:
            if key.startswith("fd_path:"):
                ending, name = key[8:].rsplit(":", 1)
                self._counted[key] = sum(event["event"] == name and str(event.get("path", "")).endswith(ending)
                                         for event in self.events(f'"{name}"'))
            if key.startswith("offset_is_ten_pids:"):
                name = key.split(":")[1]
                self._counted[key] = sum(event["offset_bytes"] == event["pid"] * 10 for event in self.events(f'"{name}"'))

    def _tally_heap(self, sizes, live):
        balance, marked, allocated = collections.Counter(), {}, collections.Counter()
        for process, _, event, address, size in self.heap_events():
            if event in ALLOCATIONS:
                allocated[size] += 1
                if live:
                    balance[process, address] += 1
                    marked[process, address] = size
            elif live and event in RELEASES:
                balance[process, address] -= 1
        for size in sizes:
            self._counted[f"size:{size}"] = allocated[size]
        for size in live:
            self._counted[f"live_at_end:{size}"] = sum(balance[key] > 0 for key, last in marked.items() if last == size)

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
        if ":" in key:
            if key not in self._counted:
                self.tally([key])
            return self._counted[key]
        name, _, what = key.partition(".")
        return self.calls(name, what or "calls")
