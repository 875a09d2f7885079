/* SPDX-License-Identifier: MIT
 *
 * T32: the child of vfork is the first to do anything that is recorded: in a thread that has been silent so far, in a
 * child of fork, in a daemon, or in a child of raw clone. It must not become the owner of what its parent records with.
 * argv[1]: thread, fork or daemon.
 */
#include "host.h"

#include <pthread.h>

#define OWNERS 8
#define CROWD 60
#define CALLS 3000

static pthread_barrier_t barrier;

static void vfork_once(void)
{
    const pid_t pid = vfork();
    if (!pid) {
        close(900);
        _exit(3);
    }
    while (waitpid(pid, NULL, 0) < 0)
        ;
}

static void *owner(void *unused)
{
    (void)unused;
    vfork_once();
    pthread_barrier_wait(&barrier); /* now the crowd comes and looks for the places of dead threads */
    for (int i = 0; i < 20; i++) {
        MUST(null_writes(CALLS / 20) == 0);
        alloc_pairs(500, 4242);
    }
    return NULL;
}

static void *one_of_the_crowd(void *unused)
{
    (void)unused;
    MUST(null_writes(CALLS) == 0);
    alloc_pairs(1000, 4242);
    return NULL;
}

static void in_threads(void)
{
    pthread_t owners[OWNERS], crowd[CROWD];
    pthread_barrier_init(&barrier, NULL, OWNERS + 1);
    for (int i = 0; i < OWNERS; i++)
        pthread_create(&owners[i], NULL, owner, NULL);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < CROWD; i++)
        pthread_create(&crowd[i], NULL, one_of_the_crowd, NULL);
    for (int i = 0; i < CROWD; i++)
        pthread_join(crowd[i], NULL);
    for (int i = 0; i < OWNERS; i++)
        pthread_join(owners[i], NULL);
    trace_must("size:4242", "==", 10000L * OWNERS + 1000L * CROWD);
    trace_must("fd_path:/dev/null:io_write", "==", (long)CALLS * (OWNERS + CROWD));
    trace_must("lost", "<=", 3 * OWNERS); /* what the children did */
}

static void in_a_forked_child(void)
{
    const pid_t pid = fork();
    if (!pid) {
        vfork_once();
        MUST(null_writes(CALLS) == 0);
        pthread_t thread;
        for (int i = 0; i < 20; i++) {
            pthread_create(&thread, NULL, one_of_the_crowd, NULL);
            MUST(null_writes(CALLS) == 0);
            pthread_join(thread, NULL);
        }
        exit(host_broken ? 1 : 5);
    }
    const int status = wait_for(pid);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    trace_must("fd_path:/dev/null:io_write", "==", 41L * CALLS);
    trace_must("size:4242", "==", 20 * 1000);
    trace_must("processes", "==", 2);
}

static void in_a_daemon(void)
{
    trace_must("fd_path:/dev/null:io_write", "==", CALLS);
    trace_must("processes", "==", 3);
    MUST(daemon(1, 1) == 0);
    const pid_t pid = vfork();
    if (!pid) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(3);
    }
    MUST(wait_for(pid) == 0);
    MUST(null_writes(CALLS) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "daemon"))
        in_a_daemon();
    else if (argc > 1 && !strcmp(argv[1], "fork"))
        in_a_forked_child();
    else
        in_threads();
    return host_broken;
}
