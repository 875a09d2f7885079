/* SPDX-License-Identifier: MIT
 *
 * Two calls a minute at a scaled clock, as a program that only waits for work: hours pass before a buffer is full.
 *
 * call_a_minute MINUTE_NS MINUTES
 */
#include "host.h"

#include <time.h>

int main(int argc, char **argv)
{
    const long minute_ns = argc > 1 ? atol(argv[1]) : 1000000, minutes = argc > 2 ? atol(argv[2]) : 100;
    const struct timespec minute = {minute_ns / 1000000000, minute_ns % 1000000000};
    const int fd = open("/dev/zero", O_RDONLY);
    char byte;
    for (long i = 0; i < minutes; i++) {
        MUST(pread(fd, &byte, 1, 0) == 1);
        nanosleep(&minute, NULL);
    }
    return host_broken;
}
