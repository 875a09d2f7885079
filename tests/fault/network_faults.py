# SPDX-License-Identifier: MIT
"""Waits and sockets: T13, T15, T24, T32, T39b and F1 once more, for the calls that wait, connect, send and receive."""
import network_truth as stories
from harness import FaultCase

BOTH = ("full", "sampled")


class NetworkFaults(FaultCase):
    def test_t13_jump_out_of_waits(self):
        self.check(["jump_out_of_waits"], modes=BOTH)

    def test_t15_errno_of_waits(self):
        self.check(["errno_of_waits"], modes=BOTH)

    def test_t24_many_watched(self):
        self.check(["many_watched"], modes=BOTH)

    def test_t32_t39b_renamed_sockets(self):
        self.check(["renamed_sockets"], modes=BOTH)

    def test_f1_sandboxed_sockets(self):
        self.check(["sandboxed_sockets"], modes=BOTH)

    def test_switched_off(self):
        """Each switch alone: what is off is not in the trace, what is on is the same."""
        for options, gone in (({"waits": 0}, "wait_poll"), ({"net": 0}, "net_send"), ({"io": 0}, "io_close")):
            with self.subTest(options=options):
                trace = self.check(["errno_of_waits"], claims=False, options=options)
                for row in ("wait_poll", "net_send", "io_close"):
                    self.assertEqual(trace.calls(row) == 0, row == gone, row)


class RealNetworks(FaultCase):
    """Servers and clients that people use say the same with and without us."""

    def test_asyncio(self):
        trace = self.check([stories.PYTHON, "-c", stories.ASYNCIO], modes=BOTH, claims=False)
        self.assertEqual((trace.calls("net_accept") - trace.calls("net_accept", "errors"), trace.lost()), (10, 0))

    def test_python_http(self):
        trace = self.check([stories.PYTHON, "-c", stories.URLLIB], setup=stories.files, modes=BOTH, claims=False)
        self.assertEqual((trace.calls("net_accept"), trace.lost()), (31, 0))

    def test_python_signals(self):
        self.check([stories.PYTHON, "-c", stories.SIGNALS], modes=BOTH, claims=False)

    def test_node_http(self):
        self.need("node")
        trace = self.check(["node", "-e", stories.NODE], modes=BOTH, claims=False)
        self.assertEqual((trace.calls("net_connect"), trace.lost()), (20, 0))

    def test_java_nio(self):
        self.need("javac")
        trace = self.check(["java", "-cp", ".", "Net"], setup=stories.java_source, modes=BOTH, claims=False)
        self.assertEqual((trace.calls("net_connect"), trace.lost()), (2, 0))

    def test_git_daemon(self):
        self.need("git")
        clone = (f"{stories.git_daemon()} git clone -q git://127.0.0.1:$port/repo clone; ls clone | wc -l; sha256sum clone/f* | sha256sum; "
                 f"{stories.STOP}")
        self.check(["bash", "-c", clone], setup=stories.repository, claims=False)
        self.assertEqual(self.trace().lost(), 0)

    def test_redis(self):
        self.need("redis-server", "redis-benchmark")
        self.check(["bash", "-c", f"{stories.redis_server()} redis-benchmark -p $port -n 5000 -c 20 -q -t set,get >bench; redis-cli -p $port dbsize;"
                    " redis-cli -p $port shutdown nosave; wait $p; echo $?"], modes=BOTH, claims=False)
        self.assertEqual(self.trace().lost(), 0)
