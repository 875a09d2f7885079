/* SPDX-License-Identifier: MIT
 *
 * T34: names that the kernel never reads, and programs that are started by a descriptor. Whoever reads a name that it
 * did not would end the host.
 */
#include "host.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

/* The kernel refuses another argument first, or has nothing to do. */
static void name_nothing(const char *nowhere)
{
    const struct timespec unchanged[] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
    static char value[1 << 20];
    MUST(link("there is none", nowhere) == -1);
    MUST(rename("there is none", nowhere) == -1);
    MUST(setxattr(nowhere, "", value, 1, 0) == -1 && errno == ERANGE);
    MUST(lsetxattr(nowhere, "user.a", value, sizeof value, 0) == -1 && errno == E2BIG);
    MUST(getxattr(nowhere, "", value, 1) == -1 && errno == ERANGE);
    MUST(removexattr(nowhere, "") == -1 && errno == ERANGE);
    MUST(syscall(SYS_removexattr, nowhere, "") == -1 && errno == ERANGE);
    MUST(mknod(nowhere, S_IFDIR, 0) == -1);
    MUST(utimensat(AT_FDCWD, nowhere, unchanged, 0) == 0);
    MUST(syscall(SYS_utimensat, AT_FDCWD, nowhere, unchanged, 0) == 0);
    MUST(chmod("/proc/self/maps", 0600) == -1 && errno == EPERM);
}

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
    name_nothing(nowhere);
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
