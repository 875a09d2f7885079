/* SPDX-License-Identifier: MIT
 *
 * T18: a crowd of threads that do nothing but wait on one condition, are woken at once and end; then the next crowd. A
 * tracer that does its work for a new thread while that thread holds the mutex makes the crowd queue behind itself.
 * usage: crowd_at_a_condition [THREADS [CROWDS [c11]]]; writes to the file `cpu` what each crowd has cost.
 * c11: its threads are made by thrd_create.
 */
#include "host.h"

#include <pthread.h>
#include <sys/resource.h>
#include <threads.h>

enum { MOST = 2000, STACK = 64 << 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, go = PTHREAD_COND_INITIALIZER;
static long here, has_gone, woken;
static int is_c11;

static void *wait_with_others(void *unused)
{
    pthread_mutex_lock(&mutex);
    here++;
    pthread_cond_signal(&arrived);
    while (!has_gone)
        pthread_cond_wait(&go, &mutex);
    woken++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int wait_as_c11(void *unused)
{
    return wait_with_others(unused) != NULL;
}

static int make(pthread_t *thread, const pthread_attr_t *attributes)
{
    return is_c11 ? thrd_create(thread, wait_as_c11, NULL) != thrd_success
                  : pthread_create(thread, attributes, wait_with_others, NULL);
}

static int join(pthread_t thread)
{
    return is_c11 ? thrd_join(thread, NULL) != thrd_success : pthread_join(thread, NULL);
}

static void crowd(long threads)
{
    static pthread_t thread[MOST];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    MUST(pthread_attr_setstacksize(&attributes, STACK) == 0);
    here = has_gone = 0;
    for (long i = 0; i < threads; i++)
        MUST(make(&thread[i], &attributes) == 0);
    pthread_mutex_lock(&mutex);
    while (here < threads)
        pthread_cond_wait(&arrived, &mutex);
    has_gone = 1;
    pthread_cond_broadcast(&go);
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < threads; i++)
        MUST(join(thread[i]) == 0);
}

static double cpu_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    const long threads = argc > 1 ? atol(argv[1]) : 1000, crowds = argc > 2 ? atol(argv[2]) : 3;
    is_c11 = argc > 3;
    MUST(threads <= MOST);
    FILE *cpu = fopen("cpu", "w");
    for (long i = 0; i < crowds; i++) {
        const double before = cpu_ms();
        crowd(threads);
        fprintf(cpu, "%.3f\n", cpu_ms() - before);
    }
    fclose(cpu);
    MUST(woken == threads * crowds);
    trace_must("thread_start", "==", threads * crowds + 1);
    trace_must("thread_create", "==", threads * crowds);
    trace_must("wait_thread", "==", threads * crowds);
    trace_must("lock_cond", ">=", threads * crowds);
    return host_broken;
}
