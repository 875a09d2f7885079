# SPDX-License-Identifier: MIT
"""DuckDB and ClickHouse read --to ndjson, and the ready queries of docs/tables.md give the report's totals there, too; OpenTelemetry's own
messages take --to otlp.

What is from PyPI is installed into an environment of its own in the build folder, once; ClickHouse is Debian's server, on loopback."""
import base64
import glob
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from export_case import BUILD, STAGE, ExportCase, main, queries

PLACE = os.path.join(BUILD, "tests", "readers")
PACKAGES = ["duckdb", "opentelemetry-proto"]
SERVER = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>1000000</mark_cache_size>
</yandex>"""
USERS = """<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password/><profile>default</profile>
<quota>default</quota><networks><ip>127.0.0.1</ip></networks></default></users></yandex>"""


def installed():
    """None, or why not."""
    python = os.path.join(PLACE, "bin", "python")
    if not os.path.exists(python):
        made = subprocess.run([sys.executable, "-m", "venv", PLACE], capture_output=True, text=True, check=False)
        if made.returncode:
            return f"no virtual environment can be made: {(made.stderr or made.stdout).strip().splitlines()[-1]}"
    got = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES], capture_output=True, text=True, check=False, timeout=500)
    if got.returncode:
        return f"{' and '.join(PACKAGES)} cannot be installed: {got.stderr.strip().splitlines()[-1]}"
    sys.path[:0] = glob.glob(os.path.join(PLACE, "lib", "python3*", "site-packages"))
    return None


class FromPyPI(ExportCase):
    @classmethod
    def setUpClass(cls):
        reason = installed()
        if reason:
            raise unittest.SkipTest(reason)
        super().setUpClass()

    def test_duckdb(self):
        import duckdb
        path, _ = self.export("ndjson")
        os.rename(path, os.path.join(self.folder, "ndjson"))
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        database = duckdb.connect()
        self.addCleanup(database.close)
        database.execute(queries()["duckdb"])
        self.check_queries(lambda sql: database.execute(sql).fetchall())
        database.execute(queries()["parquet"])
        self.assertEqual(database.execute("SELECT COUNT(*) FROM read_parquet('parquet/*/*/*.parquet', hive_partitioning = true)").fetchone(), database.execute("SELECT COUNT(*) FROM events").fetchone())
        self.assertEqual(database.execute("SELECT DISTINCT stage FROM events").fetchall(), [(STAGE,)])

    def test_opentelemetry(self):
        from google.protobuf import json_format
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        path, said = self.export("otlp")
        spans = []
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                # OTLP has ids as hex digits, where protobuf's own JSON has base64.
                request = json.loads(line, object_hook=lambda of: {key: base64.b64encode(bytes.fromhex(value)).decode() if key.lower().endswith(("traceid", "spanid")) else value
                                                                   for key, value in of.items()})
                message = json_format.Parse(json.dumps(request), ExportTraceServiceRequest())
                spans += [span for resource in message.resource_spans for scope in resource.scope_spans for span in scope.spans]
        self.assertEqual(len(spans), said["slices"])
        self.assertEqual({(len(span.trace_id), len(span.span_id), len(span.parent_span_id)) for span in spans}, {(16, 8, 8), (16, 8, 0)})
        self.assertTrue(all(0 < span.start_time_unix_nano <= span.end_time_unix_nano for span in spans))


@unittest.skipUnless(SERVER, "ClickHouse is not installed (Debian package clickhouse-server)")
class ClickHouse(ExportCase):
    def setUp(self):
        ports = []
        for _ in range(2):
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", 0))
                ports.append(taken.getsockname()[1])
        self.url = f"http://127.0.0.1:{ports[0]}/"
        for name, text in (("config.xml", CONFIG.format(folder=self.folder, http=ports[0], tcp=ports[1])), ("users.xml", USERS)):
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
                file.write(text)
        with open(os.path.join(self.folder, "said"), "wb") as said:
            server = subprocess.Popen([SERVER, "--config-file", os.path.join(self.folder, "config.xml")], stdout=said, stderr=said, cwd=self.folder)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(300):
            try:
                self.assertEqual(self.ask("SELECT 1"), [[1]])
                return
            except (urllib.error.URLError, ConnectionError):
                self.assertIsNone(server.poll(), "the server has ended")
                time.sleep(0.1)
        self.fail("the server does not answer")

    def post(self, data, options=""):
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + options, data=data), timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode(errors="replace")) from error

    def ask(self, sql):
        return json.loads(self.post((sql.strip().rstrip(";") + " FORMAT JSONCompact").encode(), "?output_format_json_quote_64bit_integers=0"))["data"]

    def test_the_ready_queries(self):
        path, _ = self.export("ndjson")
        for statement in queries()["clickhouse"].splitlines():
            self.post(statement.rstrip(";").encode())
            table = statement.split()[2]
            files = glob.glob(os.path.join(path, f"{table}.ndjson") if table != "events" else os.path.join(path, "events", "*", "*", "*"))
            lines = b"".join(pathlib.Path(file).read_bytes() for file in files)
            self.post(f"INSERT INTO {table} FORMAT JSONEachRow\n".encode() + lines, "?input_format_skip_unknown_fields=1")
        self.check_queries(self.ask)


if __name__ == "__main__":
    main()
