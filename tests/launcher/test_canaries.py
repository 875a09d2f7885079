# SPDX-License-Identifier: MIT
"""Canaries: 347 command lines with secrets (secrets.txt) in every place where a command is recorded, and none of them in any output;
977 arguments without one (harmless.txt), all of which stay readable.

Each line is the arguments of a program, the command of system(), and the script of a shell: three ways in which a program sees it.
"""
import gzip
import hashlib
import json
import os
import re
import shlex
import unittest

from launcher_case import LIBRARY, LauncherCase

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What any program is: its arguments. */
static void run(char **arguments)
{
    const pid_t child = fork();
    if (!child) {
        execv("/bin/true", arguments);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

/* Lines of words: "a" the arguments of a program, "c" a command, "p" a path. */
int main(void)
{
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getdelim(&line, &room, '\x1d', stdin)) > 1;) {
        char *words[256], **next = words;
        line[n - 1] = 0;
        for (char *rest = line + 2, *word; (word = strsep(&rest, "\x1f"));)
            *next++ = word;
        *next = NULL;
        if (*line == 'a')
            run(words);
        else if (*line == 'c' && system(words[0]) < 0)
            return 1;
        else if (*line == 'p')
            close(open(words[0], O_RDONLY));
    }
    return 0;
}
"""


def lines_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


def planted(line, number):
    """The line with secrets in the places of {w} and the like, and these."""
    secrets = []

    def one(kind):
        digits = hashlib.sha1(f"{number}-{len(secrets)}".encode()).hexdigest()
        word = "".join("abcdefghijklmnop"[int(digit, 16)] for digit in digits)
        secrets.append({"w": "tulip" + word[:8], "m": "h4nt" + digits[:9], "n": "739" + str(int(digits[:8], 16)), "h": digits,
                        "b": "wJ7+" + word[:9].upper() + digits[:8] + "EXa==", "K16": "C4" + word[:14].upper()}[kind.group(1)])
        return secrets[-1]

    line = line.replace("{{", "\x01").replace("}}", "\x02")
    return re.sub(r"\{(w|m|n|h|b|K16)\}", one, line).replace("\x01", "{").replace("\x02", "}"), secrets


class Canaries(LauncherCase):
    def record_all(self, lines, paths=()):
        """A run in which each line is arguments, a command and a script; nothing of it is there to be started."""
        host = self.compile(HOST, "-O1", "-Wall")
        items = []
        for line in lines:
            items += ["\x1f".join(["a", *shlex.split(line)]), "c\x1f: " + line, "\x1f".join(["a", "sh", "-c", line])]
        items += ["p\x1f" + path for path in paths]
        done = self.run_it(host, input="\x1d".join([*items, ""]).encode(), options=("-o", "run"),
                           environment={"PATH": "/nowhere"}, program=None)
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_it(self, *command, options=(), program=None, **more):
        return self.proftrace("run", *options, "--", *command, **more)

    def outputs(self):
        """What is said and written of the run, by name."""
        for words in (["info"], ["info", "--json"], ["dump"], ["dump", "--json"], ["report", "--full"], ["report", "-f", "json"],
                      ["report", "-f", "md"], ["report", "-f", "html"], ["stats", "--json"], ["stats", "--by", "file"],
                      ["export", "--to", "chrome", "-o", "-"], ["export", "--to", "perfetto", "-o", "-"],
                      ["export", "--to", "collapsed", "-o", "-"], ["export", "--to", "speedscope", "-o", "-"]):
            done = self.proftrace(words[0], "run", *words[1:])
            self.assertIn(done.returncode, (0, 2) if "export" in words else (0,), done.stderr)
            yield " ".join(words), done.stdout + done.stderr
        for folder, _, names in os.walk(os.path.join(self.folder, "run")):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                yield name, gzip.decompress(content) if name.endswith(".gz") else content

    def test_no_secret_is_in_any_output(self):
        secrets, lines, paths = [], [], []
        for number, line in enumerate(lines_of("secrets.txt")):
            text, its = planted(line, number)
            lines.append(text)
            secrets += its
        for number, name in enumerate(("token", "access_token", "X-Amz-Signature", "sig", "password", "api_key")):
            text, its = planted(f"/nowhere/a.bin?x=1&{name}={{h}}&y=2", 9000 + number)
            paths.append(text)
            secrets += its
        self.assertGreater(len(secrets), 340)
        self.record_all(lines, paths)
        wanted = re.compile("|".join(map(re.escape, secrets)).encode())
        for name, content in self.outputs():
            found = wanted.search(content)
            with self.subTest(output=name):
                self.assertIsNone(found, found and content[max(0, found.start() - 150):found.end() + 20])
        self.assertGreater(len(json.loads(self.proftrace("info", "--json", "run").stdout)["processes"]), 700)
        dump = self.proftrace("dump", "run").stdout
        self.assertGreater(dump.count(b"***"), 300, "they were recorded")
        self.assertGreaterEqual(dump.count(b"/nowhere/a.bin?x=1&"), len(paths))

    def test_harmless_arguments_stay_readable(self):
        lines = lines_of("harmless.txt")
        expected = [shlex.split(line) for line in lines]
        self.assertGreater(sum(len(words) - 1 for words in expected), 900)
        self.record_all(lines)
        recorded = [process["argv"] for process in json.loads(self.proftrace("info", "--json", "run").stdout)["processes"]]
        for words, line in zip(expected, lines):
            with self.subTest(line=line):
                self.assertIn(words, recorded)
                self.assertIn(["sh", "-c", line], recorded)
        said = self.proftrace("dump", "--json", "run").stdout.decode()
        commands = {json.loads(line).get("command") for line in said.splitlines() if '"proc_system"' in line}
        for line in lines:
            with self.subTest(command=line):
                self.assertIn(": " + line, commands)

    def test_without_the_launcher(self):
        """LD_PRELOAD alone, and a shell within a shell."""
        done = self.proftrace("-c", 'sh -c "true --password tulipone; true"; true --token tuliptwo', program="/bin/sh",
                              environment={"LD_PRELOAD": LIBRARY, "PROFTRACE_DIR": os.path.join(self.folder, "run")})
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, content in self.outputs():
            with self.subTest(output=name):
                self.assertNotRegex(content, b"tulip(one|two)")


if __name__ == "__main__":
    unittest.main()
