/* SPDX-License-Identifier: MIT
 * Goes over 160 MiB in a control group of 128 MiB, so that each page is fetched from swap space again; with --fixed
 * over 40 MiB, as many pages. (The runner makes the group and the swap space.)
 */
#include <stdlib.h>
#include <sys/mman.h>

enum { MIB = 1 << 20, PAGE = 4096, ROUNDS = 3, SMALLER = 4 };

static void touch_all(volatile unsigned char *memory, size_t size)
{
    for (size_t at = 0; at < size; at += PAGE)
        for (size_t i = 0; i < PAGE; i += 64) /* not to be had for less than a page, each other */
            memory[at + i] = (unsigned char)(memory[at + i] + (at + i) * 2654435761u / 8192);
}

int main(int argc, char **argv)
{
    const int smaller = argc > 1 ? SMALLER : 1;
    const size_t size = 160 * (size_t)MIB / (size_t)smaller;
    volatile unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)argv;
    if (memory == MAP_FAILED)
        return 1;
    for (int round = 0; round < ROUNDS * smaller; round++)
        touch_all(memory, size);
    return 0;
}
