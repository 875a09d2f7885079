/* SPDX-License-Identifier: MIT
 *
 * F1: threads that give up more than the rest of their process: strict mode allows four system calls, and after
 * PR_SET_TSC even reading the clock kills, until it is allowed again. Of such a thread nothing is recorded but that it
 * was there; what the others do meanwhile and afterwards is exact. argv[1]: strict, strict-by-number, tsc; tsc-late:
 * a thread that was made meanwhile makes its first call when its maker may read the clock again; tsc-late-malloc: which
 * is for memory; main: the program's
 * only thread, which then sets a variable and returns: what it wrote must come out before the end, which strict mode
 * does not know, kills.
 */
#include "host.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define READS 20000
#define SEALED_READS 3000
#define ALLOWED_READS 1000

static const char *way;
static int zero;
static int is_allowed;

static int is_tsc(void)
{
    return !strncmp(way, "tsc", 3);
}

static void read_bytes(int calls)
{
    char byte;
    for (int i = 0; i < calls; i++)
        if (read(zero, &byte, 1) != 1)
            abort();
}

static void *read_too(void *unused)
{
    read_bytes(SEALED_READS);
    return unused;
}

/* Nothing of the library has run in it before. */
static void *read_when_allowed(void *unused)
{
    while (!__atomic_load_n(&is_allowed, __ATOMIC_SEQ_CST))
        ;
    if (!strcmp(way, "tsc-late-malloc"))
        alloc_pairs(1, 4247);
    return read_too(unused);
}

/* Threads inherit it, and keep it when their maker may read the clock again. */
static int make_thread_and_allow(int is_late)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, is_late ? read_when_allowed : read_too, NULL) ||
        (!is_late && pthread_join(thread, NULL)))
        return -1;
    const int error = prctl(PR_SET_TSC, PR_TSC_ENABLE);
    __atomic_store_n(&is_allowed, 1, __ATOMIC_SEQ_CST);
    return error || (is_late && pthread_join(thread, NULL)) ? -1 : 0;
}

static void *seal(void *unused)
{
    read_bytes(10);
    const long error = !strcmp(way, "strict")             ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
                       : !strcmp(way, "strict-by-number") ? syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL)
                                                          : prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    if (error)
        return &zero;
    if (is_tsc()) /* what is refused changes nothing */
        MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1);
    read_bytes(SEALED_READS);
    alloc_pairs(100, 4247);
    if (is_tsc()) {
        if (make_thread_and_allow(!strncmp(way, "tsc-late", 8)))
            return &zero;
        read_bytes(ALLOWED_READS); /* from here on it is as any other */
        return NULL;
    }
    syscall(SYS_exit, 0); /* strict mode knows no other end */
    return unused;
}

static void *read_beside(void *unused)
{
    read_bytes(READS);
    return unused;
}

static int seal_main(void)
{
    static char out[4096]; /* a small one is written at once */
    setvbuf(stdout, out, _IOFBF, sizeof out);
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    read_bytes(10);
    setenv("RANK", "3", 1); /* the library knows it, and hears of its changes */
    printf("written at the end");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        return 77;
    unsetenv("RANK");
    return 0;
}

int main(int argc, char **argv)
{
    way = argc > 1 ? argv[1] : "strict";
    if (!strcmp(way, "main"))
        return seal_main();
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    pthread_t beside, sealed;
    void *result = NULL;
    pthread_create(&beside, NULL, read_beside, NULL);
    pthread_create(&sealed, NULL, seal, NULL);
    if (!is_tsc()) /* a thread that ends by the system call itself is joined like any other */
        MUST(pthread_join(sealed, NULL) == 0);
    else
        MUST(pthread_join(sealed, &result) == 0 && !result);
    pthread_join(beside, NULL);
    read_bytes(READS);
    const int sealed_reads = is_tsc() ? 2 * SEALED_READS : SEALED_READS;
    trace_must("io_read", "==", 2 * READS + 10 + (is_tsc() ? ALLOWED_READS : 0));
    trace_must("lost", ">=", sealed_reads);
    trace_must("lost", "<=", sealed_reads + 300);
    return host_broken;
}
