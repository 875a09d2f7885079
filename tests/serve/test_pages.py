#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`proftrace serve`: the list of runs, a run, two side by side, metrics; and nothing for anybody else."""
import html
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest
import urllib.parse

from serve_case import PROFTRACE, ServeCase, environment


class Pages(ServeCase):
    def test_the_list(self):
        body = self.page("/")
        self.assertEqual(re.findall(r'<a href="/runs/(\w+)\?token=[0-9a-f]{32}">', body), ["failed", "many", "few"])  # the newest first
        self.assertRegex(body, r"<td>failed</td>.*<td>sh -c exit 3</td>")
        self.assertEqual(re.findall(r'<a href="/runs/(\w+)\?', self.page("/?filter=MAN")), ["many"])
        self.assertEqual(re.findall(r'<a href="/runs/(\w+)\?', self.page("/?filter=failed")), ["failed"])
        self.assertIn("There are no such runs", self.page("/?filter=%3Cscript%3E"))
        self.assertNotIn("<script>", self.page("/?filter=%3Cscript%3E"))

    def test_a_run_and_two_of_them(self):
        self.assertIn("<title>", self.page("/runs/many"))
        first = subprocess.run([PROFTRACE, "diff", self.runs / "few", self.runs / "many"], capture_output=True, text=True, check=True, env=environment()).stdout.splitlines()[0]
        self.assertRegex(first, r"(read|open|stat|close): .*x the calls \(")
        self.assertRegex(self.page("/compare?a=few&b=many"), r"(read|open|stat|close): .*x the calls \(")

    def test_a_name_that_is_no_utf8(self):
        """What the list gives for a run compares it, as a browser sends it."""
        odd = pathlib.Path(os.fsdecode(os.fsencode(self.runs) + b"/o%41d \xff\"+&"))
        shutil.copytree(self.runs / "few", odd)
        self.addCleanup(shutil.rmtree, odd)
        values = [html.unescape(value) for value in re.findall(r'name="a" value="([^"]*)"', self.page("/"))]
        self.assertEqual(len(values), 4)
        value, = set(values) - {"few", "many", "failed"}
        query = urllib.parse.urlencode({"a": value, "b": "many"})
        self.assertRegex(self.page(f"/compare?{query}"), r"(read|open|stat|close): .*x the calls \(")

    def test_metrics_of_the_newest_and_of_one(self):
        self.assertIn('proftrace_run_info{run="failed"', self.page("/metrics"))
        body = self.page("/metrics?run=many")
        report = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", self.runs / "many"], capture_output=True, text=True, check=True, env=environment()).stdout)
        reads = next(call["calls"] for call in report["stages"][0]["calls"] if call["call"] == "read")
        self.assertRegex(body, rf'(?m)^proftrace_stage_calls\{{[^}}]*call="read"[^}}]*\}} {reads}$')

    def test_a_timeline(self):
        shutil.copytree(self.runs / "few", self.runs / ".hidden")
        self.addCleanup(shutil.rmtree, self.runs / ".hidden")
        for address, name in ("/timelines/few", "few"), (None, "few"), (None, ".hidden"):
            if not address:  # `view` is the same for one run
                shown = subprocess.Popen([PROFTRACE, "view", self.runs / name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment())
                self.addCleanup(shown.wait)
                self.addCleanup(shown.terminate)
                self.addCleanup(shown.stdout.close)
                report, timeline = (re.search(rf"http://127\.0\.0\.1:(\d+)(/\S+/{name})\?token=([0-9a-f]{{32}})", shown.stdout.readline()).groups() for _ in range(2))
                self.port, self.token, address = int(timeline[0]), timeline[2], timeline[1]
                self.assertIn("<title>", self.page(report[1]))
                self.assertEqual(self.ask(address, token=False)[0], 403)
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)
            connection.request("GET", f"{address}?token={self.token}")
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.getheader("Content-Type")), (200, "application/octet-stream"))
            wanted = subprocess.run([PROFTRACE, "export", "--to", "perfetto", "-o", "-", self.runs / name], capture_output=True, check=True, env=environment()).stdout
            self.assertEqual(answer.read(), wanted)
            connection.close()
        told = "a run directory is what `proftrace run` makes"
        for no_run, words in ("/nonexistent", told), (self.runs, f"no latest run is marked in {self.runs}; name one: {self.runs}/"), (self.runs / "few/run.json", told), ("/", "no trace files in /"):
            done = subprocess.run([PROFTRACE, "view", no_run], capture_output=True, text=True, check=False, timeout=20, env=environment())
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            self.assertIn(words, done.stderr)

    def test_the_folder_of_runs_is_a_run_itself(self):
        """PROFTRACE_DIR may name one: it failed, and gave no cause."""
        with subprocess.Popen([PROFTRACE, "view"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(PROFTRACE_DIR=str(self.runs / "few"))) as shown:
            self.assertIn("/runs/few?token=", shown.stdout.readline())
            shown.terminate()

    def test_where_runs_lie(self):
        for name in "PROFTRACE_DIR", "PROFILE_OUTPUT_DIR":
            with subprocess.Popen([PROFTRACE, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
                                  env=environment(**{name: f"{self.runs}/"})) as server:
                self.assertIn("token=", server.stdout.readline())
                server.send_signal(signal.SIGTERM)

    def test_a_new_run_is_there_at_once(self):
        self.addCleanup(shutil.rmtree, self.runs / "later")
        self.record("later", "true")
        self.assertIn("/runs/later?", self.page("/"))

    def test_a_long_command_is_cut_at_a_character(self):
        for name, word in ("even", "é" * 200), ("odd", "x" + "é" * 200):  # one of both would be cut within a letter
            self.addCleanup(shutil.rmtree, self.runs / name)
            self.record(name, "true", word)
            self.assertRegex(self.page(f"/?filter={name}"), r"<td>true x?é{76,77}</td>")

    def test_a_run_of_small_processes_only(self):
        """Without the launcher there is no run.json, and a short command has no file of its own."""
        self.addCleanup(shutil.rmtree, self.runs / "small")
        (self.runs / "small").mkdir(mode=0o700)
        library = os.path.join(os.path.dirname(PROFTRACE), "libproftrace.so")
        subprocess.run(["/bin/true"], env=environment(LD_PRELOAD=library, PROFTRACE_SESSION=str(self.runs / "small")), check=True)
        self.assertFalse(list((self.runs / "small").glob("*.ptr")))
        self.assertIn("/runs/small?", self.page("/"))

    def test_a_run_without_a_launcher_runs_or_has_ended(self):
        """LD_PRELOAD alone: /metrics are of the newest run that has ended, and this one is none."""
        self.addCleanup(shutil.rmtree, self.runs / "bare")
        (self.runs / "bare").mkdir(mode=0o700)
        library = os.path.join(os.path.dirname(PROFTRACE), "libproftrace.so")
        program = "import sys; print('ready', flush=True); sys.stdin.read()"
        with subprocess.Popen([sys.executable, "-c", program, "--password=secret"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=environment(LD_PRELOAD=library, PROFTRACE_SESSION=str(self.runs / "bare"))) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            self.assertIn("<td>running</td>", self.page("/?filter=bare").rpartition("/runs/bare?")[2])
            self.assertIn('run="failed"', self.page("/metrics"))
            process.stdin.close()
            process.wait()
        page = self.page("/?filter=bare")
        self.assertRegex(page.rpartition("/runs/bare?")[2], r"<td>ended</td>.*<td>\S*python3\S* -c import sys; ")
        self.assertNotIn("secret", page)
        self.assertIn('run="bare"', self.page("/metrics"))

    def assemble(self, name, *processes):
        """A run without run.json, of which each process has a state and a boot."""
        self.addCleanup(shutil.rmtree, self.runs / name)
        (self.runs / name).mkdir(mode=0o700)
        story = self.folder / "story.pt.txt"
        story.write_text(f"proftrace-text 1 start_realtime_ns={time.time_ns()}\n" + "".join(
            f'process {pid} ppid=1 uid=1000 trace_id={pid:#x} start=0.0 end=1.0 state={state} boot="{boot}" host="h" stage="s" comm="a" exe="/usr/bin/a" argc=1 argv=["a"]\n'
            f"thread {pid}/{pid} slot=0 life=1 start=0.0\n" for pid, (state, boot) in enumerate(processes, start=100)), encoding="utf-8")
        subprocess.run([PROFTRACE, "assemble", story, "-o", self.runs / name], check=True, env=environment())

    def status_of(self, name):
        return re.search(rf'/runs/{name}\?[^>]*">{name}</a></td><td>[^<]*</td><td>(\w*)</td>', self.page(f"/?filter={name}"))[1]

    def test_what_may_run_on_another_machine_has_not_ended(self):
        """Nobody here has its trace mapped, and nobody here would: /metrics are of one that has ended, if there is any."""
        here = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        for name, processes, wanted in (("gone", [("live", here)], "ended"), ("somewhere", [("live", "")], "unknown"), ("there", [("exited exit_status=0", here), ("live", "b")], "unknown"),
                                        ("over", [("exited exit_status=0", "b"), ("execed", "b")], "ended"), ("newest", [("live", "b")], "unknown")):
            self.assemble(name, *processes)
            self.assertEqual(self.status_of(name), wanted, name)
        self.assertIn('run="over"', self.page("/metrics"))
        self.assertIn('run="newest"', self.page("/metrics?run=newest"))

    def test_what_was_killed_a_moment_ago_may_run_in_a_container(self):
        """There it has another pid, so that nobody can tell."""
        self.addCleanup(shutil.rmtree, self.runs / "silent")
        (self.runs / "silent").mkdir(mode=0o700)
        library = os.path.join(os.path.dirname(PROFTRACE), "libproftrace.so")
        subprocess.run(["/bin/sh", "-c", "kill -9 $$"], check=False, env=environment(LD_PRELOAD=library, PROFTRACE_SESSION=str(self.runs / "silent")))
        self.assertEqual(self.status_of("silent"), "unknown")

    def reads_for(self, path):
        """How many times the server has read something for a page, or a part of it."""
        def reads():
            return int(re.search(r"syscr: (\d+)", pathlib.Path(f"/proc/{self.server.pid}/io").read_text(encoding="ascii"))[1])
        before = reads()
        self.page(path)
        return reads() - before

    def test_what_has_ended_is_not_read_again(self):
        """Of a run without run.json each head is read; what is new in it is seen, also a process that has no file of its own."""
        if not os.path.exists("/proc/self/io"):
            self.skipTest("this kernel does not count what a process reads (/proc/PID/io)")
        library = os.path.join(os.path.dirname(PROFTRACE), "libproftrace.so")
        subprocess.run(["/bin/sh", "-c", "for i in $(seq 300); do /bin/true; done"], check=True, env=environment(LD_PRELOAD=library, PROFTRACE_DIR=str(self.runs)))
        run = (self.runs / "latest").resolve()
        self.addCleanup((self.runs / "latest").unlink)
        self.addCleanup(shutil.rmtree, run)
        self.assertEqual(self.status_of(run.name), "ended")
        filtered = f"/?filter={run.name}"
        self.assertLess(self.reads_for(filtered), 100)
        self.assertIn("<td>/bin/sh -c for i in", self.page(filtered))
        names = sorted(os.listdir(run))
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, env=environment(LD_PRELOAD=library, PROFTRACE_SESSION=str(run))) as process:
            for _ in range(100):
                if self.status_of(run.name) == "running":
                    break
                time.sleep(0.02)
            self.assertEqual(self.status_of(run.name), "running")
            self.assertEqual(sorted(os.listdir(run)), names)
            self.assertGreater(self.reads_for(filtered), 300)
            process.stdin.close()
        self.assertEqual(self.status_of(run.name), "ended")
        self.assertLess(self.reads_for(filtered), 100)

    def test_a_pipeline_runs_while_its_launcher_does(self):
        """Also while a stage is being started and has no pid yet, and between two stages; and where its processes cannot be seen, while run.json is new."""
        ticks = int(pathlib.Path("/proc/self/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[19])
        us = {"pid": os.getpid(), "start_ticks": ticks, "boot_id": pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
              "pid_namespace": os.readlink("/proc/self/ns/pid")}
        run = self.runs / "between"
        run.mkdir()
        self.addCleanup(shutil.rmtree, run)
        ok, starting, planned = {"stage": "a", "status": "ok"}, {"stage": "b", "status": None, "start_ns": 1}, {"stage": "b", "status": "skipped"}
        elsewhere = {**us, "pid_namespace": "pid:[1]"}
        for launcher, stage, age_s, wanted in ((us, starting, 0, "running"), (us, planned, 1000, "running"), ({**us, "start_ticks": ticks - 1}, starting, 0, "failed"),
                                               ({**us, "start_ticks": ticks - 1}, planned, 0, "ok"), (elsewhere, starting, 0, "running"),
                                               (elsewhere, planned, 0, "running"), (elsewhere, starting, 1000, "failed")):
            (run / "run.json").write_text(json.dumps({"launcher": launcher, "duration_ns": None, "stages": [ok, stage]}), encoding="utf-8")
            os.utime(run / "run.json", (time.time() - age_s,) * 2)
            self.assertRegex(self.page("/?filter=between"), rf"<td>{wanted}</td>", (launcher, stage, age_s))

    def test_a_run_that_was_killed_with_its_launcher_has_failed(self):
        self.addCleanup(shutil.rmtree, self.runs / "killed")
        launcher = subprocess.Popen([PROFTRACE, "run", "--no-report", "-o", self.runs / "killed", "--", sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)"],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), start_new_session=True)
        self.addCleanup(launcher.stdout.close)
        self.assertEqual(launcher.stdout.readline(), b"ready\n")
        self.assertRegex(self.page("/?filter=killed"), r"<td>running</td>")
        os.killpg(launcher.pid, signal.SIGKILL)
        launcher.wait()
        launcher.stdout.read()  # until the command has gone, too, or is about to
        for _ in range(100):
            if "<td>running</td>" not in self.page("/?filter=killed"):
                break
            time.sleep(0.05)
        self.assertRegex(self.page("/?filter=killed"), r"<td>failed</td>")

    def test_a_run_whose_launcher_was_killed_is_as_its_program_ended(self):
        for name, status, wanted in (("outlives", 0, "ok"), ("outlives_not", 3, "failed")):
            self.addCleanup(shutil.rmtree, self.runs / name)
            program = f"import sys; print('ready', flush=True); sys.stdin.read(); sys.exit({status})"
            with subprocess.Popen([PROFTRACE, "run", "--no-report", "-o", self.runs / name, "--", sys.executable, "-c", program],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()) as launcher:
                self.assertEqual(launcher.stdout.readline(), b"ready\n")
                launcher.kill()
                launcher.wait()
                launcher.stdin.close()
                launcher.stdout.read()  # until the command has gone, too, or is about to
            for _ in range(100):
                if "<td>running</td>" not in self.page(f"/?filter={name}"):
                    break
                time.sleep(0.05)
            self.assertRegex(self.page(f"/?filter={name}"), rf"{name}</a></td><td>[^<]*</td><td>{wanted}</td>")

    def test_a_run_whose_launcher_was_killed_and_whose_program_became_another(self):
        """Of which there is no trace: nobody saw it fail. Its report says the same."""
        run = self.runs / "became"
        self.addCleanup(shutil.rmtree, run)
        run.mkdir()
        story = pathlib.Path(__file__).resolve().parent.parent / "golden/becomes_a_static_program.pt.txt"
        subprocess.run([PROFTRACE, "assemble", story, "-o", run], check=True, capture_output=True, env=environment())
        launcher = {"pid": 1, "start_ticks": 1, "boot_id": "another", "pid_namespace": "pid:[1]"}
        for pid, wanted in ((100, "unknown"), (101, "failed")):
            (run / "run.json").write_text(json.dumps({"launcher": launcher, "duration_ns": None, "stages": [{"stage": "prepare", "status": None, "start_ns": 1, "pid": pid}]}), encoding="utf-8")
            os.utime(run / "run.json", (time.time() - 1000,) * 2)
            self.assertRegex(self.page("/?filter=became"), rf"<td>{wanted}</td>")
            self.assertIn('run="became"', self.page("/metrics"))  # it is over, and the newest

    def test_head_and_headers(self):
        status, headers, body = self.ask("/", method="HEAD")
        self.assertEqual((status, body), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 1000)
        self.assertEqual((headers["Referrer-Policy"], headers["X-Content-Type-Options"], headers["Cache-Control"], headers["X-Frame-Options"]), ("no-referrer", "nosniff", "no-store", "DENY"))

    def test_what_is_not_there(self):
        for path in ("/runs/none", "/runs/", "/runs/..", "/runs/%2e%2e", "/runs/%2e%2e%2fetc", "/runs/few/../many", "/etc/passwd", "/compare?a=few&b=none", "/metrics?run=../few"):
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask("/compare?a=few")[0], 400)

    def test_a_damaged_run_is_one_bad_page(self):
        (self.runs / "damaged").mkdir()
        self.addCleanup(shutil.rmtree, self.runs / "damaged")
        (self.runs / "damaged/run.json").write_text("{", encoding="utf-8")
        self.assertEqual(self.ask("/runs/damaged")[0], 500)
        self.assertIn("/runs/damaged?", self.page("/"))


class Strangers(ServeCase):
    def test_without_the_token_there_is_nothing(self):
        for path in "/", "/runs/many", "/metrics", "/none", f"/?token={self.token[:-1]}", f"/?token={self.token}0", "/?token=", f"/?token={'0' * 32}":
            status, _, body = self.ask(path, token=False)
            self.assertEqual((status, body), (403, "403 Forbidden\n"), path)
        self.assertEqual(self.ask("/metrics", token=False, headers={"Authorization": f"Bearer {self.token}"})[0], 200)
        self.assertEqual(self.ask("/metrics", headers={"Authorization": "Bearer 0"})[0], 403)

    def test_port_80(self):
        """Clients leave it out."""
        script = """
import fcntl, http.client, re, socket, struct, subprocess, sys
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any:
        fcntl.ioctl(any, 0x8914, struct.pack("16sh14x", b"lo", 1 | 64))  # up
    with socket.create_server(("127.0.0.1", 80)):
        pass
except OSError as error:
    sys.exit(print(f"no loopback in a namespace of its own: {error}", file=sys.stderr) or 77)
server = subprocess.Popen([sys.argv[1], "serve", "--port", "80", sys.argv[2]], stdout=subprocess.PIPE, text=True)
token = re.search("token=([0-9a-f]+)", server.stdout.readline())[1]
for host in "127.0.0.1", "localhost", "127.0.0.1:80", "elsewhere":
    connection = http.client.HTTPConnection("127.0.0.1", 80, timeout=20)
    connection.request("GET", f"/?token={token}", headers={"Host": host})
    print(connection.getresponse().status)
server.terminate()
"""
        done = subprocess.run(["unshare", "-rn", sys.executable, "-c", script, PROFTRACE, self.runs], capture_output=True, text=True, check=False, timeout=100, env=environment())
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.stdout.split(), ["200", "200", "200", "421"], done.stderr)

    def test_another_name_for_this_machine_is_refused(self):
        for host in "evil.example", f"evil.example:{self.port}", "127.0.0.1", f"127.0.0.1:{self.port + 1}", f"127.0.0.2:{self.port}":
            self.assertEqual(self.ask("/", headers={"Host": host})[0], 421, host)
        self.assertEqual(self.ask("/", headers={"Host": f"localhost:{self.port}"})[0], 200)

    def test_nothing_can_be_written(self):
        for method in "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE":
            status, headers, _ = self.ask("/runs/few", method=method)
            self.assertEqual((status, headers.get("Allow")), (405, "GET, HEAD"), method)
        self.assertTrue((self.runs / "few/run.json").exists())

    def test_it_listens_on_loopback_only(self):
        with open("/proc/net/tcp", encoding="ascii") as file:
            own = [line.split()[1] for line in file if f":{self.port:04X} " in line and line.split()[3] == "0A"]
        self.assertEqual(own, [f"0100007F:{self.port:04X}"])
        with open("/proc/net/tcp6", encoding="ascii") as file:
            self.assertEqual([line for line in file if f":{self.port:04X} " in line and line.split()[3] == "0A"], [])

    def raw(self, data, wait=True):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self.addCleanup(client.close)
        client.sendall(data)
        answer = b""
        while wait and (part := client.recv(65536)):
            answer += part
        return answer if wait else client

    def test_hostile_requests(self):
        self.assertIn(b" 400 ", self.raw(b"\x16\x03\x01\x02\x00\x01\r\n\r\n"))  # TLS
        self.assertIn(b" 431 ", self.raw(b"GET / HTTP/1.1\r\nX: " + b"a" * 8200))
        self.assertIn(b" 414 ", self.raw(b"GET /" + b"a" * 2000 + b" HTTP/1.1\r\n\r\n"))
        self.assertIn(b" 505 ", self.raw(b"GET / HTTP/3\r\n\r\n"))
        self.raw(b"", wait=False).close()
        self.page("/")

    def test_slow_clients_keep_nobody_waiting(self):
        for _ in range(5):
            began = time.monotonic()
            slow = [self.raw(b"GET / HT", wait=False) for _ in range(20)]
            self.page("/")
            if time.monotonic() - began < 4:  # on a busy machine the server may run out of its patience of 5 s before we are done
                break
        slow[0].setblocking(False)
        self.assertRaises(BlockingIOError, slow[0].recv, 1)  # its own patience has not run out yet
        slow[0].settimeout(30)
        self.assertIn(b" 408 ", slow[0].recv(65536))

    def test_clients_that_say_nothing_keep_nobody_out(self):
        """More of them than there are places."""
        silent = [self.raw(b"", wait=False) for _ in range(80)]
        for _ in range(5):
            self.page("/")
        self.assertEqual(silent[0].recv(1), b"")

    def test_a_client_that_goes_before_its_page_is_made(self):
        for _ in range(5):
            self.raw(f"GET /runs/many?token={self.token} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode(), wait=False).close()
        self.page("/runs/few")

    def stop_what_makes_a_page(self, client):
        """So that the page is not made until it goes on. Its pid; 0 = it was faster."""
        children = pathlib.Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children")
        while not select.select([client], [], [], 0)[0]:
            for pid in children.read_text(encoding="ascii").split():
                process = pathlib.Path("/proc") / pid
                if b"\0report\0" in (process / "cmdline").read_bytes() and (process / "stat").read_text(encoding="ascii").rpartition(") ")[2][0] != "T":  # until then the server waits for it to begin
                    os.kill(int(pid), signal.SIGSTOP)
                    while (state := (process / "stat").read_text(encoding="ascii").rpartition(") ")[2][0]) not in "TZ":
                        pass
                    return int(pid) if state == "T" else 0
        return 0

    def left(self):
        """A client asks for a page, which does not come, and goes. The process that was stopped while it made it."""
        for _ in range(20):
            with self.raw(f"GET /runs/many?token={self.token} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode(), wait=False) as client:
                try:
                    if pid := self.stop_what_makes_a_page(client):
                        return pid
                except (FileNotFoundError, ProcessLookupError):
                    pass
        return self.fail("the page was there each time before what makes it could be stopped")

    def test_one_page_is_made_that_nobody_waits_for(self):
        """Else none would ever be done that takes longer than its reader waits, as a scrape of Prometheus; but not one for each scrape."""
        children = pathlib.Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children")
        if not children.exists():
            self.skipTest("this kernel does not tell a process's children (CONFIG_PROC_CHILDREN)")

        def wait_for(*pids):
            for _ in range(100):
                if children.read_text(encoding="ascii").split() == [str(pid) for pid in pids]:
                    break
                time.sleep(0.05)
            self.assertEqual(children.read_text(encoding="ascii").split(), [str(pid) for pid in pids])
        kept = self.runs / "many/symbols.cache"
        kept.unlink(missing_ok=True)
        first = self.left()
        for _ in range(2):
            self.left()
            wait_for(first)
        os.kill(first, signal.SIGCONT)
        wait_for()
        self.assertTrue(kept.exists())
        self.page("/runs/few")


class Command(ServeCase):
    def test_a_token_that_stays(self):
        file = self.folder / "kept"
        for _ in range(2):
            server = subprocess.Popen([PROFTRACE, "serve", "--port", "0", "--token-file", file, self.runs], stdout=subprocess.PIPE, text=True, env=environment())
            address = server.stdout.readline()
            server.terminate()
            server.communicate(timeout=20)
            self.assertEqual(address.strip().rpartition("=")[2], file.read_text(encoding="utf-8"))
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)

    def test_errors(self):
        def said(*arguments, **more):
            done = subprocess.run([PROFTRACE, "serve", *arguments], capture_output=True, text=True, check=False, timeout=20, env=environment(**more))
            return done.returncode, done.stderr
        code, text = said("--port", str(self.port), self.runs)
        self.assertEqual(code, 2)
        self.assertIn("cannot listen on 127.0.0.1", text)
        self.assertEqual(said(self.folder / "none")[0], 3)
        self.assertEqual(said("--port", "70000", self.runs)[0], 2)
        (self.folder / "token").write_text("secret", encoding="utf-8")
        self.assertIn("32 digits of 0-9a-f", said("--token-file", self.folder / "token", self.runs)[1])


if __name__ == "__main__":
    unittest.main()
