# SPDX-License-Identifier: MIT
"""T1-T8 again, as they happen to real programs."""
import collections
import os

from harness import SETTINGS, slow
from real_programs import HEAP_STORIES, RealCase, allocators, python, redis
from run_trace import ALLOCATIONS

BOTH = ("sampled", "full")  # the trace of the last one is looked into


def guest():
    """A library that is initialised before ours in whatever program it is preloaded into (hosts/early_library.c)."""
    return os.path.join(SETTINGS.hosts, "libearly_library.so")


class Lives:
    """How often the blocks of a trace were made and let go. Not by time: between threads that is interpolated."""

    def __init__(self, trace):
        self.elsewhere = 0
        balance, owner = collections.Counter(), {}
        for process, thread, event, address, _ in trace.heap_events():
            if event in ALLOCATIONS:
                balance[process, address] += 1
                owner[process, address] = thread
            else:
                balance[process, address] -= 1
                self.elsewhere += owner.get((process, address), thread) != thread
        # 1 lives at the end, -1 was made before us; anything else is a call that was missed or told twice
        self.odd = sum(not -1 <= number <= 1 for number in balance.values())


class EarlyGuests(RealCase):
    """T1-T3: a library that allocates before us, keeps its blocks for the whole run, and releases them after the end."""

    def with_guest(self, names, **env):
        if not os.path.exists(guest()):
            self.skipTest("the early library is not built")
        for name in names:
            with self.subTest(program=name):
                trace = self.check_real(name, HEAP_STORIES[name], preload=f"{{}}:{guest()}", lossless=not env,
                                        env=dict(env, EARLY_GUEST=1))
                self.assert_trace(trace, **{"size:4246": 100})

    def test_t1_t2_early_blocks(self):
        self.with_guest(("python", "perl", "node", "redis", "git", "java"))

    def test_t3_threads_before_main(self):
        self.with_guest(("python", "perl", "node", "java"), EARLY_THREADS=1)

    def test_t3_jemalloc_threads_before_main(self):
        """jemalloc of redis starts its own threads as soon as it is initialised."""
        self.with_guest(("redis",), EARLY_THREADS=1, MALLOC_CONF="background_thread:true,dirty_decay_ms:10")


