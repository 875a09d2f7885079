# SPDX-License-Identifier: MIT
"""`proftrace completion`: the shells themselves complete commands, options, their values and runs, as help has them."""
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from launcher_case import BUILD, PROFTRACE, LauncherCase, clean_environment

# Each is typed with Tab where | stands; the whole line must be the second.
TYPED = [
    ("proftrace expo|", "export"),
    ("proftrace export --t|perf|", "export --to perfetto"),
    ("proftrace report --format=m|", "report --format=md"),
    ("proftrace stats -b thr|", "stats -b thread"),
    ("proftrace report one-r|", "report one-run"),
    ("proftrace assemble kno|", "assemble known.txt"),
    ("proftrace report --output kno|", "report --output known.txt"),
    ("proftrace completion zs|", "completion zsh"),
    ("proftrace help comple|", "help completion"),
    ("proftrace diff one-r|", "diff one-run"),
    ("proftrace serve kno|", "serve known.txt"),
    ("proftrace baseline sh|kno|", "baseline show known.txt"),
    ("proftrace baseline add known.txt one-r|", "baseline add known.txt one-run"),
    ("proftrace pipeline --heap sam|", "pipeline --heap sampled"),
    ("proftrace run --timel|-- cat kno|", "run --timeline -- cat known.txt"),
]
# What is typed belongs to a function of that name, which says what it was given.
PREPARE = {
    "bash": "PS1='> '; bind 'set bell-style none' 2>/dev/null; proftrace() { printf '<%s>\\n' \"$*\"; }; . ./script",
    "zsh": "PS1='> '; unsetopt beep; autoload -Uz compinit; compinit -u -d ./dump; proftrace() { print -r -- \"<$*>\" }; . ./script",
}
START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


class Terminal:
    def __init__(self, command, folder):
        pid, self.fd = pty.fork()
        if not pid:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(clean_environment(TERM="dumb", HOME=folder, PATH=BUILD + ":/usr/bin:/bin", PROFTRACE_DIR="runs"))
            os.execvp(command[0], command)
        self.pid = pid

    def until(self, pattern, seconds=30):
        said, end = "", time.monotonic() + seconds
        while not re.search(pattern, said):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {pattern!r} in {said!r}")
            said += os.read(self.fd, 65536).decode(errors="replace")
        return said

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Completion(LauncherCase):
    def setUp(self):
        super().setUp()
        os.makedirs(os.path.join(self.folder, "runs", "one-run"))
        with open(os.path.join(self.folder, "known.txt"), "w", encoding="ascii"):
            pass

    def script(self, shell):
        done = self.proftrace("completion", shell)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(os.path.join(self.folder, "script"), "wb") as file:
            file.write(done.stdout)
        return done.stdout.decode()

    def commands(self):
        return re.findall(r"(?m)^  ([a-z]+) ", self.proftrace("help").stdout.decode().partition("Commands:")[2])

    def options(self, command):
        """[(option, letter or "")]"""
        return re.findall(r"(?m)^  (--[a-z-]+)(?:, (-\w))?", self.proftrace(command, "--help").stdout.decode())

    def typed(self, shell):
        self.script(shell)
        terminal = Terminal(START[shell], self.folder)
        self.addCleanup(terminal.close)
        terminal.type(PREPARE[shell] + "; echo rea''dy\n")
        terminal.until("ready\r?\n")
        for typed, whole in TYPED:
            with self.subTest(typed=typed):
                terminal.type(typed.replace("|", "\t") + "\n")
                said = terminal.until(r"<[^>\r]*>")
                self.assertEqual(re.search(r"<([^>\r]*)>", said)[1].split(), whole.split(), said)

    def test_bash_completes_what_is_typed(self):
        self.typed("bash")

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed (Debian package zsh)")
    def test_zsh_completes_what_is_typed(self):
        self.typed("zsh")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed (Debian package fish)")
    def test_fish_completes_what_is_typed(self):
        self.script("fish")
        for typed, whole in TYPED:
            with self.subTest(typed=typed):
                line = ""
                for piece in typed.split("|")[:-1]:
                    line += piece
                    found = self.fish(line)
                    self.assertEqual(len(found), 1, (line, found))
                    line = line[:line.rindex(" ") + 1] + found[0] + " "
                self.assertEqual(line.split()[1:], whole.split())

    def fish(self, line):
        done = subprocess.run(["fish", "--no-config", "-c", "source script; complete -C $argv[1]", line], cwd=self.folder, capture_output=True, timeout=30,
                              env=clean_environment(HOME=self.folder, PROFTRACE_DIR="runs", XDG_DATA_HOME=self.folder, PATH=BUILD + ":/usr/bin:/bin"))
        self.assertEqual(done.stderr, b"")
        return list(dict.fromkeys(row.split("\t")[0] for row in done.stdout.decode().splitlines()))

    def bash(self, *words):
        """All candidates for the last word."""
        done = subprocess.run(["bash", "--norc", "-c", '. ./script; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _proftrace; printf "%s\\n" "${COMPREPLY[@]}"', "-",
                               "proftrace", *words], cwd=self.folder, capture_output=True, timeout=30, env=clean_environment())
        return done.stdout.decode().split()

    def test_every_command_and_option_of_help_is_there(self):
        self.script("bash")
        if shutil.which("fish"):
            self.script("fish")
        commands = self.commands()
        self.assertIn("completion", commands)
        scripts = {shell: self.script(shell) for shell in ("zsh", "fish", "bash")}
        self.assertEqual(sorted(self.bash("")), sorted(commands))
        for command in commands:
            options = self.options(command)
            self.assertEqual(sorted(self.bash(command, "--")), sorted(option for option, _ in options), command)
            for option, letter in options[:-1]:
                for shell, script in scripts.items():
                    self.assertIn(f"\n{command}\t{option}\t{letter}\t", script, shell)

    def test_an_unknown_shell(self):
        done = self.proftrace("completion", "tcsh")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"bash, zsh, fish", done.stderr)

    def test_no_quote_is_in_the_table(self):
        for shell in ("bash", "zsh", "fish"):
            table = re.search(r"(?s)_table[= ]'(.*?)\n'", self.script(shell))[1]
            self.assertNotIn("\\", table)
            self.assertGreater(len(table.splitlines()), 40)


if __name__ == "__main__":
    assert PROFTRACE
    unittest.main()
