# SPDX-License-Identifier: MIT
"""Each row of secrets.def is masked by the library in the trace and by the launcher in run.json."""
import json
import os
import re
import unittest

from launcher_case import LauncherCase

DEF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include", "proftrace", "secrets.def")


class Secrets(LauncherCase):
    def recorded(self, *arguments):
        done = self.run_it("true", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        traced = json.loads(self.proftrace("info", "--json").stdout)["processes"][0]["argv"]
        return traced[1:], self.record()["command"][1:]

    def test_every_row(self):
        with open(DEF, encoding="utf-8") as file:
            text = file.read()
        rows, keys = re.findall(r'^SECRET_NAME\("(\w+)", (\w+)\)', text, re.M), re.findall(r'^SECRET_KEY\("([\w-]+)", (\d+)\)', text, re.M)
        names = [name for name, where in rows if where != "IN_QUERY"]
        self.assertGreater(min(len(names), len(keys)), 10)
        arguments = [f"--db-{name.replace('_', '-')}=hunter2" for name in names] + [f"{name.upper()}=hunter2" for name in names]
        arguments += [f"https://h/?a=1&x-{name}=hunter2&b=2" for name, _ in rows]
        arguments += [prefix + ("hunter2" + "x" * int(letters))[:int(letters)] for prefix, letters in keys]
        for where, recorded in zip(("trace", "run.json"), self.recorded(*arguments)):
            self.assertEqual(len(recorded), len(arguments))
            with self.subTest(where=where):
                self.assertEqual([word for word in recorded if "hunter2" in word], [])

    def test_commands_within_arguments_and_system(self):
        """A shell gets its command as one argument, and system() takes one: both have words, quotes and headers of their own."""
        commands = ["true --password hunter2; true", "TOKEN=hunter2 true", "true 'Authorization: Bearer hunter2'",
                    "true --password 'two words hunter2'", "true 'https://hunter2@h/x?sig=hunter2'"]
        script = "import os\nfor command in os.environ['COMMANDS'].split('|'): os.system(command)"
        done = self.run_it("python3", "-c", script, environment={"COMMANDS": "|".join(commands)})
        self.assertEqual(done.returncode, 0, done.stderr)
        for said in (self.proftrace("info", "--json"), self.proftrace("dump"), self.proftrace("report", "--format", "json")):
            self.assertEqual((said.returncode, said.stdout.count(b"hunter2")), (0, 0), said.args)
        self.assertIn(b"--password ***", self.proftrace("dump").stdout)

    def test_what_only_looks_like_one(self):
        arguments = ["--bypass=hunter2", "--compass=hunter2", "--author=hunter2", "--epochs=3"]
        self.assertEqual(self.recorded(*arguments), (arguments, arguments))


if __name__ == "__main__":
    unittest.main()
