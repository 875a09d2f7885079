/* SPDX-License-Identifier: MIT
 *
 * T12: a 5 kHz timer whose handler writes, opens and closes while the interrupted code allocates and writes itself:
 * every write is in the trace, in order, and what could not be stored is counted.
 */
#include "host.h"

#include <sys/time.h>

enum { SIGNALS = 4000, WRITES_PER_SIGNAL = 5, MOST_LOST = 64 };
static int null_fd;
static volatile long handled;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    if (handled >= SIGNALS)
        return;
    const int kept = errno;
    for (int i = 0; i < WRITES_PER_SIGNAL; i++)
        if (write(null_fd, "handler", 7) != 7)
            _exit(90);
    const int fd = open("/dev/zero", O_RDONLY);
    char byte;
    if (read(fd, &byte, 1) != 1 || close(fd))
        _exit(91);
    handled++;
    errno = kept;
}

int main(void)
{
    null_fd = open("/dev/null", O_WRONLY);
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    long outside = 0;
    while (handled < SIGNALS) {
        alloc_pairs(5, 77);
        for (volatile int spin = 0; spin < 20000; spin++)
            ; /* a full trace of pairs alone would be millions of events */
        if (outside < 100000 && write(null_fd, "main", 4) == 4)
            outside++;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    for (; outside < 100000; outside++)
        MUST(write(null_fd, "main", 4) == 4);
    trace_must("io_write+lost", ">=", 100000 + SIGNALS * WRITES_PER_SIGNAL); /* what is lost is in no total */
    trace_must("io_write.bytes", ">=", 100000L * 4 + SIGNALS * WRITES_PER_SIGNAL * 7L - MOST_LOST * 7L);
    trace_must("fd_path:/dev/null:io_write+lost", "==", 100000 + SIGNALS * WRITES_PER_SIGNAL);
    trace_must("fd_path:/dev/zero:io_read+lost", ">=", SIGNALS);
    trace_must("lost", "<=", MOST_LOST);
    return host_broken;
}
