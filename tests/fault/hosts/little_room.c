/* SPDX-License-Identifier: MIT
 *
 * T54: a program with little address space, or that may write no long files, gives up rights: before that the library
 * makes room for its trace and for those of children. Neither may that end the program, nor take what it needs itself.
 */
#include "host.h"

enum { NEEDED = 40 << 20 };

static void allocate(void)
{
    void *block = malloc(NEEDED);
    MUST(block != NULL);
    host_sink = block;
    free(block);
}

int main(void)
{
    allocate();
    MUST(setuid(getuid()) == 0);
    allocate();
    const pid_t pid = fork();
    if (!pid)
        _exit(null_writes(10));
    MUST(wait_for(pid) == 0);
    return host_broken;
}
