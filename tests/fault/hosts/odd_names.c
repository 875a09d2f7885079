/* SPDX-License-Identifier: MIT
 *
 * T34: names that the kernel never reads, and programs that are started by a descriptor. Whoever reads a name that it
 * did not would end the host.
 */
#include "host.h"

#include <limits.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
    char name[] = "true", version[] = "--version";
    char *const arguments[] = {name, NULL}, *const none[] = {NULL};
    const char *const nowhere = (const char *)8;
    char too_long[PATH_MAX + 1];
    memset(too_long, 'x', PATH_MAX);
    too_long[PATH_MAX] = 0;
    MUST(rename("", nowhere) == -1 && errno == ENOENT);
    MUST(link("", nowhere) == -1 && errno == ENOENT);
    MUST(symlink("", nowhere) == -1 && errno == ENOENT);
    MUST(rename(too_long, nowhere) == -1 && errno == ENAMETOOLONG);
    MUST(rename("/", nowhere) == -1 && errno == EFAULT);
    const int program = open("/bin/true", O_RDONLY | O_CLOEXEC);
    MUST(execveat(program, NULL, arguments, none, AT_EMPTY_PATH) == -1 && errno == EFAULT);
    for (int i = 1; i < argc; i++) {
        const int fd = open(argv[i], O_PATH | O_CLOEXEC);
        char *const with[] = {argv[i], version, NULL};
        const pid_t pid = fork();
        if (!pid) {
            fexecve(fd, with, environ);
            _exit(1);
        }
        MUST(wait_for(pid) == 0);
        close(fd);
    }
    return host_broken;
}