class RealHeaps(RealCase):
    CXX = ("#include <map>\n#include <string>\n#include <vector>\nint main(){std::map<std::string,std::vector<int>> m;"
           "m[\"a\"].push_back(1);return m.size()-1;}\n")

    def setup_cxx(self, work):
        with open(os.path.join(work, "x.cc"), "w", encoding="ascii") as f:
            f.write(self.CXX)

    def test_t5_compiler_with_static_operators(self):
        """cc1plus has libstdc++ inside: its operator new is its own, and reaches malloc all the same."""
        trace = self.check_real("g++", ["g++", "-O1", "-S", "-o", "-", "x.cc"], setup=self.setup_cxx, modes=BOTH)
        compiler = [process for process in trace.report()["processes"] if process["exe"].endswith("/cc1plus")]
        self.assertEqual(len(compiler), 1)
        self.assertGreater(compiler[0]["heap"]["allocs"], 100000)

    def test_t5_operators_of_other_allocators(self):
        """node takes operator new from whichever library comes first: jemalloc and tcmalloc have their own."""
        story = ["node", "-e", "console.log(require('zlib').gzipSync('x'.repeat(1e6)).length, [..."
                 "new Intl.DateTimeFormat('en', {timeZone: 'UTC'}).format(0)].join(''))"]
        for place, preload in allocators():
            with self.subTest(allocator=place):
                self.check_real("node", story, preload=preload, modes=BOTH)

    def test_t6_blocks_of_other_threads(self):
        trace = self.check_real("python", python("handed_over"), modes=BOTH)
        trace.tally(["size:4242", "live_at_end:4242"])
        self.assertEqual((trace.value("size:4242"), trace.value("live_at_end:4242")), (16000, 0))
        lives = Lives(trace)
        self.assertEqual(lives.odd, 0)
        self.assertGreater(lives.elsewhere, 10000)

    def test_t6_redis_releases_in_background(self):
        """What the main thread of redis has built, its lazy-free thread takes apart, while the main thread builds the next."""
        story = ("for i in 1 2 3 4 5 6; do redis-cli -s r.sock eval \"for i=1,20000 do redis.call('rpush','k'..i%100,"
                 "string.rep('v',i%300)) end return 1\" 0; redis-cli -s r.sock flushall async; done; redis-cli -s r.sock dbsize")
        trace = self.check_real("redis", redis(story, "--io-threads 4 --io-threads-do-reads yes"), modes=BOTH)
        lives = Lives(trace)
        self.assertEqual(lives.odd, 0)
        self.assertGreater(lives.elsewhere, 1000)

    def test_t7_refused_memory(self):
        trace = self.check_real("python", python("refused_memory"), modes=BOTH)
        trace.tally(["size:4242", "live_at_end:4242"])
        self.assertEqual((trace.value("size:4242"), trace.value("live_at_end:4242")), (1000, 0))

    def test_t7_programs_that_go_on(self):
        """Programs that are refused memory, say so in their own words, and go on."""
        refused = {
            "perl": ["perl", "-e", "for (1..300) { my $x = ''; eval { vec($x, 1 << 60, 8) = 1 }; $n++ if $@ }"
                     "print qq($n refused), length('x' x 5e6), qq(\\n)"],
            "node": ["node", "-e", "let n = 0; for (let i = 0; i < 20; i++) try { new ArrayBuffer(2 ** 52) } catch (e) { n++ }"
                     "console.log(n, 'refused', Buffer.alloc(5e6).length)"],
            "sqlite": ["bash", "-c", "ulimit -v 400000; sqlite3 :memory: 'select length(group_concat(zeroblob(9e8))) from (select 1 "
                       "union select 2);' 'select 1+1;' 2>&1; echo $?; sqlite3 :memory: 'pragma hard_heap_limit=100000; create table "
                       "t as with recursive c(x) as (select 1 union all select x+1 from c where x<90000) select x from c;' 2>&1; echo $?"],
            "java": ["java", "-XX:-UsePerfData", "-Xmx99999999m", "-version"],
        }
        for name, command in refused.items():
            with self.subTest(program=name):
                self.check_real(name, command, status=None)

    def test_t8_after_the_end(self):
        trace = self.check_real("python", python("after_the_end"), modes=BOTH)
        trace.tally(["size:4242", "live_at_end:4242", "size:4243", "live_at_end:4243"])
        self.assertEqual([trace.value(f"{what}:{size}") for size in (4242, 4243) for what in ("size", "live_at_end")], [1000, 0, 200, 0])

    def test_t8_destructors_of_programs(self):
        """perl takes objects apart in its global destruction, threads and all; node in its exit handlers."""
        stories = {
            "perl": ["perl", "-e", "use threads; package Late; sub new { bless {text => 'x' x 4200} } sub DESTROY { $_[0]{text} .= 'y' x 4200;"
                     " syswrite STDOUT, qq(gone\\n) } package main; our @kept = map { Late->new } 1..5; END { print qq(end\\n) }"
                     " $| = 1; threads->create(sub { push @kept, Late->new })->join for 1..3;"],
            "node": ["node", "-e", "const {Worker} = require('worker_threads'); process.on('exit', () => { console.log(Buffer.alloc(1e6).length) });"
                     "new Worker('process.on(`exit`, () => Buffer.alloc(1e6))', {eval: true})"],
        }
        for name, command in stories.items():
            with self.subTest(program=name):
                self.check_real(name, command, modes=BOTH)

    @slow
    def test_t8_real_programs_under_valgrind(self):
        """valgrind gives back even what the C library keeps, after the last destructor."""
        self.need("valgrind")
        for program in (["/usr/bin/sqlite3", ":memory:", "select 1"], ["/usr/bin/perl", "-e", "print getpwuid(0)"], ["/bin/ls", "-l", "/"]):
            self.check(["valgrind", "-q", "--run-libc-freeres=yes", "--error-exitcode=9", *program], claims=False, timeout=300)
