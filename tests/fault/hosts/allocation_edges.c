/* SPDX-License-Identifier: MIT
 *
 * T7: sizes of zero, products that overflow, memory that is refused, alignments that are wrong: results and errno are
 * libc's.
 */
#include "host.h"

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

static volatile size_t huge = SIZE_MAX / 2, half = SIZE_MAX / 4;

static void products_that_overflow(void)
{
    errno = 0;
    MUST(calloc(huge, 4) == NULL && errno == ENOMEM);
    errno = 0;
    MUST(calloc(half, 8) == NULL && errno == ENOMEM);
    errno = 0;
    MUST(reallocarray(NULL, huge, 8) == NULL && errno == ENOMEM);
}

static void sizes_of_nothing(void)
{
    void *none = malloc(0), *zero = calloc(0, 5);
    MUST(none && zero && none != zero);
    MUST(realloc(none, 0) == NULL);
    free(zero);
    errno = 77;
    free(NULL);
    MUST(errno == 77);
    MUST(malloc_usable_size(NULL) == 0);
    void *grown = realloc(NULL, 100);
    MUST(grown && malloc_usable_size(grown) >= 100);
    free(grown);
}

static void refused_memory(void)
{
    errno = 0;
    MUST(malloc(huge) == NULL && errno == ENOMEM);
    char *kept = malloc(100);
    strcpy(kept, "kept");
    errno = 0;
    MUST(realloc(kept, huge) == NULL && errno == ENOMEM && !strcmp(kept, "kept"));
    free(kept);
    struct rlimit limit = {.rlim_cur = 512 << 20, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    errno = 0;
    MUST(malloc((size_t)1 << 30) == NULL && errno == ENOMEM);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_AS, &limit);
}

/* The first allocation of a thread is refused: the thread must be counted from its second one on. */
static void *refused_at_first(void *unused)
{
    MUST(malloc(huge) == NULL);
    alloc_pairs(100, 4243);
    return unused;
}

static void wrong_alignments(void)
{
    void *block = (void *)5;
    errno = 77;
    MUST(posix_memalign(&block, 3, 10) == EINVAL && block == (void *)5 && errno == 77);
    MUST(posix_memalign(&block, 64, huge) == ENOMEM);
    MUST(posix_memalign(&block, 1 << 20, 10) == 0 && ((uintptr_t)block & 0xfffff) == 0);
    free(block);
    errno = 0;
    MUST(memalign(64, huge) == NULL && errno == ENOMEM);
    block = valloc(10);
    MUST(block && ((uintptr_t)block & 4095) == 0);
    free(block);
    block = pvalloc(10);
    MUST(block && malloc_usable_size(block) >= 4096);
    free(block);
    block = aligned_alloc(32, 320);
    MUST(block && ((uintptr_t)block & 31) == 0);
    free(block);
}

int main(void)
{
    products_that_overflow();
    sizes_of_nothing();
    refused_memory();
    wrong_alignments();
    pthread_t thread;
    pthread_create(&thread, NULL, refused_at_first, NULL);
    pthread_join(thread, NULL);
    MUST(malloc(huge) == NULL);
    for (int i = 0; i < 1000; i++)
        free(calloc(1, 4242));
    trace_must("size:4242", "==", 1000);
    trace_must("size:4243", "==", 100);
    trace_must("heap.allocs", "<=", 2000);
    return host_broken;
}
