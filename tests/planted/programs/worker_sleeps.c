/* SPDX-License-Identifier: MIT
 *
 * A worker sleeps for 100 ms before it hands over each batch; its parent, which rests for a moment only, waits for it.
 * With --fixed it does not sleep.
 */
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 30 };

static void pause_ns(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

__attribute__((noinline)) static void collate(int is_fixed)
{
    if (!is_fixed)
        pause_ns(100000000);
    __asm__ volatile(""); /* no tail call: it would not be in the stack */
}

__attribute__((noinline)) static void rest(void)
{
    pause_ns(50000);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    const int is_fixed = argc > 1 && !strcmp(argv[1], "--fixed");
    char batch[100] = "";
    int ends[2];
    if (argc > 1 && !strcmp(argv[1], "--prepare"))
        return 0;
    if (pipe(ends))
        return 1;
    if (fork() == 0) {
        for (int i = 0; i < BATCHES; i++) {
            collate(is_fixed);
            if (write(ends[1], batch, sizeof batch) != sizeof batch)
                _exit(1);
        }
        _exit(0);
    }
    for (int i = 0; i < BATCHES; i++) {
        if (read(ends[0], batch, sizeof batch) != sizeof batch)
            return 1;
        rest();
    }
    wait(NULL);
    return 0;
}
