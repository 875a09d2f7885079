/* SPDX-License-Identifier: MIT
 *
 * T18: thousands of threads one after another and two hundred that end at once: no event lost, memory bounded, and all
 * the keys that POSIX promises are still there.
 */
#include "host.h"

#include <pthread.h>

enum { SEQUENTIAL = 10000, TOGETHER = 200, PAIRS = 20 };
static pthread_barrier_t meet;

static void *work(void *together)
{
    alloc_pairs(PAIRS, 4242);
    if (together)
        pthread_barrier_wait(&meet);
    return NULL;
}

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    MUST(fscanf(statm, "%ld %ld", &size, &resident) == 2);
    fclose(statm);
    return resident;
}

static int free_keys(void)
{
    pthread_key_t keys[2000];
    int n = 0;
    while (n < 2000 && pthread_key_create(&keys[n], NULL) == 0)
        n++;
    for (int i = 0; i < n; i++)
        pthread_key_delete(keys[i]);
    return n;
}

int main(void)
{
    printf("keys %d\n", free_keys());
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, work, NULL) == 0);
        pthread_join(thread, NULL);
    }
    const long before = resident_pages();
    for (int i = 500; i < SEQUENTIAL; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, work, NULL) == 0);
        pthread_join(thread, NULL);
    }
    MUST(resident_pages() - before < 2048); /* 8 MiB */
    pthread_t threads[TOGETHER];
    pthread_barrier_init(&meet, NULL, TOGETHER);
    for (int i = 0; i < TOGETHER; i++)
        MUST(pthread_create(&threads[i], NULL, work, &meet) == 0);
    for (int i = 0; i < TOGETHER; i++)
        pthread_join(threads[i], NULL);
    trace_must("size:4242", "==", (SEQUENTIAL + TOGETHER) * (long)PAIRS);
    return host_broken;
}
