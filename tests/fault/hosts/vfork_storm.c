/* SPDX-License-Identifier: MIT
 *
 * T32: four threads vfork at once; the children, in their parent's memory, use descriptors, fail to exec, exec or
 * _exit. The parent goes on recording, and its file does not say that it ended. argv[1]: children per thread.
 */
#include "host.h"

#include <pthread.h>

static int children = 250;
static char *self;

static void *storm(void *unused)
{
    (void)unused;
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < children; i++) {
        const pid_t pid = vfork();
        if (!pid) {
            if (dup2(fd, 700 + i % 50) < 0 || write(fd, "child", 5) != 5)
                _exit(1);
            close(700 + i % 50);
            execl("/nonexistent/program", "x", (char *)0);
            if (i % 25 == 0)
                execl(self, self, "child", (char *)0);
            _exit(3);
        }
        const int status = wait_for(pid);
        MUST(WIFEXITED(status) && WEXITSTATUS(status) == (i % 25 == 0 ? 7 : 3));
        alloc_pairs(10, 4242);
    }
    close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "child")) {
        alloc_pairs(100, 4247);
        return 7;
    }
    self = argv[0];
    children = argc > 1 ? atoi(argv[1]) : children;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, storm, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    const long images = 4L * ((children + 24) / 25);
    alloc_pairs(1000, 4243);
    trace_must("size:4242", "==", 40L * children);
    trace_must("size:4243", "==", 1000);
    trace_must("size:4247", "==", 100 * images);
    trace_must("fd_path:/dev/null:io_write", "==", 4L * children);
    trace_must("proc_exec_failed", "==", 4L * children);
    trace_must("processes", "==", 1 + images);
    return host_broken;
}
