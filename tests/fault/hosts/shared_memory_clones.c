/* SPDX-License-Identifier: MIT
 *
 * B6: processes made by clone(CLONE_VM) share memory and thread-local storage with their maker and run beside it, as no
 * thread does. Their events may be counted as lost; the host must live.
 */
#include "host.h"

#include <sched.h>
#include <sys/mman.h>

#define STACK_BYTES (1 << 20)

static int null_fd;

static int storm(void *calls)
{
    for (long i = 0; i < (long)calls; i++)
        write(null_fd, "x", 1);
    return 0;
}

int main(void)
{
    enum { CLONES = 3 };
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    char *stacks = mmap(NULL, CLONES * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pid_t clones[CLONES];
    for (int i = 0; i < CLONES; i++)
        clones[i] =
            clone(storm, stacks + (i + 1) * STACK_BYTES, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, (void *)400000L);
    storm((void *)400000L);
    for (int i = 0; i < CLONES; i++)
        MUST(wait_for(clones[i]) == 0);
    trace_must("lost", ">=", 0);
    return host_broken;
}
