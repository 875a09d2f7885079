# SPDX-License-Identifier: MIT
"""Names that repaint a terminal, reverse their own direction, inject markup or are no text at all: in every place of a trace
that holds a name, through every command, none of it arrives."""
import gzip
import json
import os
import re
import shutil
import unittest

from launcher_case import LauncherCase

ESCAPES = b"\x1b[31m\x1b]0;owned\x07\x08\r\x7f"
C1 = b"\xc2\x9b31m"
BIDI = "\u202egnp.exe\u2066x\u200f\u061c".encode()
BROKEN = b"\xff\xfe\xc3(\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf"
MARKUP = b"<script>alert(1)</script><img src=x onerror=y>|`x`[a](http://b)![c](d)</details>"
HOSTILE = ESCAPES + C1 + BIDI + BROKEN + MARKUP
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]")
PEOPLE = [("info",), ("report",), ("report", "--format", "md"), ("dump",),
          *[("stats", "--by", by) for by in ("call", "file", "stack", "thread", "size")]]
MACHINES = [("info", "--json"), ("report", "--format", "json"), ("stats", "--json"), ("dump", "--json"),
            ("export", "--to", "chrome", "-o", "-")]


def quoted(name):
    return b'"' + b"".join(b"\\x%02x" % byte if byte < 32 or byte > 126 or byte in b'"\\' else bytes([byte]) for byte in name) + b'"'


def story():
    """A run in which every text is hostile."""
    evil = quoted(b"/e/" + HOSTILE)
    process = (b"process 100 ppid=1 uid=1000 trace_id=0x64 start=0.000000000 end=10.000000000 state=exited exit_status=0 "
               b"heap=sampled heap_sample_bytes=524288 cpu_ns=4000000000 max_rss_bytes=268435456 boot=%s host=%s stage=%s "
               b"comm=%s exe=%s cwd=%s argc=2 argv=[%s %s]" % ((b'"b"',) + (quoted(HOSTILE),) * 3 + (evil, evil, evil, quoted(HOSTILE))))
    lines = [b"proftrace-text 1 start_realtime_ns=1705320000000000000", process,
             b"thread 100/100 slot=0 life=1 start=0.000000000",
             b"module 100 start=0x400000 end=0x500000 bias=0x0 since=0.000000000 build_id= path=" + evil]
    for second in range(1, 6):
        lines += [b"%d.000000000 +0.100000000 100/100 io_open fd=3 result=3 path=%s flags=O_RDONLY" % (second, evil),
                  b"%d.100000000 +0.100000000 100/100 io_read fd=3 result=4096 path=%s requested_bytes=4096" % (second, evil),
                  b"%d.200000000 +0.100000000 100/100 meta_stat result=-2 path=%s flags=0x0" % (second, quoted(HOSTILE)),
                  b"%d.250000000 +0.010000000 100/100 proc_system status=0x0 command=%s" % (second, quoted(HOSTILE)),
                  b"%d.300000000 100/100 heap_sample stack=[0x401000 0x402000] function=heap_malloc addr=0x7f00%08x size_bytes=1048576"
                  % (second, second << 20),
                  b"%d.400000000 100/100 range_begin name=%s" % (second, quoted(HOSTILE)),
                  b"%d.500000000 100/100 mark name=%s" % (second, quoted(HOSTILE)),
                  b"%d.600000000 100/100 counter name=%s value=1.5" % (second, quoted(HOSTILE)),
                  b"%d.700000000 100/100 range_end" % second]
    lines += [b"untraced 100 at=2.000000000 path=%s reason=%s" % (evil, quoted(HOSTILE)),
              b"heap 100 slot=0 frees=9000 failures=0 classes=[16:10000:2560000]"]
    return b"\n".join(lines) + b"\n"


