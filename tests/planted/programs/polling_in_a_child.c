/* SPDX-License-Identifier: MIT
 *
 * A forked child looks eleven times, with sleeps of 90 ms between, for a file that is there from the start; its parent
 * waits for it. --fixed: it looks first. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOKS = 11 };

static __attribute__((noinline)) int wait_for_file(void)
{
    int n = 0;
    for (int i = 0; i < LOOKS; i++) {
        usleep(90 * 1000);
        n += !access("/proc/self/stat", F_OK);
    }
    return n;
}

int main(int argc, char **argv)
{
    int status = 0;
    const pid_t child = fork();
    if (!child) {
        volatile unsigned sum = 0;
        const int n = argc > 1 && !strcmp(argv[1], "--fixed") ? LOOKS : wait_for_file();
        for (unsigned i = 0; i < 50000000; i++)
            sum += i;
        _exit(n != LOOKS);
    }
    waitpid(child, &status, 0);
    return status != 0;
}
