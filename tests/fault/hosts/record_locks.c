/* SPDX-License-Identifier: MIT
 *
 * T34: a program with one thread starts a file of which it has locked a part. The kernel takes such locks from whoever
 * closes any descriptor of the file, and the library looks into what is started. argv[1]: spawn or exec; argv[2]: the
 * program.
 */
#include "host.h"

#include <spawn.h>

extern char **environ;

/* Asked by a child, to whom the locks of its parent are another's. */
static int is_locked(int fd)
{
    const pid_t pid = fork();
    if (!pid) {
        struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        _exit(fcntl(fd, F_GETLK, &range) ? 2 : range.l_type != F_UNLCK);
    }
    const int status = wait_for(pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(int argc, char **argv)
{
    pid_t pid = 0;
    struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    MUST(argc == 3);
    const int fd = open(argv[2], O_RDONLY);
    MUST(fd >= 0 && fcntl(fd, F_SETLK, &range) == 0);
    MUST(is_locked(fd));
    if (!strcmp(argv[1], "spawn")) {
        MUST(posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) == 0);
        MUST(wait_for(pid) == 0);
    } else
        MUST(execv(argv[2], argv + 2) == -1); /* the file may not be executed */
    MUST(is_locked(fd));
    return host_broken;
}
