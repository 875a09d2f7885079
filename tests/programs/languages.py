# SPDX-License-Identifier: MIT
"""Interpreters, virtual machines and runtimes, each with what it does behind libc's back: threads, forks, collectors, signals."""
from program import Program, PYTHON, python

JAVA = r"""cat > H.java <<'J'
import java.io.*; import java.net.*; import java.nio.file.*; import java.util.*; import java.util.concurrent.*;
public class H {
    static int depth(int n) { return depth(n + 1) + 1; }
    public static void main(String[] a) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) { final int k = i; all.add(pool.submit(() -> { long s = 0; for (int j = 0; j < 20000; j++) s += new byte[k + j % 300].length; return s; })); }
        long sum = 0; for (Future<Long> f : all) sum += f.get();
        pool.shutdown(); System.out.println(sum);
        try { depth(0); } catch (StackOverflowError e) { System.out.println("overflow"); }
        try { Object o = null; o.hashCode(); } catch (NullPointerException e) { System.out.println("null"); }
        ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread t = new Thread(() -> { try (Socket c = s.accept()) { c.getOutputStream().write("hello\n".getBytes()); } catch (IOException e) { System.out.println(e); } });
        t.start();
        try (Socket c = new Socket(s.getInetAddress(), s.getLocalPort())) { System.out.println(new BufferedReader(new InputStreamReader(c.getInputStream())).readLine()); }
        t.join();
        Files.write(Paths.get("out.txt"), Arrays.asList("a", "b"));
        System.out.println(new ProcessBuilder("sh", "-c", "echo sub; exit 3").inheritIO().start().waitFor());
        System.exit(9);
    }
}
J
javac H.java
"""


def java(name, options, script="java {} H; echo $?", **more):
    return Program(f"java_{name}", script.replace("java {}", f"java -XX:-UsePerfData -Xmx200m {options}"), needs=("java", "javac"), prepare=JAVA, **more)


MP = """import multiprocessing as mp
import os
import sys
from multiprocessing import shared_memory


def square(n):
    return n * n


def fill(name, i):
    s = shared_memory.SharedMemory(name)
    s.buf[i] = i
    s.close()


if __name__ == '__main__':
    for method in sys.argv[1:] or ['fork', 'spawn', 'forkserver']:
        ctx = mp.get_context(method)
        with ctx.Pool(3) as pool:
            print(method, sum(pool.map(square, range(500), chunksize=7)))
        q = ctx.Queue()
        p = ctx.Process(target=q.put, args=('x' * 70000,))
        p.start()
        print(len(q.get()))
        p.join()
    with mp.Manager() as m:
        d = m.dict()
        d['a'] = 1
        print(dict(d))
    s = shared_memory.SharedMemory(create=True, size=8)
    all_of_them = [mp.get_context('fork').Process(target=fill, args=(s.name, i)) for i in range(8)]
    [p.start() for p in all_of_them]
    [p.join() for p in all_of_them]
    print(bytes(s.buf[:8]))
    s.close()
    s.unlink()
    p = mp.get_context('fork').Process(target=os.abort)
    p.start()
    p.join()
    print(p.exitcode)
"""

