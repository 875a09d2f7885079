# SPDX-License-Identifier: MIT
"""Programs as people run them, with which nothing is wrong. Each is a shell script in an empty folder; {python} is the system's Python.

`LARGE` findings are those that promise more than a twentieth of the run. One that is listed here was looked at: its advice was taken,
and brought what it promised."""

PYTHON = "/usr/bin/python3"
TREE = r"""
mkdir tree; for d in 1 2 3 4 5 6; do mkdir tree/$d; for i in 1 2 3 4 5 6 7 8 9 10; do seq $((d * 10000)) $((d * 10000 + 40000)) > tree/$d/$i.txt; done; done
"""
SOURCES = r"""
for i in 1 2 3 4 5 6 7 8; do
  { echo '#include <stdio.h>'; for f in $(seq 150); do echo "int f${i}_$f(int a) { int s = 0; for (int i = 0; i < a; i++) s += i * $f ^ s; return s; }"; done; } > s$i.c
done
echo 'int main(void) { return 0; }' > main.c
printf 'OBJECTS = s1.o s2.o s3.o s4.o s5.o s6.o s7.o s8.o main.o\nprogram: $(OBJECTS)\n\tcc -o program $(OBJECTS)\n%%.o: %%.c\n\tcc -O2 -c -o $@ $<\n' > Makefile
"""
CLIENT = r"""
cat > client.py <<'P'
import socket, sys, time
port, n, request = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode().decode("unicode_escape").encode()
for attempt in range(100):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        break
    except OSError:
        time.sleep(0.05)
for i in range(n):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(request)
        connection.recv(65536)
    time.sleep(0.01)
P
"""
GET = r"GET / HTTP/1.0\r\n\r\n"


class Program:
    """`prepare` runs before, untraced; `beside` is a client from outside, started at the same time; {port} is a free one."""

    def __init__(self, name, script, prepare="", beside="", needs=(), imports=(), reviewed=None):
        self.name, self.script, self.prepare, self.beside = name, script, prepare, beside
        self.needs, self.imports, self.reviewed = needs, imports, reviewed or {}


def python(name, text, **more):
    prepare = f"cat > {name}.py <<'PYTHON'\n{text.strip()}\nPYTHON\n" + more.pop("prepare", "")
    return Program(name, f"exec {PYTHON} {name}.py", prepare=prepare, **more)


def server(name, script, n=80, request=GET, after="", **more):
    """It serves until its client, which is not traced, has been answered n times."""
    return Program(name, script, prepare=CLIENT + more.pop("prepare", ""), beside=f"{PYTHON} client.py {{port}} {n} '{request}'" + after, **more)


