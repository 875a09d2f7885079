/* SPDX-License-Identifier: MIT
 *
 * C1: the disk of the trace is full for long, with thousands of refused growths, and then has room again: what happens
 * from then on is stored. argv[1]: the file that filled the disk.
 */
#include "host.h"

#include <pthread.h>
#include <time.h>

static void *late(void *unused)
{
    (void)unused;
    const int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 100000; i++)
        write(fd, "late", 4);
    close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    const int filler = argc > 1 ? open(argv[1], O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
    static const char block[64 << 10];
    for (size_t bytes = sizeof block; filler >= 0 && bytes >= 4096;
         bytes /= 4) /* in few calls: no segment of the ring before */
        while (write(filler, block, bytes) > 0)
            ;
    null_writes(2200L * 1024); /* more refusals than the table of segments has rows */
    if (filler >= 0) {
        close(filler);
        unlink(argv[1]);
    }
    nanosleep(&(struct timespec){2, 0}, NULL);
    late(NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, late, NULL);
    pthread_join(thread, NULL);
    trace_must("fd_path:/dev/zero:io_write", "==", 200000);
    trace_must("lost", ">=", 0);
    return host_broken;
}
