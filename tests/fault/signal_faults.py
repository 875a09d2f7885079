# SPDX-License-Identifier: MIT
"""T9-T18: signal handlers, small stacks, jumps, forks in threaded programs, errno, thread attributes, many threads."""
import resource
import subprocess

from harness import FaultCase, SETTINGS, machine, slow

BOTH = ("full", "sampled")


class SignalAndThreadFaults(FaultCase):
    def test_t9_tls_is_initial_exec(self):
        relocations = subprocess.run(["readelf", "-rW", SETTINGS.lib], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("DTPMOD64", relocations)
        self.assertNotIn("TLSDESC", relocations)

    def test_t10_small_thread_stack(self):
        self.check(["small_thread_stack"], modes=BOTH)

    def test_t11_small_signal_stack(self):
        self.check(["small_signal_stack"], modes=BOTH)

    def test_t12_hooks_in_handlers(self):
        self.check(["hooks_in_handlers"], modes=BOTH)

    def test_t13_jump_out_of_read(self):
        self.check(["jump_out_of_read"], modes=BOTH)

    def test_t14_fork_storm(self):
        self.check(["fork_storm", "60"], modes=BOTH)

    @slow
    def test_t14_fork_storm_long(self):
        self.check(["fork_storm", "1000"], modes=BOTH, timeout=600)

    def test_b6_signals_while_starting(self):
        self.check(["signals_while_starting"], modes=BOTH)

    def test_b6_shared_memory_clones(self):
        self.check(["shared_memory_clones"], modes=BOTH)

    def test_b6_borrowed_memory(self):
        self.check(["borrowed_memory"], modes=BOTH)

    def test_b11_broken_stacks(self):
        self.check(["broken_stacks"], modes=BOTH)

    def test_f1_sandbox_probe(self):
        self.check(["sandbox_probe"], modes=BOTH)

    def test_f1_sandboxed_thread(self):
        self.check(["sandboxed_thread"], modes=BOTH)

    def test_t15_errno_kept(self):
        self.check(["errno_kept"], modes=BOTH)

    def test_t17_thread_attributes(self):
        self.check(["thread_attributes"], modes=BOTH)

    def test_t18_many_threads(self):
        self.check(["many_threads"], modes=BOTH)

    def test_t18_threads_come_and_go(self):
        machine.need_tasks(self, 1000)
        self.check(["threads_come_and_go"], modes=BOTH, timeout=300)

    def test_t18_ends_of_threads_leave_room_for_names(self):
        """What is kept of each thread that has ended took all the room that there was for names, of a server with a thread for each request."""
        trace = self.check(["threads_come_and_go", "50", "10000"], options={"RING_MIB": "1"}, claims=False, timeout=300)
        trace.tally(["fd_path:/late-99:io_open"])
        self.assertEqual(trace.value("fd_path:/late-99:io_open"), 1)

    def test_t18_ends_of_threads_are_no_unknown_names(self):
        """A file that may not grow: the ends of some 10000 threads counted as names that found no room, and a larger ring was the advice."""
        trace = self.check(["threads_come_and_go", "50", "10000"], claims=False, account=False, timeout=300,
                           before_exec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        self.assertLess(trace.info()["events"]["drop_reasons"].get("definition", 0), 1000)
        self.assertNotIn("PROFTRACE_RING_MIB", " ".join(trace.info()["notes"]))

    def test_python_handlers_and_threads(self):
        script = ("import signal, threading, os\n"
                  "hits = 0\n"
                  "def on(*_):\n    global hits; hits += 1; os.write(2, b'')\n"
                  "signal.signal(signal.SIGALRM, on); signal.setitimer(signal.ITIMER_REAL, .002, .002)\n"
                  "def work():\n    for i in range(200):\n        with open('/dev/null', 'wb') as f: f.write(b'x' * i)\n"
                  "ts = [threading.Thread(target=work) for _ in range(8)]\n"
                  "[t.start() for t in ts]; [t.join() for t in ts]\n"
                  "while hits < 20: signal.pause()\n"
                  "signal.setitimer(signal.ITIMER_REAL, 0)\n"
                  "print('done')\n")
        trace = self.check(["/usr/bin/python3", "-c", script], modes=BOTH)
        self.assertGreaterEqual(trace.calls("io_open"), 1600)

    def test_java_threads(self):
        self.need("java")
        source = ("public class H { public static void main(String[] a) throws Exception {"
                  " Thread[] t = new Thread[20]; for (int i = 0; i < 20; i++) { t[i] = new Thread(() -> {"
                  " long s = 0; for (int k = 0; k < 300000; k++) s += new int[8].length; }); t[i].start(); }"
                  " for (Thread x : t) x.join(); try { ((Object) null).hashCode(); } catch (NullPointerException e) {"
                  " System.out.println(\"caught\"); } System.exit(9); } }")

        def setup(work):
            with open(f"{work}/H.java", "w", encoding="ascii") as f:
                f.write(source)
        self.check(["java", "H.java"], setup=setup, status=9, claims=False)
        self.assertEqual(self.trace().lost(), 0)
