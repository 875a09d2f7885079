/* SPDX-License-Identifier: MIT
 *
 * T32: children of vfork become a program that cannot be traced, again and again: what they need for it stays in the
 * memory of their parent, which must not grow. argv[1]: the program, which belongs to somebody else and sets the user.
 */
#include <pthread.h>

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

static const char *program;

static void *start(void *unused)
{
    close(open("/dev/null", O_RDONLY)); /* a thread that has no slot yet gets none in a vfork child */
    const pid_t pid = vfork();
    if (!pid) {
        execl(program, program, (char *)0);
        _exit(3);
    }
    const int status = wait_for(pid);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return unused;
}

static void start_many(int in_threads)
{
    static long before; /* no register, which the child would have, too */
    for (int i = 0; i < STARTS; i++) {
        pthread_t thread;
        if (i == STARTS / 10) /* all that is made once is there */
            before = pages();
        if (in_threads)
            MUST(pthread_create(&thread, NULL, start, NULL) == 0 && pthread_join(thread, NULL) == 0);
        else
            start(NULL);
    }
    MUST(pages() - before < FEW_PAGES);
}

int main(int argc, char **argv)
{
    MUST(argc == 2);
    program = argv[1];
    start_many(0);
    start_many(1); /* as a server with a thread for each request */
    return host_broken;
}
