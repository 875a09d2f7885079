#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py [--build DIR] [--lib FILE] [--proftrace FILE] [--slow] [--keep] [--baseline] [-k NAME] [MODULE...]

The fault tests: every hostile host with and without the library. MODULE is a file of this folder without .py; left out, all
of them but the long ones. -k runs the tests whose name contains NAME. --keep leaves working folders and traces.
--baseline runs everything without the library both times: what fails then is not ours.
"""
import argparse
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "truth"))
import harness  # noqa: E402

MODULES = ["heap_faults", "real_heap_faults", "signal_faults", "real_signal_faults", "storage_faults", "account_faults", "memory_faults", "rights_faults",
           "process_faults", "descriptor_faults", "network_faults",
           "lock_faults", "start_faults", "debugger_faults", "state_diff", "kill_faults", "long_run_faults", "small_faults", "real_faults"]
SLOW_MODULES = ["transparency", "strace_truth", "network_truth", "wait_truth", "heap_truth", "directory_truth"]


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--build", default=harness.SETTINGS.build)
    parser.add_argument("--lib", default="")
    parser.add_argument("--proftrace", default="")
    parser.add_argument("--hosts", default="")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--baseline", action="store_true")
    parser.add_argument("-k", dest="pattern", action="append", default=[])
    return parser.parse_args()


def main():
    options = parse()
    settings = harness.SETTINGS
    for name in ("build", "lib", "proftrace", "hosts", "slow", "keep", "baseline"):
        setattr(settings, name, getattr(options, name))
    settings.complete()
    for path in (settings.lib, settings.proftrace):
        if not settings.baseline and not os.path.exists(path):
            print(f"run.py: {path} is missing; build first, or name another --build", file=sys.stderr)
            return 2
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in options.pattern] or None
    suite = loader.loadTestsFromNames(options.modules or MODULES + (SLOW_MODULES if settings.slow else []))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
