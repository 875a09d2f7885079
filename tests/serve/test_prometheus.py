#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real Prometheus scrapes `proftrace serve`: promtool accepts metrics and rules, and each query of the dashboard has what the run did."""
import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from serve_case import PROFTRACE, ServeCase, environment

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "preload/python"
PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/monitoring"
TRAIN = """
import torch
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i):
        open("/etc/hostname").read()
        return torch.ones(4)
model = torch.nn.Linear(4, 1); optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x in torch.utils.data.DataLoader(Numbers(), batch_size=8):
    optimizer.zero_grad(); model(x).mean().backward(); optimizer.step()
"""
# Then it answers requests, some of which are slower than promised; what it knows of them itself goes to its output.
REQUESTS = """
import json, time, proftrace
requests = proftrace.RequestProfiler(sla_s=0.04)
for i in range(100):
    with requests.profile_request():
        time.sleep(0.08 if i in (10, 20, 30) else 0.005)
print(json.dumps(requests.generate_hourly_report()))
"""


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"), "needs prometheus")
class Prometheus(ServeCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        said = cls.record("train", "/usr/bin/python3", "-c", TRAIN + REQUESTS, PYTHONPATH=str(PACKAGE))
        cls.requests = json.loads(said.splitlines()[-1])

    def test_promtool_accepts_metrics_and_rules(self):
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.page("/metrics"), capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
        subprocess.run(["promtool", "check", "rules", PAGES / "alerts.yml"], capture_output=True, check=True, timeout=60)

    def test_alerts_fire_and_are_silent(self):
        def series(text, values):
            return {"series": text, "values": values}
        bad = [series('proftrace_stage_status{stage="train",status="timeout"}', "1x20"), series('proftrace_training_data_ratio{stage="train"}', "0.5x20"),
               series('proftrace_run_events{state="dropped",instance="a"}', "7x20"), series('proftrace_stage_duration_seconds{stage="train"}', "100x10 200x9")]
        good = [series('proftrace_stage_status{stage="train",status="timeout"}', "0x20"), series('proftrace_training_data_ratio{stage="train"}', "0.1x20"),
                series('proftrace_run_events{state="dropped",instance="a"}', "0x20"), series('proftrace_stage_duration_seconds{stage="train"}', "100x20")]
        names = ["StageDidNotEndWell", "TrainingWaitsForData", "TraceIsIncomplete", "StageSlowerThanLastWeek"]
        for inputs, fires in (bad, True), (good, False):
            file = self.folder / "test.json"  # YAML is a superset of JSON
            file.write_text(json.dumps({"rule_files": [str(PAGES / "alerts.yml")], "tests": [{"interval": "1m", "input_series": inputs, "promql_expr_test": [
                {"expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})', "eval_time": "18m", "exp_samples": [{"labels": "{}", "value": 1}] if fires else []} for name in names]}]}),
                encoding="utf-8")
            done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def start_prometheus(self):
        """Its port. That one was free a moment ago, but another program may have taken it since."""
        config = {"global": {"scrape_interval": "5s"}, "rule_files": [str(PAGES / "alerts.yml")], "scrape_configs": [
            {"job_name": "proftrace", "authorization": {"credentials": self.token}, "static_configs": [{"targets": [f"127.0.0.1:{self.port}"]}]}]}
        (self.folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
        for attempt in range(5):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            with open(self.folder / "prometheus.log", "wb") as log:
                server = subprocess.Popen(["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/tsdb{attempt}",
                                           f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
            self.addCleanup(server.wait)
            self.addCleanup(server.terminate)
            if self.listens(server, port):
                return port
        return self.fail("Prometheus does not start: " + self.log())

    def log(self):
        return (self.folder / "prometheus.log").read_text(encoding="utf-8", errors="replace")[-3000:]

    @staticmethod
    def listens(server, port):
        for _ in range(600):
            if server.poll() is not None:
                return False
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=30):
                return True
            time.sleep(0.1)
        return False

    def query(self, port, expression):
        """{labels: value} of an instant query."""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression}), timeout=30) as answer:
            rows = json.load(answer)["data"]["result"]
        return {tuple(sorted((key, value) for key, value in row["metric"].items() if key not in ("instance", "job"))): float(row["value"][1]) for row in rows}

    def until(self, port, expression):
        for _ in range(300):
            try:
                found = self.query(port, expression)
            except OSError:
                found = {}
            if found:
                return found
            time.sleep(0.2)
        self.fail(f"Prometheus has no {expression}: {self.log()}")

    def test_requests_are_what_the_program_counted_itself(self):
        """Percentiles of the report come from buckets that are 6 % wide at most, and a request of the program holds one of ours."""
        report = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", self.runs / "train"], capture_output=True, text=True, check=True, env=environment()).stdout)
        (row,) = [row for row in report["stages"][0]["ranges"] if row["name"] == "request"]
        (hour,) = report["stages"][0]["requests_by_hour"]
        own = self.requests
        for found in row, hour:
            self.assertEqual([found["calls"], found["violations"], found["sla_s"]], [own["requests_processed"], own["sla_violations"], 0.04])
            for ours, theirs in ("p50_s", "p50_latency"), ("p95_s", "p95_latency"), ("p99_s", "p99_latency"):
                self.assertAlmostEqual(found[ours], own[theirs], delta=0.0005 + 0.13 * own[theirs], msg=ours)
        self.assertEqual((hour["name"], hour["hour_s"]), ("request", 0))
        self.assertAlmostEqual(hour["mean_s"], own["average_latency"], delta=0.0005 + 0.02 * own["average_latency"])
        self.assertAlmostEqual(hour["max_s"], own["max_latency"], delta=0.0005 + 0.02 * own["max_latency"])

    def test_it_scrapes_and_the_dashboard_has_the_run(self):
        port = self.start_prometheus()
        self.until(port, 'up{job="proftrace"} == 1')
        self.until(port, "proftrace_run_info")
        report = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", self.runs / "train"], capture_output=True, text=True, check=True, env=environment()).stdout)
        stage = report["stages"][0]
        name = stage["stage"]
        (ranges,) = [[row for row in stage["ranges"] if row["name"] == "request"]]
        requests = ranges[0]
        percentiles = [{"request": requests[key]} for key in ("p50_s", "p95_s", "p99_s")]
        io = report["processes"][0]["io"]
        for process in report["processes"][1:]:
            for call in io:
                io[call]["calls"] += process["io"][call]["calls"]
        wanted = {  # by the title of the panel: what its queries have
            "Duration of each stage": {name: stage["duration_s"]},
            "Where the time went": {part: seconds for part, seconds in stage["time"].items() if part not in ("wall_s", "computing_s") and isinstance(seconds, float) and seconds > 0},
            "What could be gained at most": {finding["rule"]: finding["gain_upper_s"] for finding in report["findings"] if finding["gain_upper_s"] > 0},
            "CPUs used": {name: stage["cpu_percent_avg"] / 100},
            "Memory at most": {name: stage["rss_mb_max"] * 1048576},
            "Stages that did not end well": {None: 0},
            "Events that were lost": {None: 0},
            "Samples a second": {name: stage["training"]["samples_per_s"]},
            "Share of training that waits for data": {name: stage["training"]["dataloader_time_pct"] / 100},
            "Requests: median, 95th and 99th percentile": percentiles,
            "Calls on files": {call: row["calls"] for call, row in io.items() if row["calls"]},
            "Requests slower than promised": {"request": self.requests["sla_violations"]},
        }
        panels = json.loads((PAGES / "dashboard.json").read_text(encoding="utf-8"))["panels"]
        self.assertEqual([panel["title"] for panel in panels], list(wanted))
        for panel in panels:
            for i, target in enumerate(panel["targets"]):
                found = self.query(port, target["expr"])
                here = wanted[panel["title"]][i] if isinstance(wanted[panel["title"]], list) else wanted[panel["title"]]
                by_name = {next((dict(labels)[key] for key in ("rule", "part", "range", "call", "stage") if key in dict(labels)), None): value for labels, value in found.items()}
                if panel["title"].startswith("Requests"):  # the training has ranges of its own
                    by_name = {key: value for key, value in by_name.items() if key == "request"}
                self.assertEqual(set(by_name), set(here), panel["title"])
                for key, value in here.items():
                    self.assertAlmostEqual(by_name[key], value, delta=1e-6 + 1e-3 * abs(value), msg=panel["title"])


if __name__ == "__main__":
    unittest.main()