PROGRAMS = [
    java("g1", "-XX:+UseG1GC"),
    java("zgc", "-XX:+UseZGC"),
    java("shenandoah", "-XX:+UseShenandoahGC"),
    java("serial_interpreted", "-XX:+UseSerialGC -Xint"),
    java("parallel_tracked", "-XX:+UseParallelGC -XX:NativeMemoryTracking=summary", quick=True),
    java("source_and_signals", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1", "java {} H.java | tail -2; java {} -version 2>&1 | wc -l; echo 'class L { public static void main(String[] a) throws Exception { System.out.println(\"up\");"
         " Thread.sleep(60000); } }' > L.java; javac L.java; java -XX:-UsePerfData L > l.out & p=$!; until_true grep -q up l.out; kill -QUIT $p; until_true grep -q 'JNI global refs' l.out; kill -TERM $p; wait $p; echo $?; rm l.out"),
    Program("node", r"""ulimit -c 0; node a.js; echo $?; node -e 'process.abort()' 2>/dev/null; echo $?; node --jitless -e 'console.log([3, 1, 2].sort())'; node --max-old-space-size=30 -e 'let a = []; for (;;) a.push({})' >/dev/null 2>&1; echo $?""", needs=("node",), prepare=r"""cat > a.js <<'J'
const { Worker } = require('worker_threads'), cp = require('child_process'), fs = require('fs'), http = require('http'), zlib = require('zlib');
const worker = n => new Promise(done => new Worker("let s = 0; for (let i = 0; i < 1e6; i++) s += i; require('worker_threads').parentPort.postMessage(s + " + n + ")", { eval: true }).on('message', done));
(async () => {
  console.log(await Promise.all([1, 2, 3].map(worker)));
  await fs.promises.writeFile('f.txt', 'x'.repeat(100000)); console.log((await fs.promises.readFile('f.txt')).length, fs.readdirSync('.').length > 1);
  console.log(zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(500000, 7))).length);
  const server = http.createServer((q, r) => r.end('hi ' + q.url)).listen(0, '127.0.0.1', () => {
    let left = 20;
    for (let i = 0; i < 20; i++) http.get({ port: server.address().port, host: '127.0.0.1', path: '/' + i }, r => { r.resume(); r.on('end', () => { if (!--left) { server.close(); next(); } }); });
  });
  function next() {
    console.log(cp.execSync('echo sub').toString().trim(), cp.spawnSync('sh', ['-c', 'exit 4']).status);
    const child = cp.fork('b.js'); child.on('message', m => console.log('child', m)); child.send('hello'); child.on('exit', c => { console.log('exit', c); process.exitCode = 6; });
  }
})();
J
echo "process.on('message', m => { process.send(m.toUpperCase()); process.disconnect(); process.exitCode = 3; });" > b.js
"""),
    Program("node_cluster", r"""node a.js; echo $?""", needs=("node",), prepare=r"""cat > a.js <<'J'
const cluster = require('cluster'), http = require('http');
if (cluster.isPrimary) {
  let up = 0, gone = 0;
  for (let i = 0; i < 3; i++) cluster.fork();
  cluster.on('listening', () => { if (++up == 3) ask(0); });
  const ask = n => n < 30 ? http.get({ port: process.env.PORT, host: '127.0.0.1', agent: false }, r => { r.resume(); r.on('end', () => ask(n + 1)); }) : Object.values(cluster.workers)[0].process.kill('SIGKILL');
  cluster.on('exit', () => { if (++gone == 1) cluster.disconnect(); if (gone == 3) console.log('all gone'); });
} else http.createServer((q, r) => r.end('y')).listen(+process.env.PORT, '127.0.0.1');
J
"""),
    Program("npm", "npm --offline --version >/dev/null; echo $?; mkdir p; cd p; npm init -y --offline >/dev/null 2>&1; npm run --silent env --offline >/dev/null 2>&1; echo $?; grep -c name package.json", needs=("npm", "node"), may_differ={"files": "its log has a date in its name"}),
    Program("php", r"""php -r '$p = proc_open(["sh", "-c", "cat; exit 3"], [["pipe", "r"], ["pipe", "w"]], $q); fwrite($q[0], "in"); fclose($q[0]); echo stream_get_contents($q[1]), proc_close($p), "\n"; $a = []; for ($i = 0; $i < 300000; $i++) $a[$i % 500] = str_repeat("x", $i % 50); echo count($a), "\n"; exit(4);'; echo $?
mkdir w; echo '<?php echo "id " . ($_GET["i"] * 2);' > w/a.php; PHP_CLI_SERVER_WORKERS=3 php -q -S 127.0.0.1:$PORT -t w >/dev/null 2>&1 & p=$!; until_true answers; for i in $(seq 40); do curl -s "http://127.0.0.1:$PORT/a.php?i=$i"; done | md5sum; kill $p; wait $p; sleep 0.2; echo ended""",
            needs=("php", "curl")),
    Program("ruby", r"""ruby a.rb; echo $?""", needs=("ruby",), prepare=r"""cat > a.rb <<'R'
puts (1..4).map { |i| Thread.new { (1..20000).map { |j| "x" * (j % 40) }.uniq.size + i } }.map(&:value).inspect
p fork { exit! 5 }.then { |pid| Process.wait(pid); $?.exitstatus }
puts `echo sub`; puts IO.popen(%w[sh -c cat], 'r+') { |f| f.write 'in'; f.close_write; f.read }
GC.start; GC.compact rescue nil
puts [3, 1, 2].each_slice(2).to_a.inspect, (Ractor.new { 6 * 7 }.take rescue 42)
trap('USR1') { puts 'trapped' }; Process.kill('USR1', $$); sleep 0.05
def deep(n) = deep(n + 1)
begin; deep(0); rescue SystemStackError; puts 'deep'; end
exit 3
R
"""),
    Program("perl", r"""perl -e 'use threads; my @t = map { threads->create(sub { my $s = 0; $s += $_ for 1..50000; $s }) } 1..8; print join(q( ), map { $_->join } @t), qq(\n); my $p = fork; if (!$p) { exit 3 } waitpid($p, 0); print $? >> 8, qq(\n); print qx(echo sub); my %h; $h{$_ % 999} .= "x" for 1..90000; print scalar(keys %h), qq(\n)'""",
            needs=("perl",), quick=True),
    Program("sbcl", r"""cat > a.lisp <<'L'
(require :sb-posix)
(defun work (n) (loop for i below n sum (length (make-list (mod i 30)))))
(print (mapcar #'sb-thread:join-thread (loop for i from 1 to 4 collect (let ((i i)) (sb-thread:make-thread (lambda () (work (* i 20000))))))))
(gc :full t)
(print (handler-case (labels ((deep (n) (1+ (deep (1+ n))))) (deep 0)) (storage-condition () :deep)))
(print (sb-ext:process-exit-code (sb-ext:run-program "/bin/sh" '("-c" "exit 3"))))
(terpri)
(save-lisp-and-die "image" :executable t :toplevel (lambda () (print (work 5000)) (terpri) (exit :code 6)))
L
sbcl --noinform --no-userinit --non-interactive --load a.lisp 2>&1 | grep -E -v '^\[|^;'; ./image; echo $?; rm image""", needs=("sbcl",)),
    Program("ocaml", r"""printf 'let rec fib n = if n < 2 then n else fib (n-1) + fib (n-2)\nlet () = Printf.printf "%%d %%d\\n" (fib 22) (List.length (List.init 200000 (fun i -> string_of_int i))); exit (Sys.command "exit 4")\n' > a.ml; ocaml a.ml; echo $?; ocamlfind ocamlopt -package str a.ml -o a 2>/dev/null || ocamlopt a.ml -o a; ./a; echo $?""", needs=("ocaml", "ocamlopt")),
    Program("lua", r"""lua5.4 -e 'local t = {}; for i = 1, 300000 do t[i % 1000] = ("x"):rep(i % 60) end; collectgarbage(); local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end); print(c(), c(), #t, io.popen("echo sub"):read()); os.exit(7)'; echo $?""", needs=("lua5.4",), quick=True),
    Program("tcl", r"""echo 'set s 0; for {set i 0} {$i < 100000} {incr i} {incr s [string length [string repeat x [expr {$i % 20}]]]}; puts $s; puts [exec echo sub]; after 20 {puts later; exit 5}; vwait forever' > a.tcl; tclsh a.tcl; echo $?""", needs=("tclsh",)),
    Program("guile", r"""guile --no-auto-compile -c '(use-modules (ice-9 threads) (ice-9 popen) (ice-9 rdelim)) (display (par-map (lambda (n) (apply + (iota n))) (list 1000 2000 3000))) (newline) (gc) (display (read-line (open-input-pipe "echo sub"))) (newline) (exit 8)'; echo $?""", needs=("guile",)),
    Program("go", r"""export GOCACHE=$PWD/cache GO111MODULE=off GOFLAGS=; go build -o static static.go && ./static; echo $?; CGO_ENABLED=1 go build -o cgo cgo.go && ./cgo; echo $?; rm -rf cache static cgo""", needs=("go", "gcc"), timeout=180, prepare=r"""cat > static.go <<'G'
package main
import ("fmt"; "net"; "net/http"; "io"; "os"; "os/exec"; "runtime"; "sync")
func main() {
	l, _ := net.Listen("tcp", "127.0.0.1:0"); go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hi ", r.URL.Path) }))
	var w sync.WaitGroup; for i := 0; i < 30; i++ { w.Add(1); go func(i int) { defer w.Done(); r, e := http.Get(fmt.Sprintf("http://%s/%d", l.Addr(), i)); if e == nil { io.Copy(io.Discard, r.Body); r.Body.Close() } else { fmt.Println(e) } }(i) }; w.Wait()
	runtime.GC(); o, _ := exec.Command("sh", "-c", "echo sub").Output(); fmt.Print(string(o)); os.Exit(3)
}
G
cat > cgo.go <<'G'
package main
/*
#include <stdlib.h>
#include <string.h>
static int twice(int n) { char *p = malloc(n + 1); memset(p, 1, n); free(p); return 2 * n; }
*/
import "C"
import ("fmt"; "os"; "sync")
func main() {
	var w sync.WaitGroup; var m sync.Mutex; s := 0
	for i := 0; i < 50; i++ { w.Add(1); go func(i int) { defer w.Done(); for j := 0; j < 100; j++ { n := int(C.twice(C.int(i))); m.Lock(); s += n; m.Unlock() } }(i) }; w.Wait()
	func() { defer func() { fmt.Println("recovered", recover() != nil) }(); var p *int; *p = 1 }()
	fmt.Println(s); os.Exit(4)
}
G
"""),
    Program("rust", r"""export RUSTUP_HOME=${RUSTUP_HOME:-$REAL_HOME/.rustup} CARGO_HOME=${CARGO_HOME:-$REAL_HOME/.cargo}; cd p; cargo build -q --offline 2>&1 | tail -3; target/debug/p; echo $?; cargo test -q --offline 2>&1 | grep -E -o 'test result: ok. [0-9]+ passed' | head -1; rm -rf target""",
            needs=("cargo", "rustc"), probe="cargo --version", timeout=180, prepare=r"""mkdir -p p/src; printf '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2018"\n' > p/Cargo.toml; cat > p/src/main.rs <<'R'
use std::{collections::HashMap, process::Command, sync::mpsc, thread};
fn work(n: usize) -> usize { let mut m: HashMap<usize, Vec<u8>> = HashMap::new(); for i in 0..n { m.entry(i % 97).or_default().push(1) } m.values().map(Vec::len).sum() }
fn main() {
    let (tx, rx) = mpsc::channel();
    for i in 0..4 { let tx = tx.clone(); thread::spawn(move || tx.send(work(5000 * (i + 1))).unwrap()); }
    drop(tx); println!("{}", rx.iter().sum::<usize>());
    println!("{}", thread::spawn(|| { if work(3) == 3 { panic!("planned") } }).join().is_err());
    println!("{:?}", Command::new("sh").args(["-c", "exit 3"]).status().unwrap().code()); std::process::exit(5)
}
#[test] fn works() { assert_eq!(work(100), 100) }
R
"""),
    Program("erlang", r"""erl -noshell -eval 'S = self(), [spawn(fun() -> S ! {N, lists:sum(lists:seq(1, N * 100))} end) || N <- lists:seq(1, 200)], R = [receive {N, V} -> V end || N <- lists:seq(1, 200)], io:format("~p~n~s", [lists:sum(R), os:cmd("echo sub")]), {ok, L} = gen_tcp:listen(0, [{active, false}]), {ok, P} = inet:port(L), spawn(fun() -> {ok, C} = gen_tcp:connect("localhost", P, []), gen_tcp:send(C, "hi") end), {ok, A} = gen_tcp:accept(L), {ok, D} = gen_tcp:recv(A, 2), io:format("~s~n", [D]), halt(7).'; echo $?""", needs=("erl",)),
    Program("elixir", r"""elixir -e 'IO.inspect(1..50 |> Task.async_stream(fn n -> Enum.sum(1..n * 50) end) |> Enum.map(&elem(&1, 1)) |> Enum.sum()); {o, c} = System.cmd("sh", ["-c", "echo sub; exit 4"]); IO.write(o); System.halt(c)'; echo $?""", needs=("elixir",)),
    Program("ghc", r"""printf 'import Control.Concurrent\nimport qualified Data.Map as M\nmain :: IO ()\nmain = do\n  vs <- mapM (\\n -> do { v <- newEmptyMVar; _ <- forkIO (putMVar v $! M.size (M.fromList [(i `mod` 97, i) | i <- [1 .. n * 20000 :: Int]])); return v }) [1 .. 4]\n  rs <- mapM takeMVar vs\n  print rs\n' > a.hs; ghc -v0 -threaded -O1 a.hs && ./a +RTS -N4; echo $?; rm -f a a.o a.hi""", needs=("ghc",), timeout=120),
    Program("mono", r"""printf 'using System; using System.Threading; class A { static int Main() { long s = 0; var t = new Thread[4]; for (int i = 0; i < 4; i++) { t[i] = new Thread(() => { for (int j = 0; j < 100000; j++) Interlocked.Add(ref s, new byte[j %% 50].Length); }); t[i].Start(); } foreach (var x in t) x.Join(); GC.Collect(); Console.WriteLine(s); try { object o = null; o.ToString(); } catch (NullReferenceException) { Console.WriteLine("null"); } return 6; } }\n' > a.cs; mcs a.cs && mono a.exe; echo $?; rm -f a.exe""", needs=("mono", "mcs")),
    Program("qemu_user", r"""qemu-x86_64 ./a; echo $?""", needs=("qemu-x86_64", "gcc"), prepare="printf '#include <pthread.h>\\n#include <stdio.h>\\n#include <stdlib.h>\\nvoid *work(void *u) { for (int i = 0; i < 999; i++) free(malloc(i)); return u; }\\nint main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); puts(\"in it\"); return 5; }\\n' > a.c; gcc -O1 -w -o a a.c -pthread\n"),
    Program("r", r"""R --vanilla --slave -f a.R; echo $?""", needs=("R",), prepare=r"""cat > a.R <<'R'
set.seed(1); x <- matrix(rnorm(40000), 200); cat(round(sum(svd(x)$d), 3), "\n")
library(parallel); cat(unlist(mclapply(1:4, function(n) sum(seq_len(n * 1000)), mc.cores = 2)), "\n")
cl <- makePSOCKcluster(2); cat(unlist(parLapply(cl, 1:4, function(n) n^2)), "\n"); stopCluster(cl)
f <- function(n) f(n + 1); cat(tryCatch(f(0), error = function(e) "deep"), "\n"); cat(system("echo sub", intern = TRUE), "\n")
cat(unlist(mccollect(mcparallel(6 * 7))), "\n"); quit(status = 4)
R
"""),
    Program("octave", r"""octave-cli --no-init-file --no-history --eval 'x = reshape(mod((1:40000) * 7919, 997), 200, 200); [q, r] = qr(x); printf("%.3f\n", norm(q * r - x) < 1e-6); c = cellfun(@(n) n ^ 2, num2cell(1:2000)); disp(sum(c)); disp(abs(real(sum(fft(1:1024))))); [s, o] = system("echo sub; exit 3"); printf("%d %s", s, o); exit(5)'; echo $?""", needs=("octave-cli",)),
    Program("pypy", r"""echo 'import threading, subprocess, os
out = []
t = [threading.Thread(target=lambda n=n: out.append(sum(len(str(i)) for i in range(n * 20000)))) for n in range(4)]
[x.start() for x in t]; [x.join() for x in t]
print(sorted(out), subprocess.check_output(["echo", "sub"]))
p = os.fork()
if not p: os._exit(3)
print(os.waitpid(p, 0)[1])' > a.py; pypy3 a.py; echo $?""", needs=("pypy3",)),
    # ---- Python ----
    python("multiprocessing", MP),
    Program("multiprocessing_fork", f"{PYTHON} -B a.py fork", prepare=f"cat > a.py <<'PYTHON_ENDS'\n{MP}\nPYTHON_ENDS\n", quick=True),
    python("asyncio", """import asyncio
import os


async def handle(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def ask(path, n):
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(f'hello {n}\\n'.encode())
    line = await reader.readline()
    writer.close()
    return line


async def main():
    server = await asyncio.start_unix_server(handle, 's.sock')
    lines = await asyncio.gather(*(ask('s.sock', n) for n in range(100)))
    print(len(lines), lines[99])
    child = await asyncio.create_subprocess_exec('sh', '-c', 'cat; exit 3', stdin=-1, stdout=-1)
    print(await child.communicate(b'in'), child.returncode)
    print(await asyncio.gather(*(asyncio.to_thread(sum, range(n * 1000)) for n in range(5))))
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.05)
    except asyncio.TimeoutError:
        print('timeout')
    server.close()
    os.unlink('s.sock')


asyncio.run(main())
""", quick=True),
    python("python_pty_and_signals", """import os
import pty
import signal
import sys
print(pty.spawn(['sh', '-c', 'tty | grep -c pts; exit 3']) >> 8)
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.02)
signal.pause()
p = os.fork()
if not p:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    os.kill(os.getpid(), signal.SIGUSR1)
    os._exit(signal.sigwait({signal.SIGUSR1}))
print(os.waitpid(p, 0)[1] >> 8)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGSEGV)
"""),
    python("python_daemon", """import os
import sys
import time
if os.fork():
    for _ in range(400):
        if os.path.exists('done'):
            break
        time.sleep(0.02)
    print(open('done').read())
    sys.exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir('.')
os.closerange(0, 65536)
fd = os.open('/dev/null', os.O_RDWR)
first = [fd, os.dup(fd), os.dup(fd), os.open('log', os.O_CREAT | os.O_WRONLY, 0o640)]
os.write(3, b'from the daemon')
with open('part', 'w') as file:
    file.write(str(first) + str(sorted(os.listdir('/proc/self/fd'))[:4]))
os.rename('part', 'done')
""", quick=True),
    python("numpy_and_fork", """import os
import threading
import numpy as np
a = np.arange(250000, dtype=float).reshape(500, 500) % 97
t = [threading.Thread(target=lambda: a @ a) for _ in range(3)]
[x.start() for x in t]
[x.join() for x in t]
for i in range(4):
    p = os.fork()
    if not p:
        os._exit(int(np.linalg.norm(a @ a) > 0) + 3)
    print(os.waitpid(p, 0)[1] >> 8)
print(np.linalg.svd(a[:80, :80])[1][:2].round(3), np.sort(a, axis=None)[:3])
""", imports=("numpy",)),
    python("scikit_learn", """import warnings
import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier
x = np.arange(6000).reshape(600, 10) * 7919 % 101
y = x[:, 0] > 50
for backend in ('loky', 'threading', 'multiprocessing'):
    with joblib.parallel_backend(backend, n_jobs=2):
        print(backend, RandomForestClassifier(20, random_state=1).fit(x, y).score(x, y))
        print(joblib.Parallel()(joblib.delayed(pow)(i, 2) for i in range(20)))
""", imports=("sklearn", "joblib"), timeout=120),
    python("dask", """from dask.distributed import Client, LocalCluster
import dask.array as da
if __name__ == '__main__':
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        print(client.gather(client.map(lambda n: n * n, range(40))), da.ones((500, 500), chunks=100).sum().compute())
""", imports=("dask", "distributed"), timeout=120, may_differ={"err": "its log"}),
    python("pandas", """import pandas as pd
d = pd.DataFrame({'k': [i % 17 for i in range(60000)], 'v': range(60000)})
d.to_csv('d.csv', index=False)
print(pd.read_csv('d.csv').groupby('k').v.sum().head(3), len(d.merge(d.head(50), on='k')))
""", imports=("pandas",)),
    python("torch_loader", """import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.full((256,), float(i)), i % 10


if __name__ == '__main__':
    torch.manual_seed(1)
    torch.set_num_threads(2)
    model = torch.nn.Sequential(torch.nn.Linear(256, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    for epoch in range(2):
        for x, y in DataLoader(Squares(), 8, num_workers=2):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    print(round(float(loss), 2))
""", imports=("torch",), timeout=120),
]
