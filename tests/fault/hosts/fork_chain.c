/* SPDX-License-Identifier: MIT
 *
 * T30: a chain of forks, as a program makes one that goes on as its own child again and again: each process works,
 * forks and ends. What the last one has of mappings and address space is about what the first ones had. argv[1]: how
 * many; argv[2]: how many calls each makes.
 */
#include "host.h"

struct size {
    long mappings, address_space_kib;
};

/* By read() alone: neither heap nor stdio is to differ between two that are compared. */
static struct size size_now(void)
{
    static char text[1 << 20];
    struct size size = {0};
    size_t used = 0;
    const int maps = open("/proc/self/maps", O_RDONLY), status = open("/proc/self/status", O_RDONLY);
    for (ssize_t n; used < sizeof text - 1 && (n = read(maps, text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)n;
    for (size_t i = 0; i < used; i++)
        size.mappings += text[i] == '\n';
    const ssize_t n = read(status, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    const char *line = strstr(text, "VmSize:");
    size.address_space_kib = line ? atol(line + 7) : 0;
    close(maps);
    close(status);
    return size;
}

int main(int argc, char **argv)
{
    const long length = argc > 1 ? atol(argv[1]) : 300;
    const long calls = argc > 2 ? atol(argv[2]) : 6000;
    struct size early = {0};
    int done[2];
    char byte;
    MUST(pipe(done) == 0);
    const pid_t first = fork();
    if (first) {
        close(done[1]);
        MUST(read(done[0], &byte, 1) == 1 && byte == 'e');
        wait_for(first);
        printf("the chain ended\n");
        trace_must("io_write", ">=", length * calls);
        return host_broken;
    }
    for (long i = 1; i < length; i++) {
        MUST(null_writes(calls) == 0);
        alloc_pairs(100, 333);
        if (i == 5)
            early = size_now();
        if (fork())
            _exit(0);
    }
    MUST(null_writes(calls) == 0);
    const struct size last = size_now();
    MUST(last.mappings <= early.mappings + 8);
    MUST(last.address_space_kib <= early.address_space_kib + 1024);
    if (host_broken)
        printf("%ld mappings of %ld KiB, at the fifth %ld of %ld\n", last.mappings, last.address_space_kib,
               early.mappings, early.address_space_kib);
    fflush(stdout);
    return write(done[1], "e", 1) != 1;
}
