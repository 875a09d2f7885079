# SPDX-License-Identifier: MIT
"""T9-T18 again, as they happen to real programs."""
import os
import re
import signal

from harness import slow
from real_programs import PROGRAMS, PYTHON, RealCase, java, python, redis

BOTH = ("sampled", "full")  # the trace of the last one is looked into


def without_addresses(result):
    return type(result)(result.out, re.sub(rb"0x[0-9a-f]+", b"0x", result.err), result.status)


class RealStacks(RealCase):
    def test_t9_library_tls(self):
        trace = self.check_real("python", python("library_tls"), modes=BOTH)
        self.assert_trace(trace, **{"size:32": 500, "thread_create": 500})

    def test_t9_tls_of_jemalloc(self):
        """redis' own threads first touch 2.6 KiB of jemalloc's thread-local storage inside of malloc."""
        story = "for i in 1 2 3; do redis-cli -s r.sock eval \"return #redis.call('keys','*')\" 0; redis-cli -s r.sock flushall async; done"
        self.check_real("redis", redis(story, "--io-threads 4"), modes=BOTH)

    @slow
    def test_t9_tls_of_torch(self):
        story = ("import threading, torch\n"
                 "def work(): print(end=str(int(torch.ones(100).sum())) + ' ')\n"
                 "for _ in range(20):\n    t = threading.Thread(target=work); t.start(); t.join()\n")
        if not os.path.isdir("/usr/lib/python3/dist-packages/torch"):
            self.skipTest("torch is not installed")
        self.check_real("python", [PYTHON, "-c", story], modes=BOTH, timeout=120)

    def test_t10_small_stacks(self):
        trace = self.check_real("python", python("small_stacks"), modes=BOTH)
        trace.tally(["size:4242"])
        self.assert_trace(trace, **{"size:4242": 300 + 2000, "io_write": 2000, "thread_create": 1300})

    def test_t10_small_stacks_of_perl(self):
        story = ("use threads ('stack_size' => 16384); for (1..40) { threads->create(sub { open my $f, '>', '/dev/null';"
                 " syswrite $f, 'x' x 5000 for 1..50 })->join } print threads->get_stack_size(), qq(\\n)")
        trace = self.check_real("perl", ["perl", "-e", story], modes=BOTH)
        self.assert_trace(trace, io_write=2000, thread_create=40)

    def test_t10_t11_t17_stacks_of_java(self):
        """Stack overflows and null pointers: SIGSEGVs that the machine's handler answers; threads that cannot be made."""
        trace = self.check_real("java", java("Stacks", options=["-Xlog:disable"]), status=7, modes=BOTH)
        self.assert_trace(trace, thread_create=300)

    def test_t11_small_signal_stack(self):
        for extra, env in ((512, {"LD_BIND_NOW": 1}), (1024, {})):
            with self.subTest(extra=extra):
                trace = self.check_real("python", python("small_signal_stack", str(extra)), modes=BOTH, env=env)
                self.assert_trace(trace, io_write=3000, io_read=3000)

    def test_t11_handler_on_overflown_stack(self):
        """faulthandler writes its last report from a stack of its own, the thread's is used up."""
        story = "import faulthandler, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); faulthandler.enable(); faulthandler._stack_overflow()"
        trace = self.check_real("python", [PYTHON, "-c", story], status=-signal.SIGSEGV, normalise=without_addresses, modes=BOTH)
        self.assert_trace(trace, io_write=5)


