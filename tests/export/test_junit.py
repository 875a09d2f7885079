# SPDX-License-Identifier: MIT
"""--to junit: stages of a pipeline that end in every way are the cases that CI systems show, and whatever a log holds is text."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as etree

from export_case import ExportCase, main

SCHEMA = pathlib.Path(__file__).resolve().parent / "junit.xsd"
LOG = "it failed: <b>&amp; ]]> \\033[31m \\001 \\377 \\357\\277\\276 \\342\\200\\256 --> '\"'\"'\\n"
STAGES = [
    {"stage": "works", "cmd": ["sh", "-c", "sleep 0.4"]},
    {"stage": "<fails> & \"dies\"", "cmd": ["sh", "-c", f"printf '{LOG}'; exit 3"]},
    {"stage": "behind", "cmd": ["true"]},
    {"stage": "not wanted", "skip": "it needs a GUI"},
]


class Junit(ExportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pipeline({"stages": STAGES, "quality": {"min": {"run_grade_0_100": 50}}})
        cls.run_path = os.path.realpath(os.path.join(cls.folder, "data", "latest"))
        cls.report = json.loads(cls.traced("report", cls.run_path, "--format", "json").stdout)

    @classmethod
    def pipeline(cls, profile):
        config = os.path.join(cls.folder, "config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"profile": profile}, file)
        cls.traced("pipeline", "--config", config, code=1)

    def suite(self):
        path, _ = self.export("junit")
        if shutil.which("xmllint"):
            done = subprocess.run(["xmllint", "--nonet", "--noout", "--schema", str(SCHEMA), path], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
        (suite,) = etree.parse(path).getroot()
        return suite

    def test_each_stage_is_a_case(self):
        suite = self.suite()
        *cases, floor = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases], [stage["stage"] for stage in self.report["stages"]])
        self.assertEqual([[child.tag for child in case] for case in cases], [[], ["failure"], ["skipped"], ["skipped"]])
        self.assertEqual([suite.get(key) for key in ("tests", "failures", "errors", "skipped")], ["5", "2", "0", "2"])
        for case, stage in zip(cases[:2], self.report["stages"]):
            self.assertAlmostEqual(float(case.get("time")), stage["duration_s"], places=5)
        self.assertEqual(suite.get("timestamp") + "Z", self.report["timestamp_utc"])
        self.assertEqual(cases[1].find("failure").attrib, {"type": "failed", "message": self.report["failures"][0]["reason"]})
        self.assertEqual((floor.get("classname"), floor.get("name"), floor.find("failure").attrib), ("proftrace.quality", "run_grade_0_100", {"type": "quality", "message": "not known"}))

    def test_a_finding_fails_nothing(self):
        said = self.suite().find("system-out").text
        for finding in self.report["findings"]:
            self.assertIn(f"{finding['stage']}: {finding['title']} (up to ", said)
        self.assertTrue(self.report["findings"], "a stage sleeps")

    def test_a_timeout_is_a_failure(self):
        self.pipeline({"stages": [{"stage": "too late", "cmd": ["sleep", "60"], "timeout_s": 0.5}]})
        self.run_path = os.path.realpath(os.path.join(self.folder, "data", "latest"))
        (case,) = self.suite().findall("testcase")
        self.assertEqual((case.get("name"), case.find("failure").get("type")), ("too late", "timeout"))

    def test_a_run_of_which_nothing_was_traced(self):
        program = os.path.join(self.folder, "static")
        subprocess.run(["cc", "-static", "-x", "c", "-", "-o", program], input=b"int main(void) { return 3; }", check=True)
        self.pipeline({"stages": [{"stage": "static", "cmd": [program]}]})
        self.run_path = os.path.realpath(os.path.join(self.folder, "data", "latest"))
        (case,) = self.suite().findall("testcase")
        self.assertEqual((case.get("name"), case.find("failure").get("message")), ("static", "exit 3"))
        path, _ = self.export("openmetrics")
        self.assertRegex(pathlib.Path(path).read_text(encoding="utf-8"), r'proftrace_stage_status\{[^}]*stage="static"[^}]*status="failed"[^}]*\} 1')
        self.export("perfetto", code=3)

    def test_the_end_of_the_log_is_text(self):
        failure = self.suite().findall("testcase")[1].find("failure")
        self.assertEqual(len(failure), 0, "no element")
        self.assertRegex(failure.text, r"it failed: <b>&amp; \]\]> ")
        self.assertIn("\\x1b[31m \\x01 \ufffd", failure.text)

    @unittest.skipUnless(shutil.which("xmllint"), "xmllint is not installed (Debian package libxml2-utils)")
    def test_the_schema_refuses_what_is_wrong(self):
        done = subprocess.run(["xmllint", "--noout", "--schema", str(SCHEMA), "-"], input=b"<testsuites><testsuite name='a'/></testsuites>", capture_output=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    main()
