# SPDX-License-Identifier: MIT
"""What the tests of report.html share: pages of all golden stories and of a pipeline, hostile names among them."""
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import story  # noqa: E402

GOLDEN = os.path.join(HERE, "..", "golden")
PROFTRACE = os.path.join(os.path.abspath(os.environ.get("PROFTRACE_BUILD", "build")), "proftrace")
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC")

# Each would be seen in the page's tree if it got through. Lone bytes, because a path is bytes.
HOSTILE = ("<script>document.title='owned'</script>", "</title></style></svg><img src=x onerror=alert(1)>",
           "\"><b id=owned>x</b>", "' onmouseover='alert(1)", "&lt;b&gt;&#60;i&#62;", "<!--", "]]>", "javascript:alert(1)",
           "a\u202egnp.exe", "\x1b[31mred\x07", "\u2028\ufeff\ufffe\uffff", "${7*7}{{7*7}}")


def run(*argv):
    return subprocess.run(argv, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def quoted(text):
    """A text as the assembler reads it."""
    return "".join(chr(b) if 0x20 <= b < 0x7f and b not in b'"\\' else f"\\x{b:02x}" for b in text.encode("utf-8", "surrogateescape"))


def hostile_trace(names=HOSTILE):
    yield "proftrace-text 1 start_realtime_ns=1705320000000000000"
    for i, name in enumerate((*names, "\udcff\udc80\udcc0")):
        pid, text = 100 + i, quoted(name)
        yield (f'process {pid} ppid=1 uid=1000 trace_id={pid:#x} start={i}.000000000 end={i + 20}.000000000 state=exited '
               f'exit_status=1 heap=sampled heap_sample_bytes=524288 cpu_ns=4000000000 max_rss_bytes=268435456 boot="b" '
               f'host="{text}" stage="{text}" comm="x" exe="/bin/{text}" cwd="/" argc=2 argv=["{text}" "--x={text}"]')
        yield f"thread {pid}/{pid} slot=0 life=1 start={i}.000000000"
        yield f'{i + 1}.000000000 +9.000000000 {pid}/{pid} io_read fd=5 result=10 path="/{text}" requested_bytes=10'
        yield f'{i + 12}.000000000 {pid}/{pid} range_begin name="{text}"'
        yield f"{i + 13}.000000000 {pid}/{pid} range_end"
        yield f'untraced {pid} at={i + 2}.000000000 path="/{text}" reason="statically linked"'


def hostile_record(names=HOSTILE):
    """The pipeline's run.json with every text replaced."""
    record = story.run_record(True)
    bad = itertools.cycle(names)

    def spoil(node, key=None):
        if isinstance(node, dict):
            return {k: spoil(v, k) for k, v in node.items()}
        if isinstance(node, list):
            return [spoil(v, key) for v in node]
        return next(bad) if isinstance(node, str) and key not in ("status", "schema_version", "log") else node

    return spoil(record)


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="report-html-")
        cls.addClassCleanup(shutil.rmtree, cls.root)

    def page(self, run_dir, *options):
        """The page of a run, as text and as a file."""
        path = run_dir + ".html"
        done = run(PROFTRACE, "report", run_dir, "--format", "html", "-o", path, *options)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(path, encoding="utf-8") as file:
            return file.read(), path

    def assemble(self, name, lines):
        folder = os.path.join(self.root, name)
        os.makedirs(folder)
        with open(folder + ".pt.txt", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        done = run(PROFTRACE, "assemble", folder + ".pt.txt", "-o", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def pipeline(self, name="pipeline", gpu=True):
        folder = os.path.join(self.root, name)
        if not os.path.exists(folder):
            story.write(PROFTRACE, folder, gpu)
        return folder

    def hostile(self, name, names=HOSTILE):
        """The run directory of a pipeline in which every name and every line of a log is one of these."""
        folder = self.assemble(name, hostile_trace(names))
        record = hostile_record(names)
        with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
            json.dump(record, file)
        os.mkdir(os.path.join(folder, "logs"))
        for log in {stage["log"] for stage in record["stages"] if stage["log"]}:
            with open(os.path.join(folder, log), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write("\n".join(names) + "\n")
        return folder

    def golden(self, name):
        folder, text = os.path.join(self.root, name), os.path.join(GOLDEN, name + ".pt.txt")
        if os.path.isdir(folder):
            return folder
        os.mkdir(folder)
        if os.path.exists(text):
            done = run(PROFTRACE, "assemble", text, "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        if os.path.exists(os.path.join(GOLDEN, name + ".run.json")):
            shutil.copy(os.path.join(GOLDEN, name + ".run.json"), os.path.join(folder, "run.json"))
        return folder


def golden_names():
    return sorted({f.split(".")[0] for f in os.listdir(GOLDEN) if f.endswith((".pt.txt", ".run.json"))})
