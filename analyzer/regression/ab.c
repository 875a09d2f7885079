/* SPDX-License-Identifier: MIT
 *
 * Owns: playing a command under this very proftrace. Threads: one. Never: leaves a child behind.
 */
#include "ab.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int spawn(const char *command, const char *directory, pid_t *ret_pid)
{
    char *const argv[] = {(char *)"proftrace", (char *)"run", (char *)"--no-report", (char *)"-o",
                          (char *)directory,   (char *)"--",  (char *)"/bin/sh",     (char *)"-c",
                          (char *)command,     NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn(ret_pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int pt_ab_play(const char *command, const char *directory, struct pt_error *err)
{
    pid_t pid;
    int status;
    setenv("PROFTRACE_STAGE", PT_AB_STAGE, 1);
    setenv("PROFTRACE_QUIET", "1", 1);
    const int error = spawn(command, directory, &pid);
    if (error)
        return pt_fail(err, "cannot start `%.200s`: %s", command, strerror(error));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return pt_fail(err, "cannot wait for `%.200s`: %s", command, strerror(errno));
    if (WIFSIGNALED(status))
        return pt_fail_code(err, 4, "`%.200s` was ended by signal %d", command, WTERMSIG(status));
    return WEXITSTATUS(status) ? pt_fail_code(err, 4, "`%.200s` exited with %d: only whole runs can be compared",
                                              command, WEXITSTATUS(status))
                               : 0;
}
