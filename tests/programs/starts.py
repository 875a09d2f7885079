# SPDX-License-Identifier: MIT
"""Ways to start a process, and to be one: other roots and users, sanitizers, static programs, other preloads, odd threads and memory."""
from program import NOBODY, Program, PYTHON, c

BAD_FILTER = r"""cat > f.py <<'P'
import struct, sys
p = [(0x20, 0, 0, 0)]
for n in map(int, sys.argv[1:]): p += [(0x15, 0, 1, n), (6, 0, 0, 0x80000000)]
p.append((6, 0, 0, 0x7fff0000)); sys.stdout.buffer.write(b"".join(struct.pack("HBBI", *x) for x in p))
P
for n in 285 138 28 98 63 39 318; do /usr/bin/python3 f.py $n > $n.bpf; done
"""
HELLO = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
static void *work(void *u) { struct stat s; for (int i = 0; i < 200; i++) { free(malloc(i)); stat("/", &s); } return u; }
int main(int n, char **v) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); puts("hello"); return 7; }
"""
ROOT = r"""mkdir -p c/bin c/tmp; for f in $(command -v dash) $(command -v ls) $(for b in dash ls; do ldd $(command -v $b) | grep -o '/lib[^ ]*'; done | sort -u); do mkdir -p c$(dirname $f); cp -L $f c$f; done; cp c$(command -v dash) c/bin/sh; chmod 755 . c
"""

PROGRAMS = [
    Program("env_i", r"""env -i /bin/echo bare; env -i A=b sh -c 'echo $A $LD_PRELOAD; exit 3'; echo $?; env -u HOME bash -c 'echo ${HOME-none}'; nohup sh -c 'exit 4' >/dev/null 2>&1; echo $?; stdbuf -o0 echo out; taskset -c 0 echo pinned; nice -n 5 nice; setsid -w sh -c 'exit 5'; echo $?
prlimit --nofile=50 bash -c 'ulimit -n'; flock f -c 'echo locked'; timeout 5 env -C / pwd; xargs -a /dev/null echo none; printf '#!/bin/sh\necho script $0\n' > s; chmod 755 s; ./s; exec -a name sh -c 'echo $0'""", needs=("nohup", "stdbuf", "taskset", "prlimit", "flock"), quick=True),
    Program("users", r"""setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'id -u; ls / >/dev/null; for i in 1 2 3; do /bin/true; done; exit 6'; echo $?; su -s /bin/sh nobody -c 'id -u; exit 4'; echo $?; runuser -u nobody -- id -un; setpriv --no-new-privs sh -c 'echo $?'""", needs=("setpriv", "su", "runuser"), root=True),
    Program("sudo", r"""sudo -n -u nobody sh -c 'id -un; exit 5'; echo $?; sudo -n env | grep -c LD_PRELOAD""", needs=("sudo",), root=True),
    Program("namespaces", r"""unshare -Ur id -u; unshare -mpf --mount-proc sh -c 'echo $$; ls /proc | grep -c ^1$'; unshare -n sh -c 'ls /sys/class/net >/dev/null; exit 3'; echo $?; unshare -T --monotonic 1000000 sh -c 'exit 4'; echo $?; nsenter -t $$ -m true; echo $?""", needs=("unshare", "nsenter"), root=True,
            probe="unshare -mpf true", wants="namespaces are not allowed"),
    Program("chroot", r"""chroot c /bin/sh -c 'echo in; ls /; cd /tmp && echo x > made; exit 3'; echo $?; chroot --userspec=65534:65534 c /bin/sh -c 'echo as nobody; for i in 1 2 3; do ls / >/dev/null; done'; echo $?""", needs=("chroot", "dash"), root=True, prepare=ROOT),
    Program("bwrap", r"""bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc --tmpfs /var sh -c 'echo visible; exit 3'; echo $?; bwrap --ro-bind c / --proc /proc --dev /dev /bin/sh -c 'echo other root; ls /; exit 4'; echo $?; bwrap --ro-bind /usr /usr --symlink usr/lib64 /lib64 --symlink usr/lib /lib --symlink usr/bin /bin --unshare-pid /bin/ls /; echo $?""",
            needs=("bwrap", "dash"), probe="bwrap --bind / / true", wants="bwrap may not make namespaces", prepare=ROOT),
    Program("bwrap_seccomp", r"""for n in 285 138 28 98 63 39 318; do bwrap --bind / / --dev /dev --proc /proc --seccomp 9 /bin/true 9<$n.bpf; echo $n $?; done""", needs=("bwrap",), probe="bwrap --bind / / true", wants="bwrap may not make namespaces", prepare=BAD_FILTER,
            may_lose={"processes": "it starts under a filter that refuses what recording needs"}),
    Program("static_and_sanitized", r"""for p in static pie asan ubsan tsan casan cmsan; do [ ! -e $p ] || { ./$p 2>&1; echo $p $?; }; done; /lib64/ld-linux-x86-64.so.2 ./plain; echo $?; LD_TRACE_LOADED_OBJECTS=1 ./plain | grep -c libc.so""", needs=("gcc", "g++"),
            probe="ls /lib64/ld-linux-x86-64.so.2", quick=True, prepare="cat > a.c <<'C'\n" + HELLO + "\nC\n" + r"""gcc -w -o plain a.c -pthread; gcc -w -static -o static a.c -pthread; gcc -w -static-pie -o pie a.c -pthread