class RealHandlers(RealCase):
    """T12: handlers that write, in threads that are in the middle of a call themselves."""

    def test_t12_handlers_of_node(self):
        """libuv's handler writes to a pipe; three workers send the signals while the main thread allocates and writes."""
        story = ("const {Worker} = require('worker_threads'), fs = require('fs'); let n = 0; process.on('SIGUSR2', () => n++);"
                 "for (let i = 0; i < 3; i++) new Worker(`for (let k = 0; k < 2000; k++) process.kill(${process.pid}, 'SIGUSR2')`, {eval: true})"
                 ".on('exit', code => { if (code) throw code });"
                 "const fd = fs.openSync('/dev/null', 'w'); let rounds = 0; const work = () => { for (let i = 0; i < 200; i++)"
                 " fs.writeSync(fd, Buffer.allocUnsafeSlow(5000)); if (++rounds < 50 || !n) setImmediate(work); else console.log('heard', n > 0) }; work()")
        trace = self.check_real("node", ["node", "-e", story], modes=BOTH)
        self.assert_trace(trace, **{"fd_path:/dev/null:io_write": 10000})

    @slow
    def test_t12_t13_redis_crashes(self):
        """The crash report of redis is written inside of its SIGSEGV handler, which cancels all other threads and tests all memory.

        Only with --slow: on a busy machine redis itself does not always come to the end of its report, with or without us."""
        story = "redis-cli -s r.sock set a 1; redis-cli -s r.sock debug segfault 2>&1"
        look = ("wait $p; echo ended $?;"
                " grep -o 'Fast memory test [A-Z]*\\|Bio thread.*terminated\\|IO thread\\|STACK TRACE\\|BUG REPORT [A-Z]*' r.log")
        shell, option, script = redis(story, "--io-threads 2 --enable-debug-command yes", stop=look)
        # bash tells of the crash when it happens to notice
        trace = self.check_real("redis", [shell, option, f"exec 2>/dev/null; ulimit -c 0; {script}"], modes=BOTH)
        self.assert_trace(trace, thread_create=4, io_write=50)


class RealJumpsAndForks(RealCase):
    def test_t13_cancelled_threads(self):
        trace = self.check_real("python", python("cancelled"), modes=BOTH)
        trace.tally(["size:4242"])
        self.assert_trace(trace, **{"size:4242": 1000, "thread_create": 60})

    def test_t13_perl_dies_in_handler(self):
        trace = self.check_real("perl", ["perl", os.path.join(PROGRAMS, "jumped_out.pl")], env={"PERL_SIGNALS": "unsafe"}, modes=BOTH)
        self.assert_trace(trace, **{"fd_path:/dev/null:io_write": 1000})

    def test_t13_blocked_reads_of_java(self):
        self.check_real("java", java("Blocked"), modes=BOTH)

    def forks_of_python(self, children):
        trace = self.check_real("python", python("fork_among_threads", str(children)), modes=BOTH, timeout=300)
        self.assert_trace(trace, processes=children + 1, proc_fork=children, io_pwrite=children, **{"size:4242": 100 * children})

    def test_t14_forks_of_python(self):
        self.forks_of_python(60)

    @slow
    def test_t14_forks_of_python_long(self):
        self.forks_of_python(1000)

    def test_t14_saves_of_redis(self):
        """redis forks to save itself while two threads serve and a benchmark writes."""
        story = ("redis-benchmark -s r.sock -n 10000 -c 10 -q -t set,lpush >/dev/null 2>&1 & b=$!;"
                 " for i in 1 2 3 4; do redis-cli -s r.sock bgsave; until redis-cli -s r.sock info persistence | grep -q"
                 " bgsave_in_progress:0; do sleep 0.02; done; done; wait $b; redis-cli -s r.sock info persistence | grep last_bgsave_status;"
                 " ls *.rdb; redis-check-rdb dump.rdb | grep -c OK")
        trace = self.check_real("redis", redis(story, "--io-threads 2 --io-threads-do-reads yes"), modes=BOTH)
        self.assert_trace(trace, proc_fork=4)

    def test_t14_children_of_java(self):
        self.check_real("java", java("Children"), modes=BOTH)

    def test_t14_children_of_node(self):
        story = ("const {Worker, isMainThread} = require('worker_threads'); const cp = require('child_process');"
                 "for (let i = 0; i < 3; i++) new Worker(`const fs = require('fs'); setInterval(() => fs.writeFileSync('/dev/null', Buffer.alloc(9999)), 0)`,"
                 " {eval: true}); let n = 0; setTimeout(() => { for (let i = 0; i < 10; i++) n += cp.spawnSync('sh', ['-c', 'exit 3']).status;"
                 "console.log('statuses', n); process.exit(4) }, 100)")
        self.check_real("node", ["node", "-e", story], status=4, modes=BOTH)


