# SPDX-License-Identifier: MIT
"""Counts are true: calls and bytes of real programs equal what strace saw in the same run.

Method: the traced program runs under `strace -f -k` (strace itself is not traced: it sets the preload for its child with -E). One run
gives both numbers, so that nothing that differs from run to run (temporary names, timing, threads) can hide or fake a
difference. strace_log.py says which system calls are public: made by the program through one function of libc. A public call that we do
not hook (a missing alias) is there as well: libc's single frame then stands right below the program. Differences must be zero.
"""
import collections
import os

import strace_log
from harness import FaultCase, SETTINGS, clean_environment, run_command

ROWS = {
    "open": ("io_open",),
    "read": ("io_read", "io_pread", "io_readv", "io_preadv"),
    "write": ("io_write", "io_pwrite", "io_writev", "io_pwritev"),
    "stat": ("meta_stat",),
    "poll": ("wait_poll",),
    "sleep": ("wait_sleep",),
    "signal": ("wait_signal",),
    "child": ("wait_child",),
    "socket": ("net_socket",),
    "connect": ("net_connect",),
    "accept": ("net_accept",),
    "setup": ("net_setup",),
    "receive": ("net_receive",),
    "send": ("net_send",),
}


class StraceCase(FaultCase):
    """Base of the tests that let strace be the judge."""

    def compare(self, command, setup=None, mode="sampled", seen=("read",), before_us=None):
        """Run, count, compare; `seen` are the classes without which the program would prove nothing,
        `before_us` is in calls that a library makes when it is initialised, which may be before us."""
        self.need("strace", command[0])
        log = os.path.join(self.scratch, "strace.log")
        environment = self.preload_environment(clean_environment(HOME=self.work, PYTHONDONTWRITEBYTECODE=1), mode)
        preload = environment.pop("LD_PRELOAD")
        self.fresh_work(setup)
        traced = ["strace", "-f", "-k", "-qq", "-e", "signal=none", "-e", f"trace={strace_log.CALLS}", "-o", log,
                  "-E", f"LD_PRELOAD={preload}", *command]
        result = run_command(traced, self.work, environment, timeout=200)
        if b"PTRACE" in result.err or b"not permitted" in result.err:
            self.skipTest("ptrace is not allowed here")
        self.assertEqual(result.status, 0, result.err.decode(errors="replace"))
        calls = [call for call in strace_log.read(log, os.path.basename(SETTINGS.lib)) if not before_us or before_us not in call.text]
        theirs = strace_log.sums(calls)
        trace = self.trace()
        self.assertIsNotNone(trace)
        ours = {name: {"calls": sum(map(trace.calls, rows)),
                       "bytes": sum(trace.calls(row, "bytes") for row in rows) if name in strace_log.MOVES_BYTES else 0}
                for name, rows in ROWS.items()}
        self.assertEqual(ours["read"]["calls"], trace.io("read"), "the report and the totals")
        for name in seen:
            self.assertGreater(theirs[name]["calls"], 0, f"strace saw no public call of {name}")
        self.assertEqual(ours, theirs, self.explain(trace, calls))
        self.assertEqual(trace.lost(), 0)

    def explain(self, trace, calls):
        """Which threads and functions differ, for whoever has to find the cause."""
        theirs, ours = collections.Counter(), collections.Counter()
        for call in calls:
            if call.public:
                theirs[call.tid, strace_log.CLASS_OF[call.name]] += 1
        row_class = {row: name for name, rows in ROWS.items() for row in rows}
        for event in trace.events('"(io|meta|wait|net)_'):
            if event["event"] in row_class:
                ours[event["tid"], row_class[event["event"]]] += 1
        lines = ["(thread, class): strace, proftrace"]
        differing = [key for key in set(theirs) | set(ours) if theirs[key] != ours[key]]
        lines += [f"{key}: {theirs[key]}, {ours[key]}" for key in sorted(differing)]
        lines += [f"{call.text[:100]} = {call.result}  {call.symbols} from {call.caller}" for call in calls
                  if call.public and (call.tid, strace_log.CLASS_OF[call.name]) in differing][:60]
        return "\n".join(lines)
