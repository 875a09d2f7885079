/* SPDX-License-Identifier: MIT
 *
 * A library whose constructor runs before that of any preloaded one: it allocates in every way, keeps blocks for later
 * and, when EARLY_THREADS is set, starts threads that allocate and open files while the process is still being
 * initialised. Preloaded into a real program (EARLY_GUEST is set) it looks at its blocks itself when the program is
 * over, and releases them then.
 */
#include "early_library.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *early_blocks[EARLY_BLOCKS];
size_t early_sizes[EARLY_BLOCKS];
int early_faults;
long early_opens;

static void fill(unsigned char *block, size_t size, int seed)
{
    memset(block, seed & 0xff, size);
    if ((uintptr_t)block & 15)
        early_faults++;
}

static int holds(const unsigned char *block, size_t size, int seed)
{
    for (size_t i = 0; i < size; i++)
        if (block[i] != (unsigned char)(seed & 0xff))
            return 0;
    return 1;
}

int early_block_is_whole(int index)
{
    return holds(early_blocks[index], early_sizes[index], index);
}

static void allocate_in_every_way(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        const size_t size = i % 997 ? (size_t)(i % 700) + 1 : 1 << 20;
        unsigned char *zeroed = calloc(1, size);
        if (!zeroed || !holds(zeroed, size, 0)) {
            early_faults++;
            continue;
        }
        fill(zeroed, size, i);
        zeroed = realloc(zeroed, size * 2);
        if (!zeroed || !holds(zeroed, size, i) || malloc_usable_size(zeroed) < size * 2)
            early_faults++;
        void *aligned = aligned_alloc(256, 512), *posix = NULL;
        if (!aligned || (uintptr_t)aligned & 255 || posix_memalign(&posix, 4096, 100) || (uintptr_t)posix & 4095)
            early_faults++;
        free(aligned);
        free(posix);
        free(zeroed);
    }
}

static void *allocate_and_open(void *unused)
{
    (void)unused;
    allocate_in_every_way(200);
    for (int i = 0; i < 100; i++) {
        const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0 || write(fd, "x", 1) != 1 || close(fd))
            __atomic_fetch_add(&early_faults, 1, __ATOMIC_RELAXED);
        else
            __atomic_fetch_add(&early_opens, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static pthread_t threads[16];
static int with_threads;
static pid_t guest_of; /* children that only fork have none of the threads */

__attribute__((constructor(101))) static void begin(void)
{
    for (int i = 0; i < EARLY_BLOCKS; i++) {
        early_sizes[i] = (size_t)(i * 37 % 3000) + 1;
        early_blocks[i] = malloc(early_sizes[i]);
        fill(early_blocks[i], early_sizes[i], i);
    }
    allocate_in_every_way(10000);
    with_threads = getenv("EARLY_THREADS") != NULL;
    guest_of = getenv("EARLY_GUEST") ? getpid() : 0;
    if (with_threads)
        for (int i = 0; i < 16; i++)
            if (pthread_create(&threads[i], NULL, allocate_and_open, NULL))
                early_faults++;
}

void early_threads_join(void)
{
    if (with_threads)
        for (int i = 0; i < 16; i++)
            pthread_join(threads[i], NULL);
}

__attribute__((destructor)) static void end(void)
{
    if (guest_of != getpid())
        return;
    early_threads_join();
    for (int i = 0; i < EARLY_BLOCKS; i++) {
        if (!early_block_is_whole(i) || malloc_usable_size(early_blocks[i]) < early_sizes[i])
            early_faults++;
        early_blocks[i] = i & 1 ? realloc(early_blocks[i], early_sizes[i] + 5000) : early_blocks[i];
        if (!early_block_is_whole(i))
            early_faults++;
        free(early_blocks[i]);
    }
    for (int i = 0; i < 100; i++)
        free(malloc(4246));
    if (early_faults)
        fprintf(stderr, "BROKEN: %d early blocks\n", early_faults);
}
