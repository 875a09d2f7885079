# SPDX-License-Identifier: MIT
"""What the tests of `proftrace serve` share: some runs, and a server of them."""
import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"]).resolve()
PROFTRACE = BUILD / "proftrace"
READS = "import sys\nfor i in range(int(sys.argv[1])): open('/etc/hostname', 'rb', buffering=0).read()"


def environment(**more):
    return {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD"))} | more


class ServeCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="serve-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.runs = cls.folder / "proftrace.data"
        cls.runs.mkdir()
        cls.record("few", sys.executable, "-c", READS, "500")
        cls.record("many", sys.executable, "-c", READS, "5000")
        cls.record("failed", "sh", "-c", "exit 3", status=3)

    @classmethod
    def record(cls, name, *command, status=0, **more):
        """What it wrote."""
        done = subprocess.run([PROFTRACE, "run", "--no-report", "-o", cls.runs / name, "--", *command], capture_output=True, text=True, check=False, timeout=100, env=environment(**more))
        assert done.returncode == status, done.stderr
        return done.stdout

    def setUp(self):
        self.server = subprocess.Popen([PROFTRACE, "serve", "--port", "0", self.runs], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.addCleanup(self.end)
        self.address = self.server.stdout.readline().strip()
        self.port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.address).groups()
        self.port = int(self.port)

    def end(self):
        self.server.send_signal(signal.SIGTERM)
        self.said = self.server.communicate(timeout=20)[1]
        self.assertEqual(self.server.returncode, 0, self.said)

    def ask(self, path, token=True, method="GET", headers=()):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)
        try:
            connection.request(method, path + (("&" if "?" in path else "?") + f"token={self.token}" if token else ""), headers=dict(headers))
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def page(self, path, **options):
        status, _, body = self.ask(path, **options)
        self.assertEqual(status, 200, body)
        return body
