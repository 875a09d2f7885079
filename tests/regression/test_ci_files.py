#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The jobs to copy in docs/ci: they are what GitHub and GitLab accept, and their commands do what they say."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import yaml
except ImportError:
    raise unittest.SkipTest("needs python3-yaml") from None

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/ci"
TRAIN = "import sys\nfor i in range({}): open('/etc/hostname').close()\n"


def load(name):
    return yaml.safe_load((PAGES / name).read_text(encoding="utf-8"))


class Form(unittest.TestCase):
    def steps(self, steps, is_composite=False):
        for step in steps:
            self.assertEqual(("uses" in step) + ("run" in step), 1, step)
            self.assertLessEqual(set(step), {"name", "uses", "run", "with", "if", "env", "shell"})
            if "uses" in step:
                self.assertRegex(step["uses"], r"^actions/[\w-]+@v\d+$")
            else:
                self.assertIn("name", step)
                self.assertNotIn("${{", step["run"], "what others may set belongs into env: in a script it is code")
                self.assertEqual("shell" in step, is_composite)

    def test_workflow(self):
        flow = load("github-workflow.yml")
        self.assertLessEqual(set(flow), {"name", "on", "permissions", "env", "jobs"})
        self.assertIn("pull_request", flow["on"])
        self.assertEqual(flow["permissions"], {"contents": "read"})
        for name, job in flow["jobs"].items():
            self.assertLessEqual(set(job), {"if", "runs-on", "permissions", "steps"})
            self.assertRegex(job["runs-on"], r"^ubuntu-\d\d\.04$")
            self.assertEqual("write" in str(job.get("permissions")), name == "baseline", "only what pushes may write")
            self.steps(job["steps"])

    def test_action(self):
        action = load("action.yml")
        self.assertLessEqual({"name", "description", "inputs", "runs"}, set(action))
        self.assertEqual(action["runs"]["using"], "composite")
        self.steps(action["runs"]["steps"], is_composite=True)
        text = (PAGES / "action.yml").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"inputs\.([\w-]+) }}", text)), set(action["inputs"]))
        for one in action["inputs"].values():
            self.assertEqual(set(one), {"description", "default"})

    def test_gitlab(self):
        (job,) = load("gitlab-ci.yml").values()
        self.assertLessEqual(set(job), {"image", "variables", "rules", "before_script", "script", "artifacts"})
        self.assertTrue(all(isinstance(line, str) for line in job["script"] + job["before_script"]))
        self.assertEqual(job["artifacts"]["reports"], {"junit": "check.xml"})

    def test_the_page_names_them(self):
        page = (ROOT / "docs/regressions.md").read_text(encoding="utf-8")
        for file in PAGES.iterdir():
            self.assertIn(f"(ci/{file.name})", page)

    def lint(self, tool, *arguments):
        if not shutil.which(tool):
            self.skipTest(f"needs {tool}, which PyPI has")
        done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_yamllint(self):
        self.lint("yamllint", "-d", "{extends: default, rules: {line-length: {max: 180}, document-start: disable}}", *PAGES.glob("*.yml"))

    def test_actionlint(self):
        self.lint("actionlint", PAGES / "github-workflow.yml")

    def test_schemas(self):
        for schema, name in (("github-workflows", "github-workflow.yml"), ("github-actions", "action.yml"), ("gitlab-ci", "gitlab-ci.yml")):
            with self.subTest(name):
                self.lint("check-jsonschema", "--builtin-schema", f"vendor.{schema}", PAGES / name)


