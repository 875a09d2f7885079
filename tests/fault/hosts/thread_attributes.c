/* SPDX-License-Identifier: MIT
 *
 * T17: threads get the attributes that were asked for, creation that fails fails as ever and leaks nothing, detached
 * threads and exceptions of the C kind (pthread_exit from deep down) work, and exec from a thread does too.
 */
#include "host.h"

#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>

static pthread_barrier_t meet;

static void *report_self(void *argument)
{
    pthread_attr_t mine;
    size_t stack_bytes = 0, guard_bytes = 0;
    int detached = -1;
    pthread_getattr_np(pthread_self(), &mine);
    pthread_attr_getstacksize(&mine, &stack_bytes);
    pthread_attr_getguardsize(&mine, &guard_bytes);
    pthread_attr_getdetachstate(&mine, &detached);
    pthread_attr_destroy(&mine);
    printf("stack %zu guard %zu detached %d argument %ld\n", stack_bytes, guard_bytes, detached, (long)argument);
    fflush(stdout);
    alloc_pairs(10, 4242);
    pthread_barrier_wait(&meet);
    return argument;
}

static void *exit_from_below(void *argument)
{
    alloc_pairs(10, 4242);
    pthread_exit((void *)((long)argument + 1));
}

static void *never(void *unused)
{
    return unused;
}

static void refused_creation(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    MUST(pthread_attr_setstacksize(&attributes, (size_t)1 << 46) == 0);
    for (int i = 0; i < 100; i++)
        MUST(pthread_create(&thread, &attributes, never, NULL) == EAGAIN);
}

static void *exec_from_thread(void *program)
{
    execl(program, program, "second", (char *)0);
    return program;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        alloc_pairs(10, 4243);
        puts("second image");
        return host_broken;
    }
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    pthread_barrier_init(&meet, NULL, 2);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_attr_setguardsize(&attributes, 8192);
    MUST(pthread_create(&thread, &attributes, report_self, (void *)41) == 0);
    pthread_barrier_wait(&meet);
    MUST(pthread_join(thread, &result) == 0 && result == (void *)41);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    MUST(pthread_create(&thread, &attributes, report_self, (void *)42) == 0);
    pthread_barrier_wait(&meet);
    MUST(pthread_create(&thread, NULL, exit_from_below, (void *)43) == 0);
    MUST(pthread_join(thread, &result) == 0 && result == (void *)44);
    refused_creation();
    trace_must("size:4242", "==", 30);
    trace_must("size:4243", "==", 10);
    trace_must("processes", "==", 2);
    MUST(pthread_create(&thread, NULL, exec_from_thread, argv[0]) == 0);
    pthread_join(thread, NULL);
    return 1;
}
