# SPDX-License-Identifier: MIT
"""Compilers, archivers, databases in a file, shells and their helpers."""
from program import Program, PYTHON

MANY_C = r"""mkdir s; for i in $(seq 20); do echo "int f$i(int x){return x*$i;}" > s/f$i.c; done
printf 'OBJS=%s\nall: lib.so\nlib.so: $(OBJS)\n\t@gcc -shared -o lib.so $(OBJS)\n%%.o: %%.c\n\t@gcc -O2 -fPIC -c $< -o $@\n' "$(cd s; ls *.c | sed s/.c$/.o/ | tr "\n" " ")" > s/Makefile
"""
CXX = r"""mkdir s; for i in $(seq 4); do printf '#include <map>\n#include <string>\nint f%d(int n) { std::map<std::string, int> m; for (int i = 0; i < n; i++) m[std::to_string(i %% 9)] += i; return m["3"]; }\n' $i > s/f$i.cc; done
printf '#include <cstdio>\n#include <thread>\nint f1(int); int f2(int); int f3(int); int f4(int);\nint main() { int a = 0; std::thread t([&] { a = f1(99); }); int b = f2(50) + f3(60) + f4(70); t.join(); try { throw a + b; } catch (int x) { printf("%%d\\n", x); } return 3; }\n' > s/main.cc
printf 'cmake_minimum_required(VERSION 3.10)\nproject(p CXX)\nfind_package(Threads REQUIRED)\nadd_executable(p main.cc f1.cc f2.cc f3.cc f4.cc)\ntarget_link_libraries(p Threads::Threads)\n' > s/CMakeLists.txt
"""
GIT = r"""export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z
git config --global user.name a; git config --global user.email a@b; git config --global gc.auto 0; git config --global init.defaultBranch m
"""
TREE = "mkdir t; for i in $(seq 60); do seq $((i * 37)) > t/f$i; done; ln -s f1 t/link; touch -d @1500000000 t/* t; chmod 600 t/f2\n"

