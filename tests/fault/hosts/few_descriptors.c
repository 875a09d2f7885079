/* SPDX-License-Identifier: MIT
 *
 * T24: the table of descriptors is tiny or full: the program gets every single one it is entitled to, and the trace
 * goes on. argv[1]: lower the limit to this first.
 */
#include "host.h"

#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rlimit limit;
    MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (argc > 1) {
        limit.rlim_cur = (rlim_t)atol(argv[1]);
        MUST(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    int last = -1, opened = 0, fd;
    while (opened < 5000 && (fd = open("/dev/null", O_WRONLY)) >= 0) {
        last = fd;
        opened++;
    }
    MUST(opened == 5000 || errno == EMFILE);
    printf("limit %ld opened %d last %d\n", (long)limit.rlim_cur, opened, last);
    for (int i = 0; i < 300; i++)
        alloc_pairs(1000, 4242);
    if (opened)
        for (int i = 0; i < 20000; i++)
            MUST(write(last, "x", 1) == 1);
    for (fd = last; opened--; fd--)
        MUST(close(fd) == 0);
    alloc_pairs(1000, 4343);
    printf("closed\n");
    trace_must("heap.allocs", ">=", 301000);
    trace_must("lost", ">=", 0);
    return host_broken;
}
