/* SPDX-License-Identifier: MIT
 *
 * known.c - A program that makes a known number of events (event(): malloc(4242), free) and meets one fault: known
 * FAULT NUMBER. What it notices of its tracer it prints; whoever runs it compares that with a run without one. Threads:
 * those that it starts.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) void event(void)
{
    void *block = malloc(4242);
    kept = block;
    free(block);
}

static void events(long n)
{
    for (long i = 0; i < n; i++)
        event();
}

static void *thread_of(void *n)
{
    events((long)n);
    return NULL;
}

static void start_threads(pthread_t *threads, int n_threads, long n)
{
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, thread_of, (void *)n);
}

static int threads_joined(long n)
{
    pthread_t threads[200];
    start_threads(threads, 200, n / 200);
    for (int i = 0; i < 200; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int fork_child(long n)
{
    events(n);
    const pid_t child = fork();
    if (!child) {
        events(n);
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static int forks_among_threads(long n)
{
    pthread_t threads[8];
    int n_bad = 0;
    start_threads(threads, 8, n / 8);
    for (int i = 0; i < 100; i++) {
        const pid_t child = fork();
        if (!child) {
            alarm(10);
            events(100);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        n_bad += status != 0;
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    printf("bad children %d\n", n_bad);
    return 0;
}

static int vforks(long n)
{
    events(n / 2);
    for (int i = 0; i < 50; i++) {
        const pid_t child = vfork();
        if (!child)
            _exit(3);
        int status;
        waitpid(child, &status, 0);
        if (WEXITSTATUS(status) != 3)
            return 1;
    }
    events(n - n / 2);
    return 0;
}

/* A descriptor of the user in all low places: what somebody else writes to one of them is in the user's file. */
static int overwritten_descriptors(long n)
{
    const int file = open("victim", O_CREAT | O_TRUNC | O_RDWR, 0600), high = fcntl(file, F_DUPFD, 900);
    for (int i = 3; i < 64; i++)
        dup2(high, i);
    events(n);
    printf("others wrote %ld bytes into the user's file\n", (long)lseek(high, 0, SEEK_END));
    return 0;
}

static int few_descriptors(long n)
{
    const struct rlimit limit = {16, 16};
    int n_open = 0;
    setrlimit(RLIMIT_NOFILE, &limit);
    events(n);
    while (open("/dev/null", O_RDONLY) >= 0)
        n_open++;
    printf("could open %d\n", n_open);
    return 0;
}

static void *sleeps(void *unused)
{
    usleep(100000);
    return unused;
}

static int main_thread_ends(long n)
{
    pthread_t thread;
    events(n);
    pthread_create(&thread, NULL, sleeps, NULL);
    pthread_exit(NULL);
}

static int keeps_errno(long n)
{
    int n_changed = 0;
    for (long i = 0; i < n; i++) {
        errno = 77;
        event();
        n_changed += errno != 77;
    }
    printf("errno changed %d times\n", n_changed);
    return 0;
}

static int seen_from_inside(long n)
{
    char line[256];
    events(n);
    const int next = open("/proc/self/status", O_RDONLY);
    FILE *status = fdopen(next, "r");
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "Threads:", 8))
            printf("%s", line);
    printf("next descriptor %d\n", next);
    return 0;
}

static int ends(const char *fault, long n)
{
    events(n);
    if (!strcmp(fault, "sigkill"))
        raise(SIGKILL);
    if (!strcmp(fault, "_exit"))
        _exit(7);
    if (!strcmp(fault, "quick_exit"))
        quick_exit(8);
    if (!strcmp(fault, "abort"))
        abort();
    if (!strcmp(fault, "segv"))
        raise(SIGSEGV);
    if (!strcmp(fault, "unshare"))
        printf("unshare %s\n", unshare(CLONE_NEWUSER) ? strerror(errno) : "works");
    return 0;
}

int main(int n_arguments, char **arguments)
{
    const char *fault = arguments[1];
    const long n = n_arguments > 2 ? atol(arguments[2]) : 100000;
    const struct {
        const char *name;
        int (*play)(long n);
    } faults[] = {
        {"threads", threads_joined},           {"fork", fork_child},
        {"fork_threads", forks_among_threads}, {"vfork", vforks},
        {"dup2", overwritten_descriptors},     {"nofile", few_descriptors},
        {"main_ends", main_thread_ends},       {"errno", keeps_errno},
        {"inside", seen_from_inside},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!strcmp(fault, faults[i].name))
            return faults[i].play(n);
    if (!strcmp(fault, "close"))
        for (int i = 3; i < 1024; i++)
            close(i);
    if (!strcmp(fault, "close_range"))
        syscall(SYS_close_range, 3, ~0U, 0);
    if (!strcmp(fault, "exit_among_threads")) {
        pthread_t threads[200];
        start_threads(threads, 200, n / 200);
    }
    if (!strcmp(fault, "exec")) {
        events(n);
        execl("/proc/self/exe", "known", "normal", arguments[2], (char *)NULL);
    }
    return ends(fault, n);
}