class Hostile(LauncherCase):
    def assemble(self):
        with open(os.path.join(self.folder, "story"), "wb") as file:
            file.write(story())
        os.mkdir(os.path.join(self.folder, "run"))
        done = self.proftrace("assemble", "story", "-o", "run")
        self.assertEqual(done.returncode, 0, done.stderr)

    def outputs(self, commands):
        for command, *options in commands:
            done = self.proftrace(command, "run", *options)
            with self.subTest(command=command, options=options):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_clean(done.stderr)
            yield command, options, done.stdout

    def assert_clean(self, output):
        text = output.decode()  # which also says that it is UTF-8
        found = CONTROLS.search(text)
        self.assertIsNone(found, found and repr(text[max(0, found.start() - 60):found.end() + 20]))

    def test_what_people_read(self):
        self.assemble()
        for _, options, out in self.outputs(PEOPLE):
            self.assert_clean(out)
            if "md" in options:
                self.assertNotRegex(out.decode(), r"(?<!\\)<(script|img|b>)", "markup that a browser would run")
                self.assertNotRegex(out.decode(), r"(?<!\\)\]\(")
                for line in out.decode().splitlines():
                    if line.startswith("|"):
                        self.assertTrue(line.endswith("|"), line)

    def test_what_machines_read(self):
        self.assemble()
        for command, _, out in self.outputs(MACHINES):
            self.assert_clean(out)
            documents = out.decode().splitlines() if command == "dump" else [out.decode()]
            for document in documents:
                json.loads(document, parse_constant=self.fail)

    def test_compressed_timeline(self):
        self.assemble()
        self.assertEqual(self.proftrace("export", "run", "--to", "chrome", "-o", "t.json.gz").returncode, 0)
        with gzip.open(os.path.join(self.folder, "t.json.gz")) as file:
            content = file.read()
        self.assert_clean(content)
        self.assertGreater(len(json.loads(content)["traceEvents"]), 20)

    def test_what_the_launcher_wrote(self):
        """run.json comes from another machine: what it holds is as hostile as a trace."""
        self.assemble()
        text = HOSTILE.decode(errors="replace")
        record = {"version": 1, "command": [text, text], "stage": text, "exit": text, "notes": [text], "exit_code": 0,
                  "duration_ns": 10 ** 10, "start_realtime_ns": 1705320000000000000, "samples": [],
                  "untraced": [{"path": text, "reason": text}]}
        with open(os.path.join(self.folder, "run", "run.json"), "w", encoding="utf-8") as file:
            json.dump(record, file)
        for _, _, out in self.outputs(PEOPLE + MACHINES):
            self.assert_clean(out)

    def test_a_program_that_was_traced(self):
        """From the very calls: files, arguments, a stage and a thread with such names."""
        if os.environ.get("LC_ALL") == "C":
            self.skipTest("needs a locale with bytes")
        name = HOSTILE.replace(b"/", b"_")[:200]
        script = ("import os, sys, threading\nname = os.fsencode(sys.argv[1])\nfor i in range(200):\n"
                  "    f = os.open(name, os.O_CREAT | os.O_RDWR); os.write(f, b'x'); os.close(f)\n"
                  "open('/proc/self/comm', 'wb').write(name[:15])\nos.mkdir(name + b'.d'); os.chdir(name + b'.d')\n"
                  "os.system(b': ' + b\"'\" + name.replace(b\"'\", b'') + b\"'\")\n")
        done = self.run_it("/usr/bin/python3", "-c", script, name, options=("-o", "run", "--stage", b"s" + HOSTILE[:60]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_clean(done.stderr)
        for _, _, out in self.outputs(PEOPLE + MACHINES):
            self.assert_clean(out)

    def test_a_program_that_kills_itself(self):
        """How a program ended is said with its name, by run and by pipeline."""
        if os.environ.get("LC_ALL") == "C":
            self.skipTest("needs a locale with bytes")
        program = os.path.join(os.fsencode(self.folder), b"\x1b[31m\x9b\xff\x07x")
        shutil.copy("/usr/bin/python3", program)
        done = self.proftrace("run", "-o", "run", "--", program, "-c", "import os; os.kill(os.getpid(), 9)")
        self.assertIn(b"died", done.stderr)
        self.assert_clean(done.stderr)
        stage = {"stage": "one", "cmd": ["sh", "-c", "exec ./?*x -c 'import os; os.kill(os.getpid(), 9)'"]}
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"profile": {"stages": [stage]}}, file)
        done = self.proftrace("pipeline")
        self.assertIn(b"died", done.stderr)
        self.assert_clean(done.stderr)


if __name__ == "__main__":
    unittest.main()