class Commands(unittest.TestCase):
    """Each command of the files is run once, as the system would; but for the installation, which is this build."""
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="ci-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name) / "checkout"
        self.folder.mkdir()
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD", "GITHUB_", "GIT_"))}
        self.environment.update(PATH=f"{BUILD}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}", PYTHONHASHSEED="0", GITHUB_STEP_SUMMARY=str(self.folder.parent / "summary.md"))
        self.environment.update(HOME=str(self.folder.parent), XDG_CONFIG_HOME=str(self.folder.parent), GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")
        main = "symbolic-ref HEAD refs/heads/main"  # init -b needs git 2.28
        self.shell(f"git init -q --bare ../origin && git -C ../origin {main} && git init -q . && git {main} && git remote add origin ../origin")
        self.train(1000)

    def train(self, times):
        (self.folder / "train.py").write_text(TRAIN.format(times), encoding="utf-8")
        stage = {"stage": "train", "cmd": [sys.executable, "train.py"]}
        (self.folder / "config.json").write_text(json.dumps({"profile": {"stages": [stage]}}), encoding="utf-8")

    def shell(self, script, status=0, **more):
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=self.folder, env={**self.environment, **more}, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("no effect", done.stderr, "a variable of the job has the name of an option")
        return done.stdout

    def play(self, steps, environment, status=0):
        """Returns what the steps said. After one that failed only those that always run are run."""
        said, failed = "", 0
        for step in steps:
            if "uses" in step or step["name"] == "Install proftrace" or (failed and step.get("if") != "always()"):
                continue
            shutil.rmtree(self.folder / "run", ignore_errors=True) if step["name"] == "Record" else None
            own = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: environment[found[1]], value) for key, value in step.get("env", {}).items()}
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=self.folder, env={**self.environment, **environment, **own}, capture_output=True,
                                  text=True, timeout=100, check=False)
            said += done.stdout + done.stderr
            failed = failed or done.returncode
        self.assertEqual(failed, status, said)
        self.assertNotIn("no effect", said, "a variable of the job has the name of an option")
        return said

    def test_workflow(self):
        flow = load("github-workflow.yml")
        jobs = {name: job["steps"] for name, job in flow["jobs"].items()}
        self.shell("git add train.py && git -c user.name=a -c user.email=a@b commit -qm first && git push -q -u origin main")
        for _ in range(3):
            self.play(jobs["baseline"], flow["env"])
        self.assertEqual(self.shell("git show origin/main:baseline.json").count('"stage"'), 3)
        self.assertIn("::notice title=proftrace check::ok: ", self.play(jobs["check"], flow["env"]))
        self.train(1300)
        self.assertIn("::error title=proftrace check::regression: ", self.play(jobs["check"], flow["env"], status=1))
        summary = (self.folder.parent / "summary.md").read_text(encoding="utf-8")
        self.assertRegex(summary, r"\Aok: (.*\n)+regression: (.*\n)+\| WORSE \| open\.calls")

    def test_action(self):
        action = load("action.yml")
        inputs = {name: one["default"] for name, one in action["inputs"].items()}
        for _ in range(3):
            self.shell("proftrace pipeline --config config.json && proftrace baseline add baseline.json proftrace.data/latest")
        self.play(action["runs"]["steps"], inputs)
        self.train(1300)
        self.assertIn("::error title=proftrace check::regression: ", self.play(action["runs"]["steps"], inputs, status=1))
        self.assertTrue((self.folder / "profiles/report.md").read_text(encoding="utf-8").startswith("regression: "))

    def test_gitlab(self):
        (job,) = load("gitlab-ci.yml").values()
        script = "\n".join(job["script"])
        for number in range(3):
            self.shell(f"proftrace run --no-report -o good{number} -- $COMMAND && proftrace baseline add $BASELINE good{number}", **job["variables"])
        self.assertIn("ok: ", self.shell(script, **job["variables"]))
        self.train(1300)
        shutil.rmtree(self.folder / "run")
        self.assertIn("regression: ", self.shell(script, status=1, **job["variables"]))
        names = [case.get("name") for case in xml.etree.ElementTree.parse(self.folder / "check.xml").iter("testcase") if case.find("failure") is not None]
        self.assertIn("open.calls", names)


if __name__ == "__main__":
    unittest.main()