class RealErrno(RealCase):
    def test_t15_errno_of_python(self):
        trace = self.check_real("python", python("errno_rounds"), modes=BOTH)
        trace.tally(["size:4242", "fd_path:/dev/zero:io_read"])
        self.assert_trace(trace, **{"size:4242": 3000, "fd_path:/dev/zero:io_read": 3000, "io_close.errors": 3000, "io_open.errors": 9000})

    def test_t15_errno_of_others(self):
        """What goes wrong is told with errno's words: one wrong number, and a program says something else."""
        stories = {
            "perl": ["perl", "-e", "for my $p ('/nonexistent/x', '/etc/passwd/x', '/', 'x' x 5000) { for (1..300) { open(my $f, '>', $p) and die;"
                     " $seen{qq(open $!)}++; rmdir $p and die; $seen{qq(rmdir $!)}++; sysread(NONE, my $b, 1); $seen{qq(read $!)}++ } }"
                     " print map { qq($_ $seen{$_}\\n) } sort keys %seen"],
            "node": ["node", "-e", "const fs = require('fs'), seen = {}; for (const p of ['/nonexistent/x', '/etc/passwd/x', '/', 'x'.repeat(5000)])"
                     " for (const f of [p => fs.readFileSync(p), p => fs.writeFileSync(p, ''), p => fs.rmdirSync(p), p => fs.mkdirSync(p),"
                     " p => fs.readlinkSync(p), () => fs.closeSync(12345)]) for (let i = 0; i < 100; i++)"
                     " try { f(p) } catch (e) { const k = e.syscall + ' ' + e.code; seen[k] = (seen[k] || 0) + 1 } console.log(seen)"],
            "git": ["bash", "-c", "cd /nonexistent; cat /etc/passwd/x; : > /; read -u 77; exec 9<&77; ls /nonexistent; rmdir /; git -C /nonexistent log;"
                    " git init -q /etc/passwd/r; echo $?"],
            "java": java("Errors"),
            "redis": redis("for i in 1 2 3; do for d in /nonexistent/x /etc/passwd \"$(printf %0300d 1)\"; do"
                           " redis-cli -s r.sock config set dir $d; done; done; redis-cli -s r.sock script load 'nonsense('"),
        }
        for name, command in stories.items():
            with self.subTest(program=name):
                self.check_real(name, command, status=None, modes=BOTH)


class RealThreads(RealCase):
    def test_t17_attributes_of_python(self):
        trace = self.check_real("python", python("thread_attributes"), status=5, modes=BOTH)
        trace.tally(["size:4242"])
        self.assert_trace(trace, **{"processes": 2, "size:4242": 100, "thread_create.errors": 201})

    def test_t17_attributes_of_others(self):
        stories = {
            "perl": ["perl", "-e", "use threads; for my $size (1 << 17, 1 << 20, 1 << 22) { my $t = threads->create({stack_size => $size},"
                     " sub { threads->self->get_stack_size }); print $t->join, qq(\\n) } print defined(threads->create({stack_size => 1 << 46},"
                     " sub {})) ? qq(made\\n) : qq(refused\\n); threads->create(sub { exec 'sh', '-c', 'echo second; exit 5' })->join"],
            "node": ["node", "-e", "const {Worker} = require('worker_threads'); for (const stackSizeMb of [1, 2, 4]) new Worker("
                     "'const deep = n => { try { return deep(n + 1) } catch (e) { return n } }; if (deep(0) < 500) throw 1', {eval: true,"
                     " resourceLimits: {stackSizeMb}}).on('exit', code => console.log('exit', code))"],
        }
        for name, command in stories.items():
            with self.subTest(program=name):
                self.check_real(name, command, status=None, modes=BOTH)

    def threads_of_python(self, number):
        trace = self.check_real("python", python("many_threads", str(number)), modes=BOTH, timeout=300)
        trace.tally(["size:4242"])
        self.assert_trace(trace, **{"size:4242": number + 200, "thread_create": number + 200})

    def test_t18_threads_of_python(self):
        self.threads_of_python(5000)

    @slow
    def test_t18_threads_of_python_long(self):
        self.threads_of_python(50000)

    def test_t18_threads_of_java(self):
        trace = self.check_real("java", java("Threads", "1000", "1000", options=["-Xss256k"]), modes=BOTH)
        self.assert_trace(trace, thread_create=2000)

    def test_t18_threads_of_node(self):
        story = ("const {Worker} = require('worker_threads'); let n = 0; for (let i = 0; i < 16; i++) new Worker('require(`fs`).statSync(`/`)',"
                 " {eval: true}).on('exit', code => { if (code) throw code; if (++n == 16) console.log('workers', n) })")
        trace = self.check_real("node", ["node", "-e", story], modes=BOTH)
        self.assert_trace(trace, thread_create=16)
