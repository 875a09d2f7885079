/* SPDX-License-Identifier: MIT
 *
 * T34: names that the kernel never reads, and programs that are started by a descriptor, or from another directory
 * ("spawn" PROGRAM). Whoever reads a name that it did not would end the host.
 */
#include "host.h"

#include <limits.h>
#include <spawn.h>
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

/* What ./program is depends on the file actions: where we are, another one lies. */
static void spawn_from(const posix_spawn_file_actions_t *actions)
{
    char name[] = "./program", version[] = "--version";
    char *const with[] = {name, version, NULL};
    pid_t pid = 0;
    MUST(posix_spawn(&pid, name, actions, NULL, with, environ) == 0);
    MUST(wait_for(pid) == 0);
}

static void spawn_from_elsewhere(const char *program)
{
    posix_spawn_file_actions_t by_name, by_descriptor, by_opened;
    MUST(mkdir("by_name", 0755) == 0 && mkdir("by_name/below", 0755) == 0 && mkdir("by_descriptor", 0755) == 0);
    MUST(symlink("/bin/true", "program") == 0);
    MUST(symlink(program, "by_name/below/program") == 0 && symlink(program, "by_descriptor/program") == 0);
    const int dir = open("by_descriptor", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    posix_spawn_file_actions_init(&by_name);
    posix_spawn_file_actions_addopen(&by_name, 9, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addchdir_np(&by_name, "by_name");
    posix_spawn_file_actions_adddup2(&by_name, 9, 11);
    posix_spawn_file_actions_addchdir_np(&by_name, "below");
    posix_spawn_file_actions_addclose(&by_name, 9);
    spawn_from(&by_name);
    posix_spawn_file_actions_init(&by_descriptor);
    posix_spawn_file_actions_addfchdir_np(&by_descriptor, dir);
    spawn_from(&by_descriptor);
    posix_spawn_file_actions_init(&by_opened);
    posix_spawn_file_actions_addopen(&by_opened, 9, "by_name/below", O_RDONLY | O_DIRECTORY, 0);
    posix_spawn_file_actions_addfchdir_np(&by_opened, 9);
    spawn_from(&by_opened);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "spawn")) {
        spawn_from_elsewhere(argv[2]);
        return host_broken;
    }
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
