/* SPDX-License-Identifier: MIT
 *
 * T32: the first thing that a thread does is to start a program that cannot be traced, whose name the library knows
 * already from another thread. It must be looked at even so, or ld.so prints an error into it. argv[1]: spawn or vfork,
 * argv[2]: the program.
 */
#include "host.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/stat.h>

extern char **environ;
static char option[] = "--version", *arguments[3]; /* the program, and what makes it end at once */

static void *spawn(void *unused)
{
    pid_t pid = 0;
    const int error = posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ);
    MUST(error == 0);
    MUST(error || wait_for(pid) == 0);
    return unused;
}

static void *become(void *unused)
{
    const pid_t pid = vfork();
    if (!pid) {
        execv(arguments[0], arguments);
        _exit(3);
    }
    MUST(wait_for(pid) == 0);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    struct stat status;
    MUST(argc == 3);
    arguments[0] = argv[2];
    arguments[1] = option;
    MUST(stat(argv[2], &status) == 0);
    MUST(pthread_create(&thread, NULL, strcmp(argv[1], "spawn") ? become : spawn, NULL) == 0);
    pthread_join(thread, NULL);
    if (strcmp(argv[1], "spawn"))
        trace_must("lost", "<=", 1); /* of the child, which is not the thread's owner */
    return host_broken;
}