for s in address undefined thread; do case $s in address) n=asan;; undefined) n=ubsan;; *) n=tsan;; esac; gcc -w -g -fsanitize=$s -o $n a.c -pthread 2>/dev/null && { ./$n >/dev/null 2>&1; [ $? = 7 ]; } || rm -f $n; done
clang -w -fsanitize=address -o casan a.c -pthread 2>/dev/null; clang -w -fsanitize=memory -o cmsan a.c -pthread 2>/dev/null; true
"""),
    Program("musl", r"""./a; echo $?; sh -c './a'; echo $?""", needs=("musl-gcc",), prepare="printf '#include <stdio.h>\\n#include <stdlib.h>\\nint main() { free(malloc(9)); puts(\"musl\"); return 7; }\\n' > a.c; musl-gcc -o a a.c\n"),
    Program("fakeroot", r"""fakeroot sh -c 'touch f; chown 1:2 f; stat -c %u:%g f; tar cf - f | tar tvf - | grep -o "[^ ]*/[^ ]*"; id -u'; echo $?""", needs=("fakeroot", "tar")),
    Program("faketime", r"""faketime '2020-01-02 03:04:05' date +%F; faketime -f '@2020-01-02 03:04:05' sh -c 'date +%Y; exit 3'; echo $?""", needs=("faketime",)),
    Program("eatmydata", r"""eatmydata sh -c 'dd if=/dev/zero of=f bs=4k count=50 conv=fsync status=none; sync f; exit 3'; echo $?; sha1sum f""", needs=("eatmydata",)),
    Program("other_allocators", r"""for l in /usr/lib/x86_64-linux-gnu/lib{jemalloc.so.2,tcmalloc_minimal.so.4,mimalloc.so.2}; do [ -e $l ] && for o in before after; do P=$LD_PRELOAD; [ $o = before ] && P=$l:$P || P=$P:$l; LD_PRELOAD=${P#:} """ + PYTHON + r""" -c 'import threading, json
t = [threading.Thread(target=lambda: json.dumps(list(range(20000)))) for _ in range(3)]
[x.start() for x in t]; [x.join() for x in t]; print(len(bytearray(5 << 20)))'; echo $o $?; done; done""", probe="ls /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4", wants="jemalloc, tcmalloc not installed"),
    c("ld_audit", r"""
#include <link.h>
unsigned la_version(unsigned v) { return v; }
""", r"""LD_AUDIT=$PWD/audit.so /bin/sh -c 'echo audited; ls / >/dev/null; exit 3'; echo $?""", prepare="gcc -shared -fPIC -o audit.so a.c\n", options="-shared -fPIC"),
    c("clone_ways", r"""
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static char stack[65536] __attribute__((aligned(16))), tls[131072] __attribute__((aligned(16)));
static int child(void *u) { if (chdir("/")) _exit(2); struct stat s; stat("/", &s); _exit(7); }
static void end(const char *what, pid_t p) { int s = 0; if (p > 0 && waitpid(p, &s, __WALL) != p) s = -1; printf("%s: exit %d signal %d%s\n", what, WEXITSTATUS(s), WTERMSIG(s), p < 0 ? " refused" : ""); fflush(stdout); }
int main(void) {
    end("vfork with a thread pointer", clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_SETTLS | SIGCHLD, 0, 0, tls + 65536, 0));
    end("vm and vfork", clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, 0));
    end("no vm", clone(child, stack + sizeof stack, SIGCHLD, 0));
    end("files", clone(child, stack + sizeof stack, CLONE_FILES | CLONE_FS | SIGCHLD, 0));
    end("newuser", clone(child, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, 0));
    struct clone_args a; memset(&a, 0, sizeof a); a.exit_signal = SIGCHLD; pid_t p = syscall(SYS_clone3, &a, sizeof a); if (!p) child(0); end("clone3", p);
    p = syscall(SYS_fork); if (!p) child(0); end("raw fork", p);
    p = vfork(); if (!p) { chdir("."); execl("/none", "none", (char *)0); _exit(errno == ENOENT ? 5 : 6); } end("vfork", p);
    p = vfork(); if (!p) { execl("/bin/sh", "sh", "-c", "exit 8", (char *)0); _exit(6); } end("vfork and exec", p);
    char *v[] = {"sh", "-c", "exit 9", 0}; posix_spawn(&p, "/bin/sh", 0, 0, v, environ); end("spawn", p);
    printf("system: %d\n", WEXITSTATUS(system("exit 4"))); FILE *f = popen("echo popen", "r"); char b[20]; fgets(b, 20, f); printf("%s", b); pclose(f); return 3;
}
""", "./a; echo $?", quick=True, may_lose={"in_borrowed_memory": "a child with a thread pointer of its own has no memory of a thread to record in"}),
    c("exec_ways", r"""
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static char *const v[] = {"sh", "-c", "echo shell; exit 3", 0};
static void *by_thread(void *u) { execv("/bin/sh", v); return u; }
int main(int n, char **w) {
    setvbuf(stdout, 0, _IONBF, 0);
    for (int way = 0; way < 7; way++) {
        pid_t p = fork();
        if (!p) {
            if (way == 0) { int m = memfd_create("m", 0), f = open("/bin/sh", O_RDONLY); char b[65536]; for (ssize_t k; (k = read(f, b, sizeof b)) > 0;) write(m, b, k); fexecve(m, v, environ); }
            if (way == 1) { int d = open("/bin", O_PATH | O_DIRECTORY); execveat(d, "sh", v, environ, 0); }
            if (way == 2) { char *bad[] = {"A=b", (char *)8, 0}; _exit(execve("/bin/sh", v, bad) == -1 && errno == EFAULT ? 11 : 12); }
            if (way == 3) execve("/bin/sh", v, 0);
            if (way == 4) { pthread_t t; pthread_create(&t, 0, by_thread, 0); pthread_join(t, 0); }
            if (way == 5) { char *bad[] = {"A=b", (char *)8, 0}; _exit(execve("./static", v, bad) == -1 && errno == EFAULT ? 11 : 12); }
            if (way == 6) { char big[200001]; memset(big, 'x', 200000); big[200000] = 0; char *e[] = {big, 0}; _exit(execve("/bin/sh", v, e) == -1 && errno == E2BIG ? 13 : 14); }
            _exit(99);
        }
        int s; waitpid(p, &s, 0); printf("way %d: exit %d signal %d\n", way, WEXITSTATUS(s), WTERMSIG(s));
    }
}
""", "./a", prepare="echo 'int main(void) { return 0; }' > s.c; gcc -static -o static s.c\n", quick=True),
    c("descriptors", r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    struct stat s; for (int i = 3; i < 1024; i++) close(i); syscall(SYS_close_range, 3, ~0u, 0); closefrom(3);
    for (int i = 0; i < 3000; i++) free(malloc(i)), stat("/", &s);
    int f = open("victim", O_CREAT | O_RDWR, 0600); printf("next %d\n", f); for (int i = 4; i < 60; i++) dup2(f, i); for (int i = 0; i < 30000; i++) pread(f, &s, 8, 0), free(malloc(100)); printf("size %ld\n", (long)lseek(f, 0, SEEK_END)); closefrom(3);
    int p[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, p); f = open("/dev/null", O_RDONLY); char b[CMSG_SPACE(sizeof f)] = {0}; struct iovec v = {"x", 1}; struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = b, .msg_controllen = sizeof b};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m); h->cmsg_level = SOL_SOCKET; h->cmsg_type = SCM_RIGHTS; h->cmsg_len = CMSG_LEN(sizeof f); memcpy(CMSG_DATA(h), &f, sizeof f); sendmsg(p[0], &m, 0);
    char in; v.iov_base = &in; memset(b, 0, sizeof b); recvmsg(p[1], &m, 0); printf("passed %d\n", *(int *)CMSG_DATA(CMSG_FIRSTHDR(&m))); struct rlimit r = {20, 20}; setrlimit(RLIMIT_NOFILE, &r); int n = 0; while (open("/dev/null", O_RDONLY) >= 0) n++; printf("opened %d %s\n", n, strerror(errno)); return 4;
}
""", "./a; echo $?", quick=True),
    c("odd_memory", r"""
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
static ucontext_t back, there[20]; static char stacks[20][16384]; static void coroutine(int i) { struct stat s; for (int k = 0; k < 50; k++) { free(malloc(k)); stat("/", &s); swapcontext(&there[i], &back); } }
static void *small(void *u) { struct stat s; free(malloc(9)); stat("/", &s); return (void *)5; }
int main(void) {
    for (int i = 0; i < 20; i++) { getcontext(&there[i]); there[i].uc_stack.ss_sp = stacks[i]; there[i].uc_stack.ss_size = sizeof stacks[i]; there[i].uc_link = &back; makecontext(&there[i], (void (*)(void))coroutine, 1, i); }
    for (int k = 0; k < 50; k++) for (int i = 0; i < 20; i++) swapcontext(&back, &there[i]); puts("coroutines");
    pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 16384); pthread_t t; void *r = 0; printf("small %d", pthread_create(&t, &a, small, 0)); pthread_join(t, &r); printf(" %ld\n", (long)r);
    printf("dumpable %d", prctl(PR_SET_DUMPABLE, 0)); printf(" %d\n", prctl(PR_GET_DUMPABLE)); printf("lock %d\n", mlockall(MCL_CURRENT)); munlockall();
    struct rlimit l = {400 << 20, 400 << 20}; setrlimit(RLIMIT_AS, &l); void *p = malloc(600 << 20); printf("refused %d %d\n", !p, errno == ENOMEM); p = calloc(-1, 9); printf("overflow %d\n", !p);
    void *q = aligned_alloc(4096, 8192); printf("aligned %d\n", !((unsigned long)q & 4095)); free(q); int pid = fork(); if (!pid) { raise(SIGKILL); } puts("end"); abort();
}
""", "ulimit -c 0; ./a; echo $?", quick=True),
    c("namespaces_of_libraries", r"""
