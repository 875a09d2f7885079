/* SPDX-License-Identifier: MIT
 *
 * T28, T54: a server that starts as root, gives up its user (argv[1] = setuid) or its root directory (chroot, both;
 * pivot: a mount namespace with another one; landlock: all files; setfsuid: the user of files only; shared: a child
 * that shares it changes it, as Chromium does), and then works: far more calls than it had room for, in threads that
 * come later, in argv[2] children one after another. The file can no longer be opened, and nothing may be missing.
 * argv[3] = early: it has done so little before that it has no file of its own yet.
 */
#include "host.h"

#include <pthread.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { CALLS = 300000, CALLS_OF_THREAD = 50000, CALLS_OF_CHILD = 3000, THREADS = 4 };

static void look(int calls)
{
    struct stat status;
    for (int i = 0; i < calls; i++)
        MUST(stat("/", &status) == 0);
}

static void *look_in_thread(void *unused)
{
    look(CALLS_OF_THREAD);
    return unused;
}

static void with_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, look_in_thread, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void with_child(int does_exec)
{
    const pid_t child = fork();
    if (child == 0) {
        look(CALLS_OF_CHILD);
        if (does_exec)
            execl("/bin/true", "true", (char *)NULL);
        _exit(host_broken);
    }
    MUST(wait_for(child) == 0);
}

static int change_root(void *unused)
{
    (void)unused;
    return chroot("/tmp") != 0;
}

/* Its thread pointer is to zeros: nothing of ours is there. */
static void let_child_change_root(void)
{
    static char stack[65536] __attribute__((aligned(64))), thread[8192] __attribute__((aligned(64)));
    *(void **)(thread + sizeof thread / 2) = thread + sizeof thread / 2;
    const int flags = CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_SETTLS | SIGCHLD;
    MUST(wait_for(clone(change_root, stack + sizeof stack, flags, NULL, NULL, thread + sizeof thread / 2)) == 0);
}

/* What was at /tmp, and the run directory with it, is not to be seen any more. */
static void pivot(void)
{
    MUST(unshare(CLONE_NEWNS) == 0);
    MUST(mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0);
    MUST(mount("none", "/tmp", "tmpfs", 0, NULL) == 0);
    MUST(mkdir("/tmp/old", 0755) == 0);
    MUST(syscall(SYS_pivot_root, "/tmp", "/tmp/old") == 0);
    MUST(chdir("/") == 0);
    MUST(umount2("/old", MNT_DETACH) == 0);
}

/* No file may be opened any more, by whatever path; what is open stays so. Where the kernel has no Landlock (Linux
 * 5.13), nothing is given up. */
static void restrict_files(void)
{
    enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, ALL_OF_VERSION_1 = (1 << 13) - 1 };
    const unsigned long long handled = ALL_OF_VERSION_1;
    const long rules = syscall(CREATE_RULESET, &handled, sizeof handled, 0);
    if (rules < 0)
        return;
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    MUST(syscall(RESTRICT_SELF, rules, 0) == 0);
    close((int)rules);
}

static int is(const char *way, const char *one, const char *other)
{
    return !strcmp(way, one) || !strcmp(way, other);
}

static void give_up(const char *way)
{
    if (is(way, "chroot", "both"))
        MUST(chroot("/var/empty") == 0 || chroot("/tmp") == 0);
    if (is(way, "shared", ""))
        let_child_change_root();
    if (is(way, "pivot", ""))
        pivot();
    if (is(way, "landlock", ""))
        restrict_files();
    if (is(way, "setfsuid", ""))
        MUST(setfsuid(65534) == 0);
    if (is(way, "setuid", "both"))
        MUST(setgid(65534) == 0 && setuid(65534) == 0);
}

int main(int argc, char **argv)
{
    const int children = argc > 2 ? atoi(argv[2]) : 0;
    const int does_exec = argc > 3 && !strcmp(argv[3], "exec");
    const int before = argc > 3 && !strcmp(argv[3], "early") ? 10 : 1000;
    look(before);
    give_up(argv[1]);
    look(CALLS);
    with_threads();
    for (int i = 0; i < children; i++)
        with_child(does_exec);
    trace_must("io_stat",
               "==", before + CALLS + THREADS * CALLS_OF_THREAD + (children < 4 ? children : 4) * CALLS_OF_CHILD);
    trace_must("processes", ">=", 1 + (children < 4 ? children : 4));
    return host_broken;
}
