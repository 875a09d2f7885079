/* SPDX-License-Identifier: MIT
 *
 * T22: a program that relies on RLIMIT_FSIZE: its own SIGXFSZ handler runs for its own write beyond the limit, once,
 * and for nobody else's; with the default action it dies by it. argv[1]: limit in bytes, argv[2]: "default" to die.
 */
#include "host.h"

#include <sys/resource.h>

static volatile int signals;

static void on_limit(int signal_number)
{
    (void)signal_number;
    signals++;
}

int main(int argc, char **argv)
{
    const long limit_bytes = argc > 1 ? atol(argv[1]) : 1024;
    sigset_t pending;
    struct rlimit now;
    signal(SIGXFSZ, on_limit);
    MUST(getrlimit(RLIMIT_FSIZE, &now) == 0);
    printf("limit at start %ld\n", (long)now.rlim_cur);
    const struct rlimit limit = {(rlim_t)limit_bytes, (rlim_t)limit_bytes};
    MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (int i = 0; i < 300; i++)
        alloc_pairs(1000, (size_t)(4242 + i % 100));
    MUST(null_writes(20000) == 0);
    MUST(signals == 0);
    const int fd = open("limited.bin", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    char *bytes = calloc(1, (size_t)limit_bytes + 1);
    if (limit_bytes)
        MUST(write(fd, bytes, (size_t)limit_bytes + 1) == limit_bytes);
    errno = 0;
    if (argc > 2) {
        trace_must("lost", ">=", 0);
        signal(SIGXFSZ, SIG_DFL);
    }
    MUST(write(fd, bytes, 1) == -1 && errno == EFBIG);
    MUST(signals == 1);
    MUST(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
    free(bytes);
    trace_must("lost", ">=", 0);
    return host_broken;
}
