/* SPDX-License-Identifier: MIT
 *
 * A program of which one thread allocates as fast as it can, from deep down, and another seldom: blocks of one size, so
 * that nothing but the samples tells the two apart. It prints how often each did, its CPU time, and what finding a
 * stack from there takes, measured with the same unwinder.
 *
 * storm_known MILLISECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unwind.h>

enum { DEPTH = 30, BLOCK_BYTES = 4096, SELDOM_NS = 20000, UNWINDINGS = 2000 };

static unsigned long n_often, n_seldom, runs_ns, unwinding_ns;

static unsigned long clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec;
}

static unsigned long ran_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void *volatile latest;

static void often(void)
{
    while (ran_ns() < runs_ns)
        for (int i = 0; i < 1000; i++, n_often++) {
            void *block = malloc(BLOCK_BYTES);
            latest = block;
            free(block);
        }
}

static void seldom(void)
{
    for (unsigned long next = ran_ns(); next < runs_ns; next += SELDOM_NS, n_seldom++) {
        while (ran_ns() < next)
            ;
        void *block = malloc(BLOCK_BYTES);
        latest = block;
        free(block);
    }
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *frames)
{
    *(unsigned long *)frames += _Unwind_GetIP(context) != 0;
    return _URC_NO_REASON;
}

static void unwind(void)
{
    unsigned long frames = 0;
    const unsigned long start = ran_ns();
    for (int i = 0; i < UNWINDINGS; i++)
        _Unwind_Backtrace(visit, &frames);
    unwinding_ns = (ran_ns() - start) / UNWINDINGS;
}

static void deep(int depth, void (*what)(void))
{
    if (depth)
        deep(depth - 1, what);
    else
        what();
}

static void *other_thread(void *unused)
{
    deep(DEPTH, seldom);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t other;
    runs_ns = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1000) * 1000000;
    if (pthread_create(&other, NULL, other_thread, NULL))
        return 1;
    deep(DEPTH, often);
    pthread_join(other, NULL);
    const unsigned long cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    deep(DEPTH, unwind);
    printf("often %lu\nseldom %lu\ncpu_ns %lu\nunwinding_ns %lu\n", n_often, n_seldom, cpu_ns, unwinding_ns);
    return 0;
}
