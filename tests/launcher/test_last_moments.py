# SPDX-License-Identifier: MIT
"""A process that dies by a signal: the report says what its threads did last, in every form, and no more than was recorded."""
import json
import os
import subprocess
import sys
import unittest

from launcher_case import LauncherCase

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")
HOSTILE = 'a <b>|`x`\n\x1b[31m"=1'
# Beside a thread that reads and one that waits, one opens and reads a file 30 times, up to 30 bytes, and dies in the midst of ranges.
CRASH = """
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "proftrace/proftrace.h"

static int ends[2], signal_to_die;
static atomic_int main_waits;

static void *wait_forever(void *argument)
{
    char byte;
    usleep(10000);
    return read(ends[0], &byte, 1) ? argument : NULL;
}

static void *read_always(void *argument)
{
    char bytes[8];
    for (int fd = open("/dev/zero", O_RDONLY); read(fd, bytes, sizeof bytes) > 0; usleep(2000))
        ;
    return argument;
}

/* The main thread must not be the one that is seen last, whenever a busy machine lets it go on. */
static void wait_for_main(void)
{
    do
        usleep(100000);
    while (!main_waits);
}

static void *die(void *path)
{
    char bytes[64];
    wait_for_main();
    proftrace_epoch(2);
    proftrace_step(41);
    proftrace_range_push("over");
    proftrace_range_pop();
    proftrace_range_push("outer");
    proftrace_range_push(path);
    for (int i = 1; i <= 30; i++) {
        int fd = open(path, O_RDONLY);
        if (pread(fd, bytes, i, 0) != i)
            _exit(1);
        close(fd);
    }
    if (signal_to_die == SIGSEGV)
        *(volatile int *)8 = 1;
    if (signal_to_die == SIGABRT)
        abort();
    kill(getpid(), signal_to_die);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    signal_to_die = argc > 2 ? atoi(argv[2]) : 0;
    if (pipe(ends))
        return 1;
    pthread_create(&thread, NULL, wait_forever, NULL);
    pthread_create(&thread, NULL, read_always, NULL);
    usleep(800000);
    pthread_create(&thread, NULL, die, argv[1]);
    main_waits = 1;
    pause();
}
"""
CRASH_IN_PYTHON = """
import os, sys, threading, time
threading.Thread(target=lambda: os.read(os.pipe()[0], 1), daemon=True).start()
main_waits = threading.Event()
def die():
    main_waits.wait()
    time.sleep(0.1)
    for i in range(1, 31):
        with open(sys.argv[1], "rb", 0) as file:
            file.read(i)
    os.abort()
threading.Thread(target=die).start()
main_waits.set()
time.sleep(60)
"""


class LastMoments(LauncherCase):
    def crash(self, *command, environment=None, path=HOSTILE):
        with open(os.path.join(self.folder, path), "wb") as file:
            file.write(b"x" * 100)
        self.run_it(*command, environment=environment, stderr=subprocess.DEVNULL, capture_output=False)
        shown = self.proftrace("report", "--format", "json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        stage, = json.loads(shown.stdout)["stages"]
        return stage

    def thread_that_died(self, stage):
        """The one whose events are of the file."""
        tid, = {row["tid"] for row in stage["last_events"]}
        row, = (row for row in stage["last_threads"] if row["tid"] == tid)
        self.assertTrue(row["seen_last"])
        return row

    def test_each_signal(self):
        program = self.compile(CRASH, "-I", INCLUDE, "-pthread")
        for number in (11, 6, 9):
            with self.subTest(signal=number):
                stage = self.crash(program, HOSTILE, str(number))
                (one,), threads = stage["deaths"], stage["last_threads"]
                self.assertIn(f"signal {number} ", one["exit"])
                self.assertEqual({row["pid"] for row in threads}, {one["pid"]})
                self.assertEqual(sum(row["seen_last"] for row in threads), 1)
                self.assertEqual(threads, sorted(threads, key=lambda row: row["silent_s"]))
                died, = (row for row in threads if row["step"] is not None)
                self.assertEqual((died["epoch"], died["step"], died["within"]), (2, 41, "outer > " + HOSTILE))
                # One waits in its read since the start: the report says how long nothing was heard of it, and no more. So it may say
                # of others that had no CPU for as long.
                waits = [row for row in threads if row["silent_s"] > 0.4 and row is not died]
                self.assertGreaterEqual(len(waits), 1)
                self.assertEqual({row["within"] for row in waits}, {None})

    def test_the_last_twenty_events(self):
        program = self.compile(CRASH.replace("pthread_create(&thread, NULL, read_always", "(void)(read_always"), "-I", INCLUDE, "-pthread")
        stage = self.crash(program, HOSTILE, "11")
        self.assertEqual(self.thread_that_died(stage)["within"], "outer > " + HOSTILE)
        events = [(row["event"], row["fields"]) for row in stage["last_events"]]
        self.assertEqual(len(events), 20)
        self.assertEqual([name for name, _ in events], (["io_close", "io_pread", "io_open"] * 7)[:20])
        reads = [fields for name, fields in events if name == "io_pread"]
        self.assertEqual([f"result={30 - i} " in fields for i, fields in enumerate(reads)], [True] * len(reads))
        self.assertTrue(all('path="a <b>|`x`\\x0a\\x1b[31m\\"=1"' in fields for _, fields in events), events)
        before = [row["before_end_s"] for row in stage["last_events"]]
        self.assertEqual(before, sorted(before))

    def test_in_every_form(self):
        program = self.compile(CRASH, "-I", INCLUDE, "-pthread")
        self.crash(program, HOSTILE, "11")
        for form in (["--full"], ["--format", "md"], ["--format", "html"]):
            text = self.proftrace("report", *form).stdout.decode()
            self.assertIn("Last events of the thread that was seen last", text)
            self.assertIn("What the threads of processes that died did last", text)
            self.assertNotIn("\x1b[31m", text)
            self.assertNotIn("a <b>", text if "html" in form else "")

    def test_python(self):
        path = os.path.join(self.folder, "data")
        stage = self.crash(sys.executable, "-c", CRASH_IN_PYTHON, path, path="data")
        self.assertIn("SIGABRT", stage["deaths"][0]["exit"])
        self.assertIsNone(self.thread_that_died(stage)["step"])
        self.assertTrue(any(f'path="{path}"' in (row["fields"] or "") for row in stage["last_events"]), stage["last_events"])

    def test_overwritten_events_are_not_made_up(self):
        """The beginning of the ranges is gone: what is open is unknown, not nothing."""
        # The other thread reads seldom: on a busy machine it could be the one that is seen last. Offsets without an order, or nearly a
        # million events fit into a ring of 1 MiB.
        program = self.compile(CRASH.replace("i <= 30", "i <= 500000").replace("pread(fd, bytes, i, 0) != i", "pread(fd, bytes, 30, rand() % 70) != 30").replace("usleep(2000)", "usleep(5000000)"),
                               "-I", INCLUDE, "-pthread")
        stage = self.crash(program, HOSTILE, "11", environment={"PROFTRACE_RING_MIB": "1"})
        died = self.thread_that_died(stage)
        self.assertEqual((died["within"], died["within_reason"]), (None, "events that could say so are lost"))
        self.assertLessEqual(len(stage["last_events"]), 20)

    def test_a_good_end_has_none(self):
        stage = self.crash(sys.executable, "-c", "open('data').read()", path="data")
        self.assertFalse({"deaths", "last_threads", "last_events"} & set(stage))


if __name__ == "__main__":
    unittest.main()
