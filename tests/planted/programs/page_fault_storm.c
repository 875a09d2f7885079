/* SPDX-License-Identifier: MIT
 * Maps 64 MiB for each step and gives it back; with --fixed the mapping is kept. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

enum { STEPS = 120, BYTES = 64 << 20, PAGE = 4096 };

static char *map(void)
{
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, BYTES, MADV_NOHUGEPAGE);
    return memory;
}

int main(int argc, char **argv)
{
    const bool fixed = argc > 1;
    char *memory = fixed ? map() : NULL;
    (void)argv;
    for (int step = 0; step < STEPS; step++) {
        if (!fixed)
            memory = map();
        for (size_t at = 0; at < BYTES; at += PAGE)
            memory[at]++;
        if (!fixed)
            munmap(memory, BYTES);
    }
    return 0;
}