PROGRAMS = [
    Program("make", "cd s && make -s -j4 && sha256sum lib.so && touch f3.c && make -s -j4 && make -s -q; echo $?", needs=("make", "gcc"), prepare=MANY_C, quick=True),
    Program("cmake_ninja", "cmake -G Ninja -S s -B b -DCMAKE_BUILD_TYPE=Debug >/dev/null && ninja -C b | tail -1; b/p; echo $?; ls b", needs=("cmake", "ninja", "g++"), prepare=CXX,
            may_differ={"files": "ninja's log holds times"}),
    Program("cmake_make_clang", "CXX=clang++ cmake -G 'Unix Makefiles' -S s -B b >/dev/null && make -C b -j3 | tail -1; b/p; echo $?", needs=("cmake", "make", "clang++"), prepare=CXX),
    Program("gcc_lto", "gcc -O2 -flto=2 -shared -fPIC -o l.so s/*.c && sha256sum l.so; gcc -c missing.c; echo $?", needs=("gcc",), prepare=MANY_C),
    Program("git", GIT + r"""git init -q r; cd r; for i in $(seq 80); do seq $i > f$i; done; git add .; git commit -qm1; seq 99 > f1; git commit -qam2; git branch b HEAD~1
git clone -q --no-local . ../c; cd ../c; git fsck --no-progress; git gc -q --aggressive; git -c pack.threads=4 repack -adfq; git bundle create -q ../x.bundle --all
git worktree add -q ../w b 2>/dev/null || git worktree add -q ../w origin/b; git -C ../w log --oneline | cat; git log --stat | sha256sum; git grep --threads=4 -c 7 | sha256sum; git status -s
git -C ../r daemon --listen=127.0.0.1 --port=$PORT --base-path=$PWD/.. --export-all --reuseaddr & d=$!; until_true answers; git clone -q git://127.0.0.1:$PORT/r ../net; ls ../net | wc -l
kill $d; wait $d; echo ended $?""", needs=("git",), quick=True, may_differ={"files": "the index holds times and inodes"}),
    Program("tar_and_compressors", r"""tar c --sort=name t > t.tar; for z in 'gzip -n9' 'bzip2 -9' 'xz -T2 -9' 'zstd -q -T0 -19' 'zstd -q -T2'; do $z < t.tar > t.z; sha256sum < t.z; ${z%% *} -d < t.z | cmp - t.tar; done
tar cz t | tar tzv | wc -l; mkdir x; tar xf t.tar -C x; diff -r t x/t; zip -qX -r a.zip t; unzip -qq a.zip -d y; diff -r t y/t; xz -T2 -k t.tar; xz -d < t.tar.xz | cmp - t.tar; rm a.zip""",
            needs=("tar", "gzip", "bzip2", "xz", "zstd", "zip", "unzip"), prepare=TREE, quick=True),
    Program("rsync", r"""rsync -a t/ copy/; diff -r t copy && seq 5 > t/f9 && rsync -ai --delete t/ copy/; printf 'use chroot = no\npid file = %s/r.pid\n[m]\npath = %s/t\n' $PWD $PWD > r.conf
rsync --daemon --no-detach --port=$PORT --address=127.0.0.1 --config=r.conf & d=$!; until_true answers; rsync -a rsync://127.0.0.1:$PORT/m/ net/; diff -r t net; kill $d; wait $d; echo $?""", needs=("rsync",), prepare=TREE,
            may_differ={"files": "its log of process numbers"}),
    Program("sqlite", r"""sqlite3 a.db 'PRAGMA journal_mode=WAL; CREATE TABLE t(a, b); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 60000) INSERT INTO t SELECT x, x * 7 % 1000 FROM c; CREATE INDEX i ON t(b);'
for i in 1 2 3; do sqlite3 a.db ".timeout 20000" "INSERT INTO t SELECT a + $i * 100000, b FROM t LIMIT 500" & done; wait; sqlite3 a.db 'SELECT count(*), sum(b) > 0 FROM t; PRAGMA integrity_check;'
mkfifo f; sqlite3 a.db < f & s=$!; exec 7>f; echo 'BEGIN; DELETE FROM t; .shell touch deleted' >&7; sleep 0.2; kill -9 $s; exec 7>&-; wait $s 2>/dev/null; sqlite3 a.db 'SELECT count(*) FROM t; PRAGMA integrity_check; PRAGMA wal_checkpoint(TRUNCATE);'""",
            needs=("sqlite3",), may_differ={"files": "a transaction that was killed"}),
    Program("sqlite_memory", r"""sqlite3 :memory: 'CREATE TABLE t(a, b); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 60000) INSERT INTO t SELECT x, x * 7 % 1000 FROM c;
CREATE INDEX i ON t(b); SELECT count(*), sum(a) FROM t WHERE b < 100; SELECT integrity_check FROM pragma_integrity_check;'""", needs=("sqlite3",), quick=True),
    Program("openssl", "head -c 3000000 /dev/zero | openssl dgst -sha512; openssl enc -aes-256-ctr -pass pass:x -pbkdf2 -nosalt -in /usr/bin/bash | sha256sum; openssl genrsa 2048 2>/dev/null | openssl rsa -check -noout 2>&1",
            needs=("openssl",)),
    Program("openssl_server", r"""openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -subj /CN=localhost -days 2 2>/dev/null; openssl s_server -quiet -accept 127.0.0.1:$PORT -key k.pem -cert c.pem -www >/dev/null & p=$!
until_true answers; for i in 1 2 3; do printf 'GET / HTTP/1.0\r\n\r\n' | timeout 10 openssl s_client -quiet -connect 127.0.0.1:$PORT 2>/dev/null | head -1; done; kill $p; wait $p; echo $?; rm *.pem""", needs=("openssl",)),
    Program("curl_and_wget", PYTHON + r""" -m http.server $PORT --bind 127.0.0.1 2>/dev/null & p=$!; until_true answers; curl -s http://127.0.0.1:$PORT/t/f7 | sha256sum; curl -sS -Z -o one -o two http://127.0.0.1:$PORT/t/f{8,9} 2>/dev/null; echo $?; sha256sum one two; curl -s -f http://127.0.0.1:$PORT/none; echo $?
wget -q -r -np -nH http://127.0.0.1:$PORT/t/ -P got; ls got/t | wc -l; kill $p; wait $p; echo ended $?""", needs=("curl", "wget"), prepare=TREE, may_differ={"files": "wget keeps times"}),
    Program("find_sort_awk", r"""find /usr/share/doc -maxdepth 1 | sort | head -200 | awk '{ n[length($0)]++ } END { for (i in n) print i, n[i] }' | sort -n | sha256sum; seq 200000 | sort -R --random-source=/usr/bin/bash | sort -n --parallel=4 -S 2M -T . | md5sum
find t -type f | sort | xargs -P4 -n5 cat | sort -n | uniq -c | sort -rn | head -3; seq 30000 | split -l 900 - part.; cat part.* | wc -l; sed -n '5,9p;s/1/x/gw out' t/f40 | head -4; comm -12 <(sort t/f3) <(sort t/f5) | wc -l""",
            needs=("find", "awk", "sort"), prepare=TREE),
    Program("jq_and_bc", r"""seq 20000 | jq -n '[inputs | {a: ., b: (. * 2)}] | group_by(.a % 5) | map(length)' -c; echo 'scale=400; 4*a(1)' | bc -l | tail -1""", needs=("jq", "bc")),
    Program("bash", r"""for i in $(seq 40); do /bin/true; x=$(echo $i | tr 0-9 a-j); done; echo $x; (exit 7); echo $?; coproc cat; echo in >&${COPROC[1]}; read -r y <&${COPROC[0]}; echo $y; kill $COPROC_PID; mkfifo f; (seq 3 >f &); cat f; rm f
(ulimit -n 40; ulimit -n); timeout 0.1 sleep 5; echo $?; trap 'echo trapped' USR1; kill -USR1 $$; seq 9 | xargs -P3 -n1 bash -c 'exit 0'; echo $?; exec 9<<<here; cat <&9; kill -TERM $$""", needs=("bash",), quick=True),
    Program("bash_4559_processes", r"""for ((i = 0; i < 1500; i++)); do x=$(echo $i); (exit 3); done; echo $x; seq 1500 | xargs -n 1 -P 4 /bin/true; for ((i = 0; i < 59; i++)); do timeout 5 /bin/true; done; echo done $?""", needs=("bash",), timeout=180),
    Program("dash_and_busybox", r"""dash -c 'i=0; while [ $i -lt 30 ]; do i=$((i + 1)); x=$(echo $i); done; echo $x; trap "echo bye" EXIT; exit 4'; echo $?; busybox sh -c 'busybox ls / | busybox wc -l; exit 5'; echo $?""", needs=("dash", "busybox")),
    Program("vim", r"""printf 'line %s\n' $(seq 200) > a.txt; vim.tiny -N -u NONE -n -es -c '%s/line/LINE/' -c 'g/9$/d' -c 'w! b.txt' -c 'qa!' a.txt; echo $?; sha256sum b.txt""", needs=("vim.tiny",)),
    Program("emacs", r"""emacs -Q --batch --eval '(progn (dotimes (i 2000) (insert (number-to-string (* i i)) "\n")) (sort-numeric-fields 1 (point-min) (point-max)) (princ (md5 (buffer-string))) (terpri) (princ (shell-command-to-string "echo sub")) (write-region (point-min) (point-max) "out.txt"))' 2>&1; echo $?""", needs=("emacs",)),
    Program("man", r"""man -k -s 1 . 2>/dev/null | head -1 | wc -l; man bash 2>/dev/null | wc -l; MANPAGER=cat man ls 2>/dev/null | sha256sum; man -w nothing-of-this-name; echo $?""", needs=("man",), wants="man-db",
            probe="man -w ls", may_differ={"out": "depends on which pages are there"},
            may_lose={"no_space": "it enters a filter, under which the trace file may not grow"}),
    Program("tmux", r"""tmux -L t$PORT -f /dev/null new-session -d -x 80 -y 24 'bash --norc'; tmux -L t$PORT send-keys 'PS1=; echo $((6*7)) > got; tmux -L t'$PORT' wait-for -S done' Enter; timeout 20 tmux -L t$PORT wait-for done; cat got
tmux -L t$PORT split-window 'sleep 100'; tmux -L t$PORT list-panes | wc -l; tmux -L t$PORT kill-server; sleep 0.2; echo $?""", needs=("tmux",)),
    Program("script", r"""script -qec "echo one; tty | grep -c pts; stty size" /dev/null | tr -d '\r' | head -2; script -qc 'exit 9' -e /dev/null; echo $?""", needs=("script",)),
    Program("gpg", r"""mkdir -m 700 g; export GNUPGHOME=$PWD/g; gpg --batch --quiet --passphrase '' --quick-generate-key a@b default default never 2>/dev/null; echo hello > m; gpg --batch -q -r a@b --trust-model always -o m.gpg -e m; gpg -q --batch -d m.gpg 2>/dev/null
gpg --batch -q --detach-sign m; gpg --verify m.sig m 2>&1 | grep -c Good; gpgconf --kill all; rm -rf g m.gpg m.sig""", needs=("gpg", "gpg-agent", "gpgconf")),
    Program("perf_stat", "perf stat -e task-clock true 2>&1 | grep -c task-clock; perf record -q -o p.data -e cpu-clock -F 100 -- bash -c ':' ; perf report -i p.data --stdio 2>/dev/null | grep -c '^#' | sed 's/.*/some/'; rm -f p.data*",
            needs=("perf",), probe="perf stat -e task-clock true", wants="perf may not count here"),
    Program("strace", "strace -f -o log bash -c 'echo traced; exit 4'; echo $?; grep -c 'exited with 4' log; rm log; strace -c -o log ls / | wc -l; rm log", needs=("strace",), probe="strace -o /dev/null true", wants="ptrace is not allowed", quick=True),
    Program("ltrace", "ltrace -o log -e getenv /bin/true; echo $?; rm -f log", needs=("ltrace",)),
    Program("gdb", r"""gdb -batch -nx -ex 'break work' -ex run -ex 'bt 1' -ex 'watch n' -ex continue -ex 'delete' -ex continue ./a 2>&1 | grep -E -o 'exited with code [0-9]+|hit Breakpoint 1|hit Hardware watchpoint'""", needs=("gdb", "gcc"),
            prepare="printf '#include <pthread.h>\\nint n;\\nvoid *work(void *u) { for (int i = 0; i < 4; i++) n += i; return u; }\\nint main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return n; }\\n' > a.c; gcc -g -O0 -o a a.c -pthread\n"),
    Program("valgrind", r"""for t in memcheck callgrind massif; do o=; [ $t = memcheck ] || o=--$t-out-file=/dev/null; valgrind -q --error-exitcode=9 --tool=$t $o ./a one; echo $t $?; done""", needs=("valgrind", "gcc"), timeout=120,
            prepare="printf '#include <stdio.h>\\n#include <stdlib.h>\\n#include <string.h>\\nint main(int c, char **v) { for (int i = 1; i < 300; i++) { char *p = malloc(i); memset(p, 1, i); FILE *f = fopen(v[0], \"r\"); fread(p, 1, i, f); fclose(f); free(p); } return 5; }\\n' > a.c; gcc -g -w -o a a.c\n"),
    Program("valgrind_python", r"""PYTHONMALLOC=malloc valgrind -q --error-exitcode=9 /usr/bin/python3 -I a.py; echo memcheck $?""", needs=("valgrind", "/usr/bin/python3"), timeout=180,
            prepare="""cat > a.py <<'P'
import os, threading, time
def work():
    for _ in range(30): time.sleep(0.002); os.stat('/')
threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
print(sum(len(str(i) * 10) for i in range(2000)))
P"""),
    Program("valgrind_threads", r"""valgrind -q --error-exitcode=9 ./a; echo memcheck $?; valgrind -q --tool=helgrind --suppressions=$SUPPRESSIONS --error-exitcode=9 ./a; echo helgrind $?""", needs=("valgrind", "gcc"), timeout=120,
            prepare="""cat > a.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static long n;
static void *work(void *u) { struct stat s; for (int i = 0; i < 500; i++) { void *p = malloc(100); stat("/", &s); free(p); pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); } return u; }
int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return n == 1500 ? 5 : 6; }
C
gcc -g -w -o a a.c -pthread
"""),
]
