# SPDX-License-Identifier: MIT
"""Names and lines that want to be more than text: nothing of them acts in a terminal, in Markdown or in JSON."""
import json
import os
import re
import subprocess
import unicodedata
import unittest

from pipeline_case import LATEST, PROFTRACE, PipelineCase, sh

NASTY = "<img src=x onerror=alert(1)>|`rm -rf ~`[a](javascript:x)*_\u202egnp.\u2066 \u0085#&amp;\"'"
LINES = ["<script>alert(1)</script>", "| a | b |", "\x1b[2J\x1b]0;owned\x07", "```", "# heading", "\u202ereversed", "\x9b31m",
         "[link](http://x)", "-->", "</details>", "::error::x"]
HAIR = b"\xff\xfe\xc3(\x80broken\n"


class Hostile(PipelineCase):
    def run_it(self, stages, *arguments, **more):
        config = json.dumps({"profile": {"stages": stages, "interval_ms": 100, **more}}, ensure_ascii=False).encode()
        self.write("config.json", config)
        return self.proftrace("pipeline", *arguments)

    def assert_tame(self, text, allowed=""):
        """No control character but a newline, no bidirectional control."""
        for character in text:
            if character in "\n\t" + allowed:
                continue
            self.assertFalse(unicodedata.category(character) == "Cc" or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067"
                             "\u2068\u2069\u200e\u200f\u061c\u2028\u2029", f"{character!r} in {text[:300]!r}")

    def assert_outputs_tame(self, outcome):
        ours = [line for line in outcome.stderr.decode().split("\n") if line.startswith(("proftrace", "Stage", "Summary"))]
        self.assert_tame("\n".join(ours))
        self.assert_tame(outcome.stderr.decode().partition("\nSummary\n")[2])
        self.assert_tame(self.markdown())
        for form in ("text", "md"):
            shown = self.proftrace("report", LATEST, "--format", form)
            self.assertEqual(shown.code, 0, shown)
            self.assert_tame(shown.stdout.decode())
        markdown = re.sub(r"<summary>[^<>]*</summary>|</?details>|<!-- proftrace:report -->", "", self.outside_fences())
        markdown = re.sub(r"(?<!\\)`[^`|\n]+`", "", markdown)  # a word in back-ticks: nothing in it is markup
        bare = re.findall(r".{0,40}(?<!\\)[<`].{0,40}", markdown)
        self.assertEqual(bare, [], "markup that is not ours")

    def outside_fences(self):
        """The Markdown without logs, which stand in fences (what a renderer makes of both: report_html.markdown)."""
        return re.sub(r"^ +(`{3,})\n(?:.*\n)*? +\1\n", "", self.markdown(), flags=re.MULTILINE)

    def stage_name(self, name):
        return name.replace("/", "_")

    def test_names_of_stages(self):
        names = [NASTY.replace("\u0085", ""), "a..b", "-rf", ".hidden", "two\u2028lines", "%s%n$(id)", "日本語 🎉", "x" * 127]
        outcome = self.run_it([{"stage": name, **sh(f"echo {i}; echo line {i}; exit {int(i == len(names) - 1)}")}
                               for i, name in enumerate(names)])
        self.assertEqual(outcome.code, 1, outcome)
        report = self.report()
        self.assertEqual([stage["stage"] for stage in report["stages"]], names)
        self.assertEqual({stage["status"] for stage in report["stages"][:-1]}, {"ok"})
        self.assert_outputs_tame(outcome)
        self.assert_markdown()
        logs = os.path.join(self.work, LATEST, "logs")
        self.assertEqual(len(os.listdir(logs)), len(names))
        for name in os.listdir(logs):
            self.assert_tame(name)
            self.assertFalse(name.startswith("."))
        for stage in self.record()["stages"]:
            self.assertTrue(os.path.exists(os.path.join(self.work, LATEST, stage["log"])), stage["log"])

    def test_a_failure_under_a_name_with_dots(self):
        self.run_it([{"stage": "a..b", **sh("echo last words; exit 1")}])
        self.assertEqual(self.report()["failures"][0]["log_tail"], ["last words"])

    def test_a_log_behind_a_linked_folder(self):
        """A run from elsewhere, as an archive has it: its reports show none of our files."""
        self.run_it([{"stage": "a", **sh("echo last words; exit 1")}])
        logs = os.path.join(self.work, LATEST, "logs")
        name = os.path.basename(self.record()["stages"][0]["log"])
        elsewhere = os.path.join(self.work, "elsewhere")
        os.rename(logs, elsewhere)
        os.symlink(elsewhere, logs)
        self.assertTrue(os.path.exists(os.path.join(logs, name)))
        done = self.proftrace("report", "--format", "json", os.path.join(self.work, LATEST))
        self.assertEqual(json.loads(done.stdout)["failures"][0]["log_tail"], [])

    def test_lines_of_logs(self):
        self.write("lines", "\n".join(LINES).encode() + b"\n" + HAIR + b"nul\0byte\n" + b"x" * 5000 + b"\nprogress 1\rprogress 2\n")
        outcome = self.run_it([{"stage": "a", **sh("cat lines; exit 1")}])
        self.assertEqual(outcome.code, 1)
        self.assert_outputs_tame(outcome)
        tail = self.report()["failures"][0]["log_tail"]
        self.assertEqual(tail[0], LINES[0])
        self.assertEqual(tail[-1], "progress 2")
        self.assertIn("   " + LINES[0], self.markdown())
        self.assertNotIn("alert", self.outside_fences())
        self.assertEqual(outcome.stdout, self.read("lines"), "what the stage itself writes is not ours to change")

    def test_arguments_paths_and_reasons(self):
        folder = os.path.join(self.work, "d " + NASTY.replace("/", "_"))
        os.mkdir(folder)
        argument = NASTY + "".join(LINES)
        outcome = self.run_it([{"stage": "a", **sh("cat \"$0\" 2>/dev/null; pwd > pwd; ls > \"$1\"; true", cwd=folder)},
                               {"stage": "b", "cmd": ["sh", "-c", "sleep 0.2; exit 2", argument, "line\nbreak"], "cwd": folder},
                               {"stage": "c", "skip": NASTY}])
        self.assertEqual(outcome.code, 1, outcome)
        report = self.report()
        self.assertEqual(report["stages"][1]["command"][-2:], [argument, "line\nbreak"])
        self.assertEqual(report["stages"][2]["reason"], NASTY)
        self.assert_outputs_tame(outcome)

    def test_a_command_that_is_left_running(self):
        self.run_it([{"stage": "a", **sh("sh -c 'sleep 1; :' \"$1\" & sleep 0.3")},
                     {"stage": "b", "cmd": ["sh", "-c", "sh -c 'sleep 1; :' \"$0\" & sleep 0.2", "\x1b[2J\xff" + NASTY]}])
        self.assertTrue(self.stage("b")["left_running"])
        self.assert_tame(self.markdown())

    def test_keys_of_grade_reports(self):
        key = "k" + NASTY
        self.write("grade", json.dumps({key: 0.5, "recall_proxy": "<b>"}, ensure_ascii=False).encode())
        outcome = self.run_it([{"stage": "a", **sh("cp grade grade.json")}],
                              quality={"file": "grade.json", "keys": [key], "min": {key: 0.7, "miss|<b>\x1b[2J": 1}})
        self.assertEqual(outcome.code, 5, outcome)
        report = self.report()
        self.assertEqual(report["quality_metrics"][key], 0.5)
        self.assertEqual(len(report["quality_floors_broken"]), 2)
        self.assert_outputs_tame(outcome)

    def test_names_in_messages(self):
        for arguments in (["--only", "\x1b[2J" + NASTY], ["--config", "/no\x1b[2J/\u202e"], ["--heap", "\x1b[2J"], ["\x1b[2J"]):
            self.run_it([{"stage": "a", **sh(":")}])
            outcome = self.proftrace("pipeline", *arguments)
            self.assertEqual(outcome.code, 2)
            self.assert_tame(outcome.stderr.decode())
        outcome = self.run_it([{"stage": "a", **sh(":"), NASTY + "\x1b[2J": 1}, {"stage": "b", "skip": "x", "cwd": "\x1b[2J"}])
        self.assert_tame(outcome.stderr.decode())
        outcome = self.run_it([{"stage": "a", "cmd": ["/no/\x1b[2J\u202e" + NASTY]}])
        self.assertEqual(outcome.code, 2)
        self.assert_tame(outcome.stderr.decode())
        outcome = self.run_it([{"stage": NASTY.replace("\u0085", ""), "cmd": ["sh", "\x1b[2J" + NASTY]}], "--dry-run")
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_tame(outcome.stdout.decode())

    def test_folders_that_are_not_utf8(self):
        place = os.path.join(self.work.encode(), b"bad\xff\x1b[2J")
        os.mkdir(place)
        self.run_it([{"stage": "a", **sh("exit 1")}])
        done = subprocess.run([PROFTRACE, "pipeline", "--config", "../config.json"], cwd=place, env=self.environment(),
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assert_tame(done.stderr.decode())
        self.report(os.path.join(os.fsdecode(place), LATEST))


if __name__ == "__main__":
    unittest.main()
