# SPDX-License-Identifier: MIT
"""--to openmetrics: promtool accepts it, and each figure is the report's."""
import datetime
import json
import os
import re
import shutil
import subprocess
import unittest

from export_case import SOURCE, STAGE, ExportCase, main

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)+)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


class OpenMetrics(ExportCase):
    def samples(self):
        """{(name, labels without the stage): value}"""
        path, _ = self.export("openmetrics")
        with open(path, encoding="utf-8", newline="\n") as file:
            lines = file.read().split("\n")
        self.assertEqual(lines[-2:], ["# EOF", ""])
        found, typed = {}, []
        for line in lines[:-2]:
            if line.startswith("# TYPE "):
                typed.append(line.split()[2])
                self.assertEqual(line.split()[3], "gauge")
            if line.startswith("#"):
                continue
            name, labels, value = SAMPLE.fullmatch(line).groups()
            self.assertEqual(name, typed[-1], "samples stand below their own family")
            labels = {key: re.sub(r"\\(.)", r"\1", text) for key, text in LABEL.findall(labels or "")}
            self.assertEqual(labels.pop("stage", STAGE), STAGE)
            key = name.removeprefix("proftrace_"), *labels.values()
            self.assertNotIn(key, found)
            found[key] = float(value)
        self.assertEqual(len(typed), len(set(typed)))
        return found

    def test_figures_are_the_reports(self):
        found, (stage,) = self.samples(), self.report["stages"]
        quality = self.report["trace_quality"]
        self.assertAlmostEqual(found.get(("run_duration_seconds",)), self.report["total_duration_s"], places=5)
        self.assertEqual(found.get(("run_events", "recorded")), quality["events"])
        self.assertEqual([found.get(("stage_status", status)) for status in ("ok", "failed", "skipped", "timeout", "running")], [1, 0, 0, 0, 0])
        self.assertAlmostEqual(found.get(("stage_duration_seconds",)), stage["duration_s"], places=5)
        self.assertAlmostEqual(found.get(("stage_cpu_seconds",)), stage["cpu_s"], places=5)
        self.assertAlmostEqual(found.get(("stage_cpu_ratio",)), stage["cpu_percent_avg"] / 100, places=3)
        self.assertAlmostEqual(found.get(("stage_memory_peak_bytes",)), stage["rss_mb_max"] * 1048576, delta=1e5)
        self.assertEqual(found.get(("stage_heap_allocations",)), sum(process["heap"]["allocs"] for process in self.report["processes"]))
        self.assertAlmostEqual(found[("run_start_timestamp_seconds",)], datetime.datetime.fromisoformat(self.report["timestamp_utc"].replace("Z", "+00:00")).timestamp(), delta=1.5)
        for call in ("open", "read", "write", "copy", "stat"):
            none = {"calls": 0, "errors": 0, "seconds": 0}  # few programs make copies within the kernel
            of_call = [process["io"].get(call, none) for process in self.report["processes"]]
            if not any(one["calls"] for one in of_call):
                self.assertNotIn(("stage_calls", call), found)
                continue
            self.assertEqual(found["stage_calls", call], sum(one["calls"] for one in of_call))
            self.assertEqual(found["stage_call_bytes", call], sum(one.get("bytes", 0) for one in of_call))
            self.assertEqual(found["stage_call_errors", call], sum(one["errors"] for one in of_call))
            self.assertAlmostEqual(found["stage_call_seconds", call], sum(one["seconds"] for one in of_call), delta=2e-6)

    def test_the_parts_of_the_time_add_up(self):
        parts = {key[1]: value for key, value in self.samples().items() if key[0] == "stage_time_seconds"}
        time = self.report["stages"][0]["time"]
        for part, value in parts.items():
            self.assertAlmostEqual(value, time[part], delta=2e-6)
        self.assertAlmostEqual(sum(parts.values()), time["wall_s"], delta=1e-4)

    def test_a_stage_that_there_is_not(self):
        """Figures without it would say that all is well, and replace good ones."""
        for kind in ("openmetrics", "junit"):
            path, _ = self.export(kind, "--stage", "trian", code=2)
            self.assertIn("the run has no stage trian", self.said)
            self.assertFalse(os.path.exists(path))

    def test_what_is_unknown_has_no_line(self):
        found, (stage,) = self.samples(), self.report["stages"]
        self.assertIsNone(stage["gpu_util_percent_avg"])
        self.assertNotIn(("stage_gpu_utilization_ratio",), found)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian package prometheus)")
    def test_promtool_accepts_it(self):
        path, _ = self.export("openmetrics")
        with open(path, "rb") as file:
            done = subprocess.run(["promtool", "check", "metrics"], stdin=file, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian package prometheus)")
    def test_the_alerts_of_the_documentation_are_rules(self):
        text = (SOURCE / "docs" / "monitoring.md").read_text(encoding="utf-8")
        alerts = re.search(r"(?s)Alert when.*?```\n(.*?)```", text)[1].splitlines()
        rules = {"groups": [{"name": "proftrace", "rules": [{"alert": f"a{i}", "expr": alert} for i, alert in enumerate(alerts)]}]}
        path = os.path.join(self.folder, "rules.yml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(rules, file)
        done = subprocess.run(["promtool", "check", "rules", path], capture_output=True, timeout=60)
        self.assertEqual((len(alerts), done.returncode), (2, 0), done)
        path, _ = self.export("openmetrics")
        with open(path, encoding="utf-8") as file:
            known = set(re.findall(r"(?m)^# TYPE (\S+)", file.read()))
        self.assertLessEqual(set(re.findall(r"proftrace_\w+", "".join(alerts))), known)


if __name__ == "__main__":
    main()
