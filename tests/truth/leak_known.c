/* SPDX-License-Identifier: MIT
 *
 * A program whose leak is known: 600 blocks of 100,000 bytes from one function, beside blocks that are released at
 * once, and all given back before it ends. Prints what it kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 600, BLOCK_BYTES = 100000, TEMPORARY_BYTES = 3000000 };

static char *kept[BLOCKS];

__attribute__((noinline)) static char *leaky(size_t bytes)
{
    char *block = malloc(bytes);
    memset(block, 1, bytes);
    return block;
}

__attribute__((noinline)) static void temporary(size_t bytes)
{
    char *block = malloc(bytes);
    memset(block, 1, bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
}

int main(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        kept[i] = leaky(BLOCK_BYTES);
        temporary(TEMPORARY_BYTES);
        usleep(1000);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(kept[i]);
    printf("kept %d calls %d\n", BLOCKS * BLOCK_BYTES, BLOCKS);
    return 0;
}
