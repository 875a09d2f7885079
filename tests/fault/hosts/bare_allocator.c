/* SPDX-License-Identifier: MIT
 *
 * Preloaded behind us: an allocator that brings no more than the four functions that glibc asks of one. Nothing that
 * libc's malloc_usable_size would read lies before its blocks: each begins a page, and the one before it is not there.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul
#define BLOCKS 65536u

static struct {
    void *block;
    size_t size;
} blocks[BLOCKS];
static unsigned n;

static unsigned find(const void *block)
{
    unsigned i = n;
    while (i-- > 0)
        if (blocks[i].block == block)
            return i;
    return BLOCKS;
}

static void *take(size_t size)
{
    const size_t bytes = (size / PAGE + 2) * PAGE;
    char *pages = size < SIZE_MAX / 4 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                      : MAP_FAILED;
    if (pages == MAP_FAILED || n == BLOCKS) {
        errno = ENOMEM;
        return NULL;
    }
    mprotect(pages, PAGE, PROT_NONE);
    blocks[n].block = pages + PAGE;
    blocks[n++].size = size;
    return pages + PAGE;
}

static void give_back(void *block)
{
    const unsigned i = block ? find(block) : BLOCKS;
    if (i == BLOCKS)
        return;
    munmap((char *)block - PAGE, (blocks[i].size / PAGE + 2) * PAGE);
    blocks[i] = blocks[--n];
}

void *malloc(size_t size)
{
    return take(size);
}

void free(void *block)
{
    give_back(block);
}

void *calloc(size_t count, size_t size)
{
    return take(size && count > SIZE_MAX / size ? SIZE_MAX : count * size);
}

void *realloc(void *block, size_t size)
{
    void *moved = take(size);
    const unsigned i = block && moved ? find(block) : BLOCKS;
    if (i == BLOCKS)
        return moved;
    memcpy(moved, block, blocks[i].size < size ? blocks[i].size : size);
    give_back(block);
    return moved;
}
