# SPDX-License-Identifier: MIT
"""The state-diff test: all that a program can find out about itself is the same with and without the library (T16 too)."""
import os
import re
import resource
import shutil
import signal

from harness import FaultCase, Result, SETTINGS

BOTH = ("full", "sampled", "off")
STATUS = ("SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt|Threads|Umask|Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|FDSize|TracerPid|CoreDumping|THP_enabled")
OURS = "LD_PRELOAD|PROFTRACE_|CUDA_INJECTION64_PATH|NVTX_INJECTION64_PATH|INTEL_LIBITTNOTIFY64"
# What each interpreter can find out about the process it runs in. Mapped files: ours and its trace are documented as different.
PYTHON = r"""
import os, re, resource, signal, sys, threading, time, locale, gc
def lines(path, pattern='.'):
    return [line for line in open(path, errors='replace').read().split('\n') if re.match(pattern, line)]
def target(path):
    try: return re.sub(r'\[.*', '', os.readlink(path))
    except OSError as e: return e.errno  # the descriptor that listed them
def show(when):
    print('----', when)
    for s in range(1, 65):
        if s not in (32, 33): print(s, signal.getsignal(s))
    print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending(), [signal.getitimer(i) for i in range(3)])
    print(sorted((f, target('/proc/self/fd/' + f)) for f in os.listdir('/proc/self/fd')))
    print([(f, lines('/proc/self/fdinfo/%d' % f, 'flags')) for f in range(3)])
    print(sorted((k, v) for k, v in os.environ.items() if not re.match('OURS', k)))
    print([(n, resource.getrlimit(getattr(resource, n))) for n in dir(resource) if n.startswith('RLIMIT')])
    print(os.getcwd(), oct(os.umask(0o22)), os.nice(0), os.getpriority(0, 0), os.sched_getaffinity(0), os.sched_getscheduler(0))
    print(os.getuid(), os.getgroups(), os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), sys.argv, sys.path, sys.flags)
    print(threading.enumerate()[0].name, [open('/proc/self/task/%s/comm' % t).read() for t in os.listdir('/proc/self/task')])
    print(lines('/proc/self/status', 'STATUS'), lines('/proc/self/limits'), lines('/proc/self/oom_score_adj'))
    print(sorted({l.split(None, 5)[5] for l in lines('/proc/self/maps') if '/' in l and not re.search('MAPPED', l)}))
    print(locale.setlocale(locale.LC_ALL), time.tzname, sys.getrecursionlimit(), sys.getswitchinterval(), os.get_blocking(0))
show('at start')
b = [bytes(600 + i % 900) for i in range(100000)]
for i in range(3000): os.stat('/'); os.close(os.open('/dev/null', os.O_RDONLY))
t = threading.Thread(target=lambda: [bytes(800) for i in range(20000)]); t.start(); t.join()
for i in range(1000):  # its join is over a moment before it is
    if len(os.listdir('/proc/self/task')) > 1: time.sleep(0.001)
if os.fork() == 0: os._exit(0)
os.wait()
show('after every hook')
"""
PERL = r"""
use POSIX;
sub slurp { open my $f, '<', $_[0] or return $!; local $/; my $t = <$f>; $t }
for my $when ('at start', 'after every hook') {
    print "---- $when\n";
    for my $s (1 .. 31) { my $o = POSIX::SigAction->new; POSIX::sigaction($s, undef, $o); print "$s ", $o->handler, ' ', $o->flags, "\n" }
    print "$_=$ENV{$_}\n" for grep { !/^(OURS)/ } sort keys %ENV;
    print "$_ ", defined $SIG{$_} ? $SIG{$_} : '-', "\n" for sort keys %SIG;
    opendir my $d, '/proc/self/fd'; print join(' ', sort grep { /\d/ } readdir $d), "\n"; closedir $d;
    print "$_\n" for grep { /^(STATUS)/ } split /\n/, slurp('/proc/self/status');
    print slurp('/proc/self/limits'), slurp('/proc/self/comm'), getcwd(), umask, " $0 @INC $< $> $( $) $^X ", getpriority(0, 0), "\n";
    my %m = map { $_ => 1 } grep { m{^/} && !/MAPPED/ } map { (split ' ', $_, 6)[5] // '' } split /\n/, slurp('/proc/self/maps');
    print join("\n", sort keys %m), "\n";
    my @a = map { 'x' x ($_ % 900) } 1 .. 50000; stat '/' for 1 .. 3000; if (!fork) { POSIX::_exit(0) } wait;
}
"""
NODE = r"""
const fs = require('fs'), os = require('os'), cp = require('child_process');
const lines = (path, pattern) => fs.readFileSync(path, 'latin1').split('\n').filter(l => pattern.test(l));
function show(when) {
    console.log('----', when);
    console.log(Object.entries(process.env).filter(([k]) => !/^(OURS)/.test(k)).sort());
    console.log(fs.readdirSync('/proc/self/fd').map(Number).sort((a, b) => a - b).map(f => {
        try { return [f, fs.readlinkSync('/proc/self/fd/' + f).replace(/\[\d+\]/, '')] } catch (e) { return [f, e.code] } }));
    console.log(lines('/proc/self/status', /^(STATUS)/), lines('/proc/self/limits', /./));
    console.log(fs.readdirSync('/proc/self/task').map(t => fs.readFileSync('/proc/self/task/' + t + '/comm', 'latin1')).sort());
    console.log([...new Set(lines('/proc/self/maps', /\//).filter(l => !/MAPPED/.test(l)).map(l => l.split(/ +/)[5]))].sort());
    console.log(process.cwd(), process.umask(), process.title, process.argv, process.execArgv, os.getPriority(), process.getgroups());
    console.log(process.report && process.report.getReport().userLimits);
}
show('at start');
let b = []; for (let i = 0; i < 300000; i++) b.push(Buffer.alloc(600 + i % 10)); b = null;
for (let i = 0; i < 3000; i++) { fs.statSync('/'); fs.closeSync(fs.openSync('/dev/null')); }
cp.spawnSync('/bin/true');
show('after every hook');
"""