PROGRAMS = [
    # ---- tools ----
    Program("git_history", "git init -q . && for i in 1 2 3 4 5; do git add -A && git -c user.name=a -c user.email=b commit -qm $i; "
            "seq $i 500 > tree/1/1.txt; done; git log --stat >/dev/null; git diff HEAD~2 >/dev/null", prepare=TREE, needs=["git"],
            reviewed={"large_blocks_remapped": "true: with its two variables 0.39 instead of 0.58 s, 9,000 page faults instead of 91,000"}),
    Program("git_clone", "git clone -q --no-local repository copy && cd copy && git status >/dev/null && git grep 4711 >/dev/null", needs=["git"],
            prepare="mkdir repository && cd repository && git init -q ." + TREE + "git add -A && git -c user.name=a -c user.email=b commit -qm 1"),
    Program("git_gc", "git gc -q --aggressive", needs=["git"],
            prepare="git init -q ." + TREE + "for i in 1 2 3 4 5 6; do seq $i 3000 > tree/1/$i.txt; git add -A; "
            "git -c user.name=a -c user.email=b commit -qm $i; done"),
    Program("make", "make -s", prepare=SOURCES, needs=["make", "cc"],
            reviewed={"idle_child_wait": "true: `make -j2`, which it says, takes 1.55 instead of 2.94 s"}),
    Program("make_j2", "make -s -j2", prepare=SOURCES, needs=["make", "cc"]),
    Program("gcc", "cc -O2 -c s1.c && cc -O3 -c s2.c", prepare=SOURCES, needs=["cc"]),
    Program("g++", "g++ -O1 -c a.cc", needs=["g++"], prepare="echo '#include <regex>\n#include <map>\nbool f(const char *s) "
            "{ return std::regex_match(s, std::regex(\"a+b\")); }' > a.cc"),
    Program("clang", "clang -O2 -c s1.c", prepare=SOURCES, needs=["clang"]),
    Program("cmake_ninja", "cmake -G Ninja -S . -B b >/dev/null && ninja -C b >/dev/null", needs=["cmake", "ninja"],
            prepare=SOURCES + "echo 'cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(p main.c s1.c s2.c s3.c s4.c)' > CMakeLists.txt"),
    Program("tar", "tar cf tree.tar tree && mkdir out && tar xf tree.tar -C out", prepare=TREE),
    Program("gzip", "gzip -k data && gunzip -c data.gz >/dev/null", prepare="seq 3000000 > data"),
    Program("bzip2", "bzip2 -k data", prepare="seq 1500000 > data", needs=["bzip2"]),
    Program("xz", "xz -3 -T2 -k data", prepare="seq 1500000 > data", needs=["xz"]),
    Program("zstd", "zstd -q -T2 -12 data", prepare="seq 4000000 > data", needs=["zstd"]),
    Program("zip", "zip -qr tree.zip tree", prepare=TREE, needs=["zip"]),
    Program("sort", "sort -n data > sorted", prepare="seq 2000000 | sort -R > data",
            reviewed={"lock_convoy": "true of sort itself: a thread merges for 6 ms while it holds what the other one waits for"}),
    Program("sort_uniq", "seq 1000000 | awk '{ print $1 % 1000 }' | sort | uniq -c | sort -n | tail -n 5"),
    Program("awk", "awk '{ s[$1 % 77] += $1 } END { for (k in s) print k, s[k] }' data", prepare="seq 3000000 > data"),
    Program("sed", "sed -e 's/12/ab/g' -e 's/9$/x/' data > out", prepare="seq 2000000 > data"),
    Program("grep", "grep -r -c 47[0-9]1 tree | wc -l; grep -c '\\(12\\).*\\1' data | cat", prepare=TREE + "seq 3000000 > data"),
    Program("find_xargs", "find tree -name '*.txt' -print0 | xargs -0 -P 2 -n 10 sha256sum | sort > sums", prepare=TREE),
    Program("sha256sum", "sha256sum data", prepare="head -c 300000000 /dev/zero > data"),
    Program("openssl", "openssl enc -aes-256-cbc -pbkdf2 -pass pass:a -in data -out out && openssl dgst -sha512 out", needs=["openssl"],
            prepare="head -c 200000000 /dev/zero > data",
            reviewed={"file_writing": "true: it writes blocks of 4 KiB, whatever -bufsize says: with another process that writes (dd bs=64k) 0.42 instead of 0.54 s",
                      "file_reading": "true of such a program: planted `file_reading`, with a thread that reads ahead 1.5 instead of 2.4 s; openssl "
                                      "has no such thread, and what a pipe from another process saves it costs"}),
    Program("diff", "diff a b | tail -n 3; cmp a a", prepare="seq 1000000 > a; seq 2 1000001 | sed 's/77/7/' > b"),
    Program("bash_loop", "s=0; for ((i = 0; i < 400000; i++)); do s=$((s + i)); done; echo $s",
            reviewed={"heap_churn": "true: 17.6 million blocks, 0.16 of 0.73 s of CPU; an allocator that keeps nothing but lists takes 0.09 s for as many, and bash with it 0.64 s"}),
    Program("bc", "echo 'scale=2500; 4*a(1)' | bc -l >/dev/null", needs=["bc"]),
    Program("perl", "perl -ne '$n{$1}++ while /(\\d\\d)/g; END { print scalar keys %n }' data", prepare="seq 800000 > data", needs=["perl"],
            reviewed={"heap_churn": "true: with tcmalloc instead of glibc's allocator 0.37 instead of 0.48 s of CPU"}),
    Program("jq", "jq '[.[] | select(.a % 7 == 0) | .b] | length' data.json", needs=["jq"],
            prepare=PYTHON + " -c \"import json; json.dump([{'a': i, 'b': str(i)} for i in range(300000)], open('data.json', 'w'))\""),
    Program("tclsh", "echo 'set s 0; for {set i 0} {$i < 1500000} {incr i} {incr s $i}; puts $s' | tclsh", needs=["tclsh"]),
    Program("sqlite_load", "sqlite3 a.db < load.sql", needs=["sqlite3"], prepare="echo 'CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); BEGIN; "
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000) INSERT INTO t SELECT i, hex(i) FROM n; COMMIT;' > load.sql"),
    Program("sqlite_query", "sqlite3 a.db 'SELECT sum(length(b)), count(*) FROM t WHERE a % 3 = 0; SELECT b, count(*) FROM t GROUP BY b ORDER BY 2 LIMIT 3'",
            needs=["sqlite3"], prepare="sqlite3 a.db \"CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
            "SELECT i + 1 FROM n WHERE i < 1500000) INSERT INTO t SELECT i, hex(i % 1000) FROM n; COMMIT\""),
    Program("node", "node a.js", needs=["node"], prepare="echo 'const m = new Map(); for (let i = 0; i < 6e6; i++) m.set(i % 5000, i ^ (m.get(i % 5000) || 0)); "
            "console.log(m.size, JSON.stringify([...m]).length)' > a.js"),
    Program("java", "java A.java", needs=["javac"], prepare="echo 'public class A { public static void main(String[] a) { long s = 0; "
            "for (int i = 0; i < 300000000; i++) s += i ^ s >> 3; System.out.println(s); } }' > A.java"),
    Program("ruby", "ruby -e 's = 0; 6_000_000.times { |i| s += i % 7 }; puts s; puts (1..300_000).map(&:to_s).sort.size'", needs=["ruby"]),
    Program("php", "php -r '$s = 0; $a = []; for ($i = 0; $i < 12000000; $i++) { $a[$i % 1000] = $i; $s += $i % 7; } echo $s, count($a);'", needs=["php"]),
    Program("lua", "lua5.4 -e 'local t = {}; for i = 1, 2e7 do t[i % 1000] = i end; print(#t)'", needs=["lua5.4"]),
    # ---- Python ----
    python("py_json", "import json\ndata = [{'a': i, 'b': [i, str(i)]} for i in range(150000)]\nfor _ in range(3):\n    assert json.loads(json.dumps(data)) == data",
           reviewed={"collector_in_the_way": "true: gc.set_threshold(50000, 50, 50), which it says, takes 0.55 instead of 1.00 s of CPU"}),
    python("py_csv", "import csv\nwith open('a.csv', 'w', newline='') as f:\n    csv.writer(f).writerows([i, i * 2, 'x'] for i in range(500000))\n"
           "with open('a.csv', newline='') as f:\n    print(sum(int(r[1]) for r in csv.reader(f)))"),
    python("py_regex", "import re\ntext = ' '.join(map(str, range(400000)))\nprint(len(re.findall(r'\\b(\\d)\\d*\\1\\b', text)))"),
    python("py_dicts", "words = {}\nfor i in range(4000000):\n    words[i % 9973] = words.get(i % 9973, 0) + i\nprint(len(words))"),
    python("py_hashlib", "import hashlib\nh = hashlib.sha256()\nfor i in range(300):\n    h.update(bytes(1 << 20))\nprint(h.hexdigest())"),
    python("py_zipfile", "import zipfile\nwith zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED) as z:\n    for i in range(40):\n"
           "        z.writestr(f'{i}.txt', ' '.join(map(str, range(i, 60000))))\nwith zipfile.ZipFile('a.zip') as z:\n    print(sum(len(z.read(n)) for n in z.namelist()))",
           reviewed={"compressing": "true: with compresslevel=1, which it says, 0.36 instead of 0.71 s, and 4.95 instead of 5.13 MB"}),
    python("py_unittest", "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(sum(range(9000000)), 40499995500000)\n\n"
           "    def test_b(self):\n        self.assertEqual(len(sorted(str(i) for i in range(600000))), 600000)\n\n\nunittest.main()"),
    python("py_pool", "import multiprocessing\n\n\ndef f(n):\n    return sum(i * i for i in range(n))\n\n\nif __name__ == '__main__':\n"
           "    with multiprocessing.Pool(2) as pool:\n        print(sum(pool.map(f, [300000] * 40, chunksize=1)))"),
    python("py_executor", "import concurrent.futures as c\n\n\ndef f(n):\n    return sum(i * i for i in range(n))\n\n\nif __name__ == '__main__':\n"
           "    with c.ProcessPoolExecutor(2) as pool:\n        print(sum(pool.map(f, [300000] * 40)))"),
    python("py_asyncio", "import asyncio\n\n\nasync def work(q, r):\n    while (n := await q.get()) is not None:\n        r.append(sum(range(n)))\n\n\n"
           "async def main():\n    q, r = asyncio.Queue(), []\n    tasks = [asyncio.create_task(work(q, r)) for _ in range(4)]\n"
           "    for i in range(300):\n        await q.put(100000)\n    for _ in tasks:\n        await q.put(None)\n    await asyncio.gather(*tasks)\n    print(len(r))\n\n\nasyncio.run(main())"),
    python("py_sqlite", "import sqlite3\nd = sqlite3.connect('a.db')\nd.execute('CREATE TABLE t(a, b)')\nwith d:\n    d.executemany('INSERT INTO t VALUES(?, ?)', ((i, str(i)) for i in range(600000)))\n"
           "print(d.execute('SELECT count(*), sum(a) FROM t').fetchall())"),
    python("py_compileall", "import compileall\nimport shutil\nshutil.copytree('/usr/lib/python3.11/asyncio', 'a', ignore=shutil.ignore_patterns('*.pyc'))\ncompileall.compile_dir('a', quiet=1, force=True)"),
    python("py_pickle", "import pickle\ndata = [(i, str(i), {'k': i}) for i in range(300000)]\nwith open('a.pickle', 'wb') as f:\n    pickle.dump(data, f)\n"
           "with open('a.pickle', 'rb') as f:\n    print(len(pickle.load(f)))",
           reviewed={"collector_in_the_way": "true: gc.set_threshold(50000, 50, 50), which it says, takes 0.40 instead of 0.78 s of CPU"}),
    python("py_subprocess_pipe", "import subprocess\na = subprocess.Popen(['seq', '2000000'], stdout=subprocess.PIPE)\nb = subprocess.Popen(['sort', '-n'], stdin=a.stdout, stdout=subprocess.PIPE)\n"
           "a.stdout.close()\nprint(sum(len(line) for line in b.stdout))"),
    python("py_numpy", "import numpy as np\na = np.random.RandomState(0).rand(900, 900)\nfor _ in range(20):\n    a = a @ a\n    a /= a.max()\nprint(a.sum())", imports=["numpy"]),
    python("py_images", "import multiprocessing\nfrom PIL import Image\n\n\ndef f(i):\n    return Image.effect_noise((900, 900), i + 1).resize((300, 300)).tobytes()[0]\n\n\n"
           "if __name__ == '__main__':\n    with multiprocessing.Pool(2) as pool:\n        print(len(pool.map(f, range(60), chunksize=2)))", imports=["PIL"]),
    python("py_imports", "import argparse, asyncio, ctypes, decimal, doctest, email.mime.text, http.server, json, logging.config, multiprocessing.pool, pydoc\n"
           "import sqlite3, statistics, tarfile, unittest.mock, urllib.request, xml.dom.minidom, zipfile\nprint('imported')"),
    Program("venv", f"{PYTHON} -m venv --without-pip v && v/bin/python -c 'import json'"),
    # ---- programs in C ----
    Program("c_pairs", "./a", needs=["cc"], prepare=r"""cat > a.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int full; static volatile long s;
static void *consume(void *u) { for (int i = 0; i < 200; i++) { pthread_mutex_lock(&m); while (!full) pthread_cond_wait(&c, &m); full = 0;
  pthread_cond_signal(&c); pthread_mutex_unlock(&m); for (int j = 0; j < 3000000; j++) s += j; } return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, consume, 0); for (int i = 0; i < 200; i++) { volatile long x = 0; for (int j = 0; j < 3000000; j++) x += j;
  pthread_mutex_lock(&m); while (full) pthread_cond_wait(&c, &m); full = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); } pthread_join(t, 0); }
C
cc -O1 -pthread -o a a.c"""),
    Program("c_forks", "./a", needs=["cc"], prepare=r"""cat > a.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
int main(void) { for (int i = 0; i < 2; i++) if (!fork()) { volatile long s = 0; for (long j = 0; j < 400000000; j++) s += j; _exit(0); } while (wait(0) > 0); }
C
cc -O1 -o a a.c"""),
    # ---- servers, lightly used ----
    server("http_server", f"timeout -s INT 10 {PYTHON} -m http.server {{port}} --bind 127.0.0.1 2>/dev/null; true"),
    server("threading_server", f"timeout -s INT 10 {PYTHON} s.py {{port}}; true", prepare="cat > s.py <<'P'\nimport socketserver, sys\n\n\nclass H(socketserver.StreamRequestHandler):\n"
           "    def handle(self):\n        self.rfile.readline()\n        self.wfile.write(b'y' * 100)\n\n\nsocketserver.ThreadingTCPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\nP\n"),
    server("asyncio_server", f"timeout -s INT 10 {PYTHON} s.py {{port}} 2>/dev/null; true", prepare="cat > s.py <<'P'\nimport asyncio, sys\n\n\nasync def h(r, w):\n    await r.readline()\n"
           "    w.write(b'y' * 100)\n    w.close()\n\n\nasync def main():\n    await (await asyncio.start_server(h, '127.0.0.1', int(sys.argv[1]))).serve_forever()\n\n\nasyncio.run(main())\nP\n"),
    server("forking_server", f"timeout -s INT 10 {PYTHON} s.py {{port}} 2>/dev/null; true", prepare="cat > s.py <<'P'\nimport socketserver, sys\n\n\nclass H(socketserver.StreamRequestHandler):\n"
           "    def handle(self):\n        self.rfile.readline()\n        self.wfile.write(b'y' * 100)\n\n\nsocketserver.ForkingTCPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\nP\n"),
    server("node_server", "timeout -s TERM 10 node s.js {port}; true", needs=["node"],
           prepare="echo 'require(\"http\").createServer((q, r) => r.end(\"y\".repeat(100))).listen(+process.argv[2], \"127.0.0.1\")' > s.js\n"),
    server("nginx", "timeout -s QUIT 10 nginx -p . -c n.conf; true", needs=["nginx"],
           prepare="mkdir -p html logs; echo hello > html/index.html; printf 'daemon off; pid n.pid; error_log logs/e; worker_processes 2; events {}\\n"
           "http { access_log logs/a; server { listen 127.0.0.1:%d; root html; } }\\n' {port} > n.conf\n"),
    server("redis", "timeout -s TERM 10 redis-server --port {port} --bind 127.0.0.1 --save '' >/dev/null; true", needs=["redis-server"], request=r"PING\r\n"),
    server("memcached", "timeout -s TERM 10 memcached -u nobody -l 127.0.0.1 -p {port}; true", needs=["memcached"], request=r"version\r\n"),
    server("postgresql", "timeout -s INT 20 setpriv --reuid=65534 --regid=65534 --clear-groups $(ls -d /usr/lib/postgresql/*/bin)/postgres -D db -p {port} "
           "-c listen_addresses=127.0.0.1 -k /tmp 2>/dev/null; true", needs=["psql", "setpriv"], n=0, prepare="chmod 755 .. ; mkdir db && chown 65534:65534 db && "
           "setpriv --reuid=65534 --regid=65534 --clear-groups $(ls -d /usr/lib/postgresql/*/bin)/initdb -U a -A trust db >/dev/null\n"
           "echo 'for i in 1 2 3 4 5 6 7 8; do psql -q -h 127.0.0.1 -p $1 -U a postgres -c \"SELECT sum(i % 100) FROM generate_series(1, 50000) i\" >/dev/null; done' > ask.sh\n",
           after="; bash ask.sh {port}"),
    # ---- trainings ----
    python("torch_train", "import torch\ntorch.set_num_threads(2)\nm = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))\no = torch.optim.SGD(m.parameters(), 0.01)\n"
           "x = torch.randn(256, 512)\nfor _ in range(40):\n    o.zero_grad()\n    m(x).square().mean().backward()\n    o.step()", imports=["torch"]),
    python("torch_workers", "import torch\nfrom torch.utils.data import DataLoader, Dataset\ntorch.set_num_threads(1)\n\n\nclass D(Dataset):\n    def __len__(self):\n        return 640\n\n"
           "    def __getitem__(self, i):\n        return torch.ones(256) * i\n\n\nm = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256))\n"
           "o = torch.optim.SGD(m.parameters(), 0.01)\nfor epoch in range(3):\n    for x in DataLoader(D(), batch_size=32, num_workers=1):\n        for _ in range(8):\n"
           "            o.zero_grad()\n            m(x).square().mean().backward()\n            o.step()", imports=["torch"]),
    python("torch_infer", "import torch\ntorch.set_num_threads(2)\nm = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3)).eval()\n"
           "with torch.no_grad():\n    for _ in range(25):\n        m(torch.zeros(4, 3, 96, 96))", imports=["torch"]),
]
