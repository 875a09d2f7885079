/* SPDX-License-Identifier: MIT
 *
 * T31: what a background thread would break. argv[1]:
 *   last        main ends by pthread_exit, the process ends with its last thread
 *   namespace   unshare(CLONE_NEWUSER) works only with one thread
 *   credentials setresuid reaches every thread
 *   fork-last   a child forked from a thread ends when that thread returns
 */
#include "host.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>

static void *a_little_later(void *unused)
{
    char byte;
    usleep(50000);
    alloc_pairs(1000, 4242);
    MUST(read(0, &byte, 1) == 0); /* its name is asked for now, when the main thread has no descriptors any more */
    puts("last thread");
    return unused;
}

static void *fork_and_return(void *unused)
{
    const pid_t pid = fork();
    if (!pid) {
        alarm(20);
        alloc_pairs(1000, 4243);
        return unused; /* the child's only thread: the process must end with status 0 */
    }
    const int status = wait_for(pid);
    printf("child ended %d\n", status);
    MUST(status == 0);
    return unused;
}

static int threads_with_root(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks));) {
        char path[300], line[300];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *status = fopen(path, "r");
        while (fgets(line, sizeof line, status))
            n += !strncmp(line, "Uid:\t0", 6);
        fclose(status);
    }
    closedir(tasks);
    return n;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;
    alloc_pairs(1000, 4242);
    if (!strcmp(what, "last")) {
        trace_must("size:4242", "==", 2000);
        trace_must("fd_path:/dev/null:io_read", "==", 1);
        pthread_create(&thread, NULL, a_little_later, NULL);
        pthread_exit(NULL);
    }
    if (!strcmp(what, "namespace")) {
        const int result = unshare(CLONE_NEWUSER);
        printf("unshare %d errno %d\n", result, result ? errno : 0);
    }
    if (!strcmp(what, "credentials")) {
        MUST(setresuid(65534, 65534, 65534) == 0);
        MUST(threads_with_root() == 0);
    }
    if (!strcmp(what, "fork-last")) {
        pthread_create(&thread, NULL, fork_and_return, NULL);
        pthread_join(thread, NULL);
        trace_must("size:4243", "==", 1000);
    }
    alloc_pairs(1000, 4242);
    /* Nobody may open the file of the one that we were: the trace cannot grow any more, but must say what it lost. */
    trace_must("size:4242+lost", ">=", 2000);
    if (!strcmp(what, "credentials"))
        trace_must("heap.allocs", ">=", 2000);
    else
        trace_must("size:4242", "==", 2000);
    return host_broken;
}