def program(text):
    return text.replace("OURS", OURS).replace("STATUS", STATUS).replace("MAPPED", "proftrace")


def without_addresses(result):
    return Result(re.sub(rb"0x[0-9a-f]{6,}", b"0x", result.out), result.err, result.status)


class StateDiff(FaultCase):
    def test_plain(self):
        self.check(["state_dump"], modes=BOTH)

    def test_with_a_strange_inheritance(self):
        """Blocked and ignored signals, a small stack and few descriptors, a umask, timers, a nice value from the parent."""
        def strange():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGXFSZ, signal.SIGCHLD})
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            os.umask(0o077)
            os.nice(3)
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.kill(os.getpid(), signal.SIGUSR2)
            os.kill(os.getpid(), signal.SIGXFSZ)
        self.check(["state_dump"], modes=BOTH, before_exec=strange)

    def real(self, *command, **how):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        trace = self.check(list(command), modes=BOTH, claims=False, normalise=without_addresses, **how)
        self.assertEqual(trace.lost(), 0)

    def test_t16_python(self):
        self.real("/usr/bin/python3", "-c", program(PYTHON))

    def test_t16_python_with_a_strange_inheritance(self):
        def strange():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGXFSZ, signal.SIGCHLD})
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.umask(0o027)
            os.nice(2)
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
            os.kill(os.getpid(), signal.SIGUSR2)
        self.real("/usr/bin/python3", "-c", program(PYTHON), before_exec=strange)

    def test_t16_perl(self):
        self.real("perl", "-e", program(PERL))

    def test_t16_node(self):
        self.real("node", "-e", program(NODE))

    def test_disabled(self):
        if SETTINGS.baseline:
            self.skipTest("baseline")
        trace = self.check(["state_dump"], options={"disable": 1}, claims=False)
        self.assertIsNone(trace)
        trace = self.check(["state_dump"], env={"ENABLE_PROFILING": "false"}, claims=False)
        self.assertIsNone(trace)
