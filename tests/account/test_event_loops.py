#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What an event loop waits for: a server for its clients (nobody is to blame), a client for its server, a parent for a child."""
import sys
import unittest

from account_case import AccountCase, thrice

SERVER = """
import asyncio, os, socket, sys, time
async def tick():
    while True: await asyncio.sleep(0.05)
async def handle(r, w):
    w.write(await r.read(1)); await w.drain(); w.close()
async def main(port):
    ticking = asyncio.ensure_future(tick())
    server = await asyncio.start_server(handle, sock=listener)
    await asyncio.sleep(1.5)
listener = socket.create_server(('127.0.0.1', 0))
port = listener.getsockname()[1]
if not os.fork():
    for i in range(3):
        time.sleep(0.3)
        with socket.create_connection(('127.0.0.1', port)) as c: c.send(b'q'); c.recv(1)
    os._exit(0)
asyncio.run(main(port))
os.wait()
"""

CLIENT = """
import asyncio, os, socket, time
listener = socket.create_server(('127.0.0.1', 0))
if not os.fork():
    c, _ = listener.accept()
    for i in range(3): c.recv(1); time.sleep(0.3); c.send(b'x')
    os._exit(0)
took = 0
async def main():
    global took
    r, w = await asyncio.open_connection(*listener.getsockname())
    for i in range(3):
        start = time.monotonic()
        w.write(b'q'); await r.read(1)
        took += time.monotonic() - start
    await asyncio.sleep(0.4)
asyncio.run(main())
os.wait()
print(took)
"""

PIPE = """
import os, select, time
r, w = os.pipe()
if not os.fork():
    for i in range(3): time.sleep(0.25); os.write(w, b'x')
    os._exit(0)
loop = select.epoll(); loop.register(r, select.EPOLLIN)
start = time.monotonic()
for i in range(3): loop.poll(); os.read(r, 1)
print(time.monotonic() - start)
os.wait()
"""

# As uvloop's: a thread of its own wakes the loop through an eventfd. Two processes, whose eventfds have the same name.
OWN_EVENTFDS = """
import ctypes, os, select, threading, time
libc = ctypes.CDLL(None)
child = os.fork()
woken = libc.eventfd(0, 0)
def work():
    for i in range(4): time.sleep(0.2); os.write(woken, (1).to_bytes(8, 'little'))
loop = select.epoll(); loop.register(woken, select.EPOLLIN)
thread = threading.Thread(target=work)
thread.start()
for i in range(4): loop.poll(); os.read(woken, 8)
thread.join()
if child: os.wait()
"""

# As a worker of gunicorn: its master has bound the socket. When nothing comes, select names the pipe.
BOUND_BEFORE_THE_FORK = """
import os, select, socket
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
if os.fork():
    os.wait()
else:
    listener.listen()
    r, w = os.pipe()
    for i in range(4): select.select([listener, r], [], [], 0.3)
"""


class EventLoops(AccountCase):
    def run_python(self, body):
        return self.run_traced("/usr/bin/python3", "-S", "-c", body)

    @thrice
    def test_a_server_without_much_to_do(self):
        _, report, stage = self.run_python(SERVER)
        time = stage["time"]
        self.assertGreater(time["idle_s"], 1.2, time)
        self.assertLess(time["data_wait_s"] + time["sleep_s"], 0.1, time)
        self.assertEqual(self.found(report), [])

    @thrice
    def test_a_worker_of_a_server_without_clients(self):
        _, report, stage = self.run_python(BOUND_BEFORE_THE_FORK)
        worker = next(row for row in stage["threads"] if row["child_wait_s"] < 0.1)
        self.assertGreater(worker["idle_s"], 1.1, worker)
        self.assertLess(worker["sleep_s"], 0.1, worker)
        self.assertEqual(self.found(report), [])

    @thrice
    def test_a_client_waits_for_its_server(self):
        output, _, stage = self.run_python(CLIENT)
        time = stage["time"]
        self.assert_within(time["network_s"], float(output), float(output), time["wall_s"], str(time))
        self.assertGreater(time["idle_s"], 0.38, "a coroutine that sleeps leaves the loop idle")

    @thrice
    def test_a_parent_waits_for_its_child(self):
        output, _, stage = self.run_python(PIPE)
        time = stage["time"]
        self.assert_within(time["data_wait_s"], float(output), float(output), time["wall_s"], str(time))
        wait = next(row for row in stage["waits"] if row["wait"] == "Data wait")
        self.assertGreater(wait["sleep_s"], 0.7)

    @thrice
    def test_a_thread_of_its_own_wakes_it(self):
        """Eventfds have no name of their own: that of another process is not who woke this one."""
        _, _, stage = self.run_python(OWN_EVENTFDS)
        mains = [row for row in stage["threads"] if row["idle_s"] > 0.1]
        self.assertEqual(len(mains), 2, stage["threads"])
        for row in mains:
            self.assertGreater(row["idle_s"], 0.7, row)
            self.assertLess(row["data_wait_s"], 0.05, row)
        self.assertEqual([row for row in stage.get("waits", []) if row["wait"] == "Data wait" and row["total_s"] > 0.01], [])

    def check_launcher(self, stage, name):
        """It waits for its children all the time, so the stage's account is theirs."""
        own = next(row for row in stage["threads"] if row["process"] == name)
        self.assertGreater(own["child_wait_s"], 0.7, own)
        self.assertLess(own["sleep_s"] + own["idle_s"], 0.1, own)
        self.assertGreater(stage["time"]["sleep_s"], 0.7, stage["time"])

    @thrice
    def test_a_parent_waits_for_the_signal_of_its_child(self):
        """timeout(1) hangs in sigsuspend: it does not sleep, its child does."""
        _, _, stage = self.run_traced("timeout", "30", "sleep", "0.8")
        self.check_launcher(stage, "timeout")

    @thrice
    def test_make_waits_for_a_free_job(self):
        """With all jobs taken make hangs in pselect until SIGCHLD."""
        rules = "all: 1 2 3 4\n1 2 3 4:\n\t@sleep 0.4\n"
        _, _, stage = self.run_traced("make", "-s", "-j2", "--eval", rules, "-f", "/dev/null", "all")
        self.check_launcher(stage, "make")

    @thrice
    def test_a_daemon_pauses(self):
        _, report, stage = self.run_python("import signal; signal.setitimer(signal.ITIMER_REAL, 0.8); "
                                           "signal.signal(signal.SIGALRM, print); signal.pause()")
        self.assertGreater(stage["time"]["idle_s"], 0.75, stage["time"])
        self.assertEqual(self.found(report), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
