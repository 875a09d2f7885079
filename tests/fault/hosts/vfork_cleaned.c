/* SPDX-License-Identifier: MIT
 *
 * T32: children of vfork become a program that cannot be traced, again and again: what they need for it stays in the
 * memory of their parent, which must not grow. argv[1]: the program, which belongs to somebody else and sets the user.
 */
#include "host.h"

/* What is made once, at an instant of its own, is not a page for each start. */
enum { STARTS = 1000, FEW_PAGES = 500 };

static long pages(void)
{
    long n = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    MUST(file && fscanf(file, "%ld", &n) == 1);
    if (file)
        fclose(file);
    return n;
}

int main(int argc, char **argv)
{
    static long before; /* no register, which the child would have, too */
    MUST(argc == 2);
    for (int i = 0; i < STARTS; i++) {
        if (i == STARTS / 10) /* all that is made once is there */
            before = pages();
        const pid_t pid = vfork();
        if (!pid) {
            execl(argv[1], argv[1], (char *)0);
            _exit(3);
        }
        const int status = wait_for(pid);
        MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    MUST(pages() - before < FEW_PAGES);
    return host_broken;
}