#include <dlfcn.h>
#include <stdio.h>
int main(void) { for (int i = 0; i < 4; i++) { void *l = dlmopen(LM_ID_NEWLM, "./p.so", RTLD_NOW); int (*f)(int) = l ? dlsym(l, "f") : 0; printf("%d\n", f ? f(i) : -1); } void *d = dlopen("./p.so", RTLD_NOW | RTLD_DEEPBIND); int (*f)(int) = dlsym(d, "f"); printf("%d\n", f(9));
  for (int i = 0; i < 200; i++) { void *l = dlopen("libm.so.6", RTLD_NOW); double (*s)(double) = dlsym(l, "cos"); if (s(0) != 1) puts("wrong"); dlclose(l); } printf("%s\n", dlopen("none.so", RTLD_NOW) ? "?" : "none"); return 5; }
""", "./a; echo $?", prepare="printf '#include <stdlib.h>\\n#include <string.h>\\n#include <sys/stat.h>\\nint f(int n) { struct stat s; char *p = malloc(100); memset(p, n, 100); int r = p[50] * 2 + stat(\"/\", &s); free(p); return r; }\\n' > p.c; gcc -w -shared -fPIC -o p.so p.c\n", options="-ldl"),
    c("storm", r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *u) { struct stat s; for (int i = 0; i < 3000; i++) { char *p = malloc(i % 700 + 1); stat("/", &s); p = realloc(p, i + 1); free(p); } return u; }
int main(void) { for (int round = 0; round < 3; round++) { pthread_t t[8]; for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, work, 0); int bad = 0; for (int i = 0; i < 20; i++) { pid_t p = fork(); if (!p) { alarm(20); work(0); _exit(0); } int s; waitpid(p, &s, 0); bad += s != 0; } for (int i = 0; i < 8; i++) pthread_join(t[i], 0); printf("bad %d\n", bad); } return 6; }
""", "./a; echo $?", quick=True),
    Program("killed", r"""./a & p=$!; sleep 0.3; kill -9 $p; wait $p; echo $?; ./a & p=$!; sleep 0.1; kill -TERM $p; wait $p; echo $?; timeout -s KILL 0.3 ./a; echo $?; timeout 0.2 sh -c './a; echo not here'; echo $?""", needs=("gcc",), prepare="printf '#include <stdlib.h>\\n#include <unistd.h>\\n#include <sys/stat.h>\\nint main(void) { struct stat s; for (;;) { free(malloc(50)); stat(\"/\", &s); usleep(1000); } }\\n' > a.c; gcc -w -o a a.c\n"),
]
