# SPDX-License-Identifier: MIT
"""Durations are true: waits of a tenth of a second that a program times itself, and what is known of each."""
import re

from harness import FaultCase, clean_environment, run_command


class WaitTruth(FaultCase):
    def setUp(self):
        """What holds the program up for 50 ms within a short call makes one more long wait: then once more."""
        super().setUp()
        for _ in range(3):
            self.measure()
            if self.is_each_seen():
                break

    def is_each_seen(self):
        return [name for name, _ in self.known] == [e["event"] for e in self.seen]

    def measure(self):
        environment = self.preload_environment(clean_environment(), "sampled")
        self.fresh_work()
        result = run_command([self.host("waits_known")], self.work, environment)
        self.assertEqual((result.status, result.err), (0, b""))
        self.known = [(name, int(ns)) for name, ns in re.findall(r"(\w+) (\d+)", result.out.decode())]
        self.all = list(self.trace().events('"(wait_|net_|lock_semop|io_lock|io_read")'))
        parent = self.all[0]["pid"]
        names = {name for name, _ in self.known}
        # That its children are ready it hears by pipes: on a busy machine it waits long for that, too, and does not tell.
        self.seen = [e for e in self.all if e["pid"] == parent and e["event"] in names and e["duration_ns"] > 50e6
                     and not (e["event"] == "io_read" and (e.get("path") or "").startswith("pipe:"))]

    def test_durations_within_two_percent(self):
        """A busy machine may take the program away between its clock and ours: one good round in three is enough."""
        for _ in range(3):
            self.assertTrue(all(ns > 90e6 for _, ns in self.known), self.known)
            ratios = [event["duration_ns"] / ns for (_, ns), event in zip(self.known, self.seen)]
            if self.is_each_seen() and all(0.98 < ratio < 1.02 for ratio in ratios):
                return
            self.measure()
        self.fail(f"{ratios}, known {self.known}, seen {self.seen}")

    def test_what_was_waited_for(self):
        polls = [(e["timeout_ms"], e["fds"], e["path"].split("[")[0] if e.get("path") else None) for e in self.seen if e["event"] == "wait_poll"]
        reader = next(e["fd"] for e in self.seen if e["event"] == "wait_poll")
        self.assertEqual(polls, [(100, 1, "pipe:"), (100, 0, None), (100, reader + 1, "pipe:"), (100, reader + 1, "pipe:"), (100, 1024, None),
                                 (100, 1, "anon_inode:")])
        self.assertEqual([e["requested_ns"] for e in self.seen if e["event"] == "wait_sleep"], [10**8, 10**8, 10**9])
        child = next(e for e in self.seen if e["event"] == "wait_child")
        self.assertEqual((child["status"], child["result"]), (child["status"], child["asked_pid"]))
        self.assertIn(child["status"], ("0x300", 0x300))

    def test_other_processes(self):
        """Queues, semaphores and file locks between processes, and what popen runs, are waits of their kinds."""
        seen = {name: [e for e in self.seen if e["event"] == name] for name, _ in self.known}
        self.assertEqual([(e["call"], e["result"]) for e in seen["wait_message"]], [(1, 4), (17, 4)])
        self.assertEqual([e["operation"] for e in seen["lock_semop"]], [-1])
        self.assertEqual([(e["result"], e["path"]) for e in seen["io_read"]], [(8, "anon_inode:[eventfd]")])
        self.assertEqual([e["operation"] for e in seen["io_lock"]], [2])
        self.assertTrue(seen["io_lock"][0]["path"].endswith("locked"))
        self.assertEqual(seen["wait_child"][-1]["result"], 0)

    def test_both_ends_of_the_connection_match(self):
        accept = next(e for e in self.all if e["event"] == "net_accept")
        connect = next(e for e in self.all if e["event"] == "net_connect")
        self.assertNotEqual(accept["pid"], connect["pid"])
        self.assertEqual((accept["peer"], accept["local"]), (connect["local"], connect["peer"]))
        receive = next(e for e in self.all if e["event"] == "net_receive")
        send = next(e for e in self.all if e["event"] == "net_send")
        self.assertEqual((receive["path"], send["path"]), (accept["peer"], connect["peer"]))
        self.assertRegex(send["path"], r"^tcp 127\.0\.0\.1:\d+$")
