# SPDX-License-Identifier: MIT
"""Whom the main thread waits for, by name, and what those did meanwhile: holders of locks, threads that are joined."""
import json
import os
import re

from cpu_case import HERE, CpuCase, main


class Locks(CpuCase):
    def test_holder_and_joined_thread_have_names_and_places(self):
        self.best_of_three(self.check_names_and_places)

    def check_names_and_places(self):
        run, _, _ = self.run_it(self.lock, "3")
        report = self.report(run)
        stage = report["stages"][0]
        lock = next(row for row in stage["locks"] if row["lock"].startswith("mutex"))
        self.assertRegex(lock["holder"], r"^keeper \(thread \d+\)$")
        self.assertRegex(lock["holder_in"], r"^burn_while_held \(lock\.c:\d+\) \d+ %$")
        mean_s = lock["total_s"] / lock["waits"]  # at least 0.12 s, more on a busy machine
        self.assertAlmostEqual(lock["p50_s"], mean_s, delta=0.5 * mean_s)
        self.assertLessEqual(lock["p50_s"], lock["p95_s"])
        self.assertLessEqual(lock["p99_s"], lock["longest_s"])
        waits = {row["waited_for"].split()[0]: row for row in stage["waits"]}
        keeper, sleeper = waits["keeper"], waits["sleeper"]
        # Two thirds of what it did; on a busy machine it queued for a CPU besides.
        self.assertGreater(int(lock["holder_in"].split()[-2]), 50 * (1 - keeper["runnable_s"] / keeper["total_s"]))
        self.assertAlmostEqual(keeper["total_s"], lock["total_s"], delta=0.1)
        self.assertGreater(keeper["sleep_s"], 0.8)
        self.assertGreater(keeper["native_s"] + keeper["runnable_s"], 1.5)
        self.assertAlmostEqual(sleeper["total_s"], 1.5, delta=0.4)
        self.assertAlmostEqual(sleeper["sleep_s"], sleeper["total_s"], delta=0.1)
        self.assertTrue(sleeper["mostly"].startswith("Sleep"), sleeper)
        self.check_finding(run, report)
        self.check_lines(run)

    def line_of(self, text):
        with open(os.path.join(HERE, "lock.c"), encoding="utf-8") as source:
            return next(n for n, line in enumerate(source, 1) if line == text + "\n")

    def check_lines(self, run):
        """One function waits in several lines: each wait has its own, not that which was met first."""
        rows = json.loads(self.ask("stats", "--by", "stack", "--top", "1000", "--json", run))["stages"][0]["off_cpu_stacks"]
        waited = {}
        for row in rows:
            found = re.match(r"main \(lock\.c:(\d+)\)", row["stack"] or "")
            if found and row["reason"] == "Locks":
                waited[int(found[1])] = waited.get(int(found[1]), 0) + row["main_s"]
        self.assertGreater(waited[self.line_of("    pthread_join(sleeper, NULL);")], 1, waited)
        self.assertGreater(waited[self.line_of("        pthread_mutex_lock(&lock); // in main")], 2, waited)

    def check_finding(self, run, report):
        """Where the lock is waited for, not where its holder is joined; and who holds it where."""
        finding = next(finding for finding in report["findings"] if finding["rule"] == "lock_convoy")
        place = finding["place"]
        line = self.line_of("        pthread_mutex_lock(&lock); // in main")
        self.assertEqual((place["function"], os.path.basename(place["file"]), place["line"], place["module"], place["language"]),
                         ("main", "lock.c", line, self.lock, "native"))
        number = report["findings"].index(finding) + 1
        # Others wait a little, too: the keeper for the main thread, the longer the busier the machine.
        self.assertRegex(" ".join(self.ask("report", "--finding", str(number), run).split()),
                         rf"main \(lock\.c:{line}\)(, 9\d % of that time of all threads)?; mutex held in burn_while_held .*, by keeper \(thread \d+\): 0x[0-9a-f]+")


if __name__ == "__main__":
    main()
