/* SPDX-License-Identifier: MIT
 *
 * T20 to T28: a program that counts its own calls and says how many it made. What a trace has of them and what it says
 * that it has not must be as many, whatever bites. usage: counted_calls ROUNDS THREADS [WAY [WHEN]]. WAY: setuid,
 * chroot, both: given up before the calls; filter: a filter under which none of our calls is allowed; strict: of one
 * thread; child: as many calls in a child; heap: 17 million blocks; beside: blocks alone, while a thread comes and asks
 * for blocks, too; beside-timer: one that libc makes. WHEN = late: after a fifth of the calls.
 */
#include "host.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

enum { MOST_THREADS = 64 };

static long rounds, made;
static const char *way;
static int null_fd, gate;
static FILE *null_stream;

static void call(long times)
{
    struct stat status;
    for (long i = 0; i < times; i++) {
        putc('c', null_stream); /* the first of each thread: counted, without an event */
        MUST(write(null_fd, "12345678", 8) == 8);
        MUST(fstat(null_fd, &status) == 0);
        void *block = malloc(16 + (size_t)(i % 100) * 160);
        host_sink = block;
        free(block);
    }
    __atomic_fetch_add(&made, 5 * times, __ATOMIC_RELAXED);
}

/* All are there before one calls: how many the C library allocates for them does not depend on when they end. */
static void *call_in_thread(void *is_strict)
{
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        syscall(SYS_sched_yield);
    if (is_strict) {
        call(rounds / 2);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            return &gate;
        for (long i = 0; i < rounds / 2; i++)
            write(null_fd, "12345678", 8);
        __atomic_fetch_add(&made, rounds / 2, __ATOMIC_RELAXED);
        syscall(SYS_exit, 0);
    }
    call(rounds);
    return NULL;
}

/* What the calls above need, and what ends threads and the process. */
static void filter_others(void)
{
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_fstat),
        ALLOW(SYS_newfstatat),
        ALLOW(SYS_futex),
        ALLOW(SYS_sched_yield),
        ALLOW(SYS_mmap),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mprotect),
        ALLOW(SYS_madvise),
        ALLOW(SYS_brk),
        ALLOW(SYS_sched_getaffinity),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_rt_sigaction),
        ALLOW(SYS_clone),
        ALLOW(SYS_clone3),
        ALLOW(SYS_set_robust_list),
        ALLOW(SYS_rseq),
        ALLOW(SYS_getrandom),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void give_up(void)
{
    if (!strcmp(way, "chroot") || !strcmp(way, "both"))
        MUST(chroot("/var/empty") == 0 || chroot("/tmp") == 0);
    if (!strcmp(way, "setuid") || !strcmp(way, "both"))
        MUST(setgid(65534) == 0 && setuid(65534) == 0);
    if (!strcmp(way, "filter"))
        filter_others();
}

static int is_over;

static void *allocate_beside(void *unused)
{
    if (rounds)
        alloc_pairs(1000, 100);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    return unused;
}

static void expired(union sigval unused)
{
    (void)unused;
    allocate_beside(NULL);
}

static void with_thread_beside(int is_of_libc)
{
    pthread_t beside;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired};
    const struct itimerspec soon = {.it_value.tv_nsec = 1};
    if (is_of_libc)
        MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
    else
        MUST(pthread_create(&beside, NULL, allocate_beside, NULL) == 0);
    alloc_pairs(50 * rounds, 100);
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        ;
    if (!is_of_libc)
        MUST(pthread_join(beside, NULL) == 0);
    made += 100 * rounds + (rounds ? 2000 : 0);
}

static pthread_t thread[MOST_THREADS];

static int start_thread(long i)
{
    return pthread_create(&thread[i], NULL, call_in_thread, (void *)(long)(i == 0 && !strcmp(way, "strict"))) == 0;
}

/* Under a limit of memory not all can be made: then there is nobody to join, and those that were still end. */
static void with_threads(long threads)
{
    long n = 0;
    while (n < threads && start_thread(n))
        n++;
    MUST(n == threads);
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    for (long i = 0; i < n; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

/* What it counts is not seen here. */
static void with_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        call(rounds);
        _exit(host_broken);
    }
    MUST(wait_for(child) == 0);
    made += 5 * rounds;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atol(argv[1]) : 10000;
    const long threads = argc > 2 ? atol(argv[2]) : 0;
    way = argc > 3 ? argv[3] : "";
    const long before = argc > 4 ? rounds / 5 : 0;
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    static char buffer[4096];
    null_stream = fopen("/dev/null", "w");
    MUST(null_stream && setvbuf(null_stream, buffer, _IOFBF, sizeof buffer) == 0);
    if (!strncmp(way, "beside", 6)) {
        with_thread_beside(!strcmp(way, "beside-timer"));
        printf("made %ld\n", made);
        fflush(stdout);
        return host_broken;
    }
    call(before);
    give_up();
    if (!strcmp(way, "child"))
        with_child();
    if (!strcmp(way, "heap") && rounds) {
        alloc_pairs(17000000, 100);
        made += 34000000;
    }
    call(rounds);
    with_threads(threads <= MOST_THREADS ? threads : MOST_THREADS);
    printf("made %ld\n", made);
    fflush(stdout);
    return host_broken;
}
