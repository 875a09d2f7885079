/* SPDX-License-Identifier: MIT
 *
 * Preloaded behind us: another tool that wraps pthread_mutex_lock alone and says at the end how many calls it saw.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_long calls;
static int (*real)(pthread_mutex_t *);

__attribute__((constructor)) static void resolve(void)
{
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    calls++;
    if (!real)
        resolve();
    return real(mutex);
}

__attribute__((destructor)) static void tell(void)
{
    printf("the wrapper saw %ld calls\n", (long)calls);
    fflush(stdout);
}
