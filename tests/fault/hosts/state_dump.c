/* SPDX-License-Identifier: MIT
 *
 * The state-diff test: everything about itself that a program can ask for, once at the start and once after using every
 * kind of hook. The output must be the same bytes with and without the library. Left out, because documented as
 * different: our named environment variables, mappings, memory sizes and times.
 */
#include "host.h"

#include <dirent.h>
#include <fenv.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <xmmintrin.h>

extern char **environ;
static int errno_at_start;

static int starts_with_any(const char *line, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (!strncmp(line, *prefixes, strlen(*prefixes)))
            return 1;
    return 0;
}

static void print_lines(const char *path, const char *const *prefixes)
{
    char line[512];
    FILE *stream = fopen(path, "r");
    if (!stream) {
        printf("%s: %s\n", path, strerror(errno));
        return;
    }
    while (fgets(line, sizeof line, stream))
        if (!prefixes || starts_with_any(line, prefixes))
            printf("%s: %s", path, line);
    fclose(stream);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void print_descriptors(void)
{
    int numbers[1024], n = 0;
    DIR *directory = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory) && n < 1024)
            numbers[n++] = atoi(entry->d_name);
    printf("directory stream has descriptor %d\n", dirfd(directory));
    closedir(directory);
    qsort(numbers, (size_t)n, sizeof numbers[0], by_number);
    static const char *const flags[] = {"flags:", NULL};
    for (int i = 0; i < n; i++) {
        char path[64], target[256];
        snprintf(path, sizeof path, "/proc/self/fd/%d", numbers[i]);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = 0;
        target[strcspn(target, "[")] = 0; /* pipe:[123] */
        printf("descriptor %d is %s\n", numbers[i], target);
        snprintf(path, sizeof path, "/proc/self/fdinfo/%d", numbers[i]);
        print_lines(path, flags);
    }
    const int next = open("/dev/null", O_RDONLY);
    printf("next descriptor %d\n", next);
    close(next);
}

static void print_environment(void)
{
    static const char *const ours[] = {
        "LD_PRELOAD=", "PROFTRACE_", "CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=", "INTEL_LIBITTNOTIFY64=", NULL};
    for (char **e = environ; *e; e++)
        if (!starts_with_any(*e, ours))
            printf("environment %s\n", *e);
}

static void print_signals(void)
{
    sigset_t pending;
    stack_t alternate;
    struct itimerval timer;
    sigpending(&pending);
    for (int i = 1; i < 65; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0 && (action.sa_handler != SIG_DFL || sigismember(&pending, i)))
            printf("signal %d: handler %s, pending %d\n", i, action.sa_handler == SIG_IGN ? "ignored" : "set",
                   sigismember(&pending, i));
    }
    sigaltstack(NULL, &alternate);
    printf("alternate stack %d %zu\n", alternate.ss_flags, alternate.ss_size);
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        getitimer(which, &timer);
        printf("timer %d: %ld.%06ld every %ld.%06ld\n", which, (long)timer.it_value.tv_sec,
               (long)timer.it_value.tv_usec, (long)timer.it_interval.tv_sec, (long)timer.it_interval.tv_usec);
    }
}

static void print_process(void)
{
    static const int questions[] = {PR_GET_DUMPABLE,   PR_GET_KEEPCAPS,    PR_GET_SECCOMP,   PR_GET_NO_NEW_PRIVS,
                                    PR_GET_TIMERSLACK, PR_GET_THP_DISABLE, PR_GET_SECUREBITS};
    char name[32] = "", cwd[512];
    int value = 0;
    prctl(PR_GET_NAME, name);
    printf("name %s\n", name);
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        printf("prctl %d: %d\n", questions[i], prctl(questions[i], 0, 0, 0, 0));
    prctl(PR_GET_PDEATHSIG, &value);
    printf("death signal %d\n", value);
    prctl(PR_GET_CHILD_SUBREAPER, &value);
    printf("subreaper %d\n", value);
    prctl(PR_GET_TSC, &value);
    printf("tsc %d\n", value);
    const mode_t mask = umask(0);
    umask(mask);
    printf("umask %o, cwd %s, personality %x, nice %d\n", mask, getcwd(cwd, sizeof cwd), personality(0xffffffff),
           getpriority(PRIO_PROCESS, 0));
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("cpus %d, policy %d\n", CPU_COUNT(&cpus), sched_getscheduler(0));
    errno = 0;
    printf("children: %d %s\n", waitpid(-1, NULL, WNOHANG | __WALL), strerror(errno));
    printf("secure %lu, session leader %d, group leader %d\n", getauxval(AT_SECURE), getsid(0) == getpid(),
           getpgid(0) == getpid());
}

static void print_floating_point(void)
{
    unsigned short control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    printf("rounding %d, exceptions %x, mxcsr %x, x87 %x\n", fegetround(), fetestexcept(FE_ALL_EXCEPT), _mm_getcsr(),
           control);
}

static void print_all(const char *when)
{
    static const char *const status[] = {
        "Threads:", "SigPnd:",    "ShdPnd:",     "SigBlk:", "SigIgn:",      "SigCgt:",      "CapInh:", "CapPrm:",
        "CapEff:",  "CapBnd:",    "NoNewPrivs:", "Seccomp", "FDSize:",      "Umask:",       "Uid:",    "Gid:",
        "Groups:",  "TracerPid:", "State:",      "Name:",   "CoreDumping:", "THP_enabled:", NULL};
    printf("---- %s\n", when);
    print_lines("/proc/self/status", status);
    print_lines("/proc/self/limits", NULL);
    print_lines("/proc/self/timers", NULL);
    print_lines("/proc/self/oom_score_adj", NULL);
    print_lines("/proc/self/coredump_filter", NULL);
    print_descriptors();
    print_signals();
    print_process();
    print_floating_point();
    print_environment();
    printf("errno at start of main %d\n", errno_at_start);
    fflush(stdout);
}

static void use_every_hook(void)
{
    struct stat status;
    char bytes[64];
    alloc_pairs(200000, 100);
    null_writes(20000);
    for (int i = 0; i < 20; i++) {
        const int fd = open("/dev/zero", O_RDWR), copy = dup(fd);
        MUST(read(fd, bytes, 64) == 64 && pwrite(copy, bytes, 64, 0) == 64);
        MUST(fstat(fd, &status) == 0 && stat("/", &status) == 0);
        close(fd);
        close(copy);
        void *map = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(map, 1 << 20);
        const pid_t pid = fork();
        if (!pid) {
            alloc_pairs(1000, 50);
            _exit(0);
        }
        wait_for(pid);
    }
}

int main(void)
{
    errno_at_start = errno;
    print_all("at start");
    fesetround(FE_DOWNWARD);
    feraiseexcept(FE_INEXACT);
    umask(027);
    use_every_hook();
    print_all("after every hook");
    trace_must("processes", "==", 21);
    return host_broken;
}
