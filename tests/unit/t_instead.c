/* SPDX-License-Identifier: MIT
 *
 * What stands in the place of functions that an older libc does not have does the same: preload/core/real/instead.h.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/core/real/instead.c"

static void stat_is_that_of_libc(void **state_of_test)
{
    static const char *const names[] = {"stat", "stat64", "lstat", "lstat64"};
    struct stat mine, theirs;
    (void)state_of_test;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int (*const ask)(const char *, struct stat *) = (int (*)(const char *, struct stat *))pt_instead_of(names[i]);
        memset(&mine, 0, sizeof mine);
        memset(&theirs, 0, sizeof theirs);
        assert_int_equal(ask("/proc/self", &mine), 0);
        assert_int_equal(names[i][0] == 'l' ? lstat("/proc/self", &theirs) : stat("/proc/self", &theirs), 0);
        assert_int_equal(mine.st_ino, theirs.st_ino);
        assert_int_equal(mine.st_mode, theirs.st_mode);
        errno = 0;
        assert_int_equal(ask("/no/such/file", &mine), -1);
        assert_int_equal(errno, ENOENT);
    }
}

static void stat_by_descriptor(void **state_of_test)
{
    int (*const of_fd)(int, struct stat *) = (int (*)(int, struct stat *))pt_instead_of("fstat64");
    int (*const at_dir)(int, const char *, struct stat *, int) =
        (int (*)(int, const char *, struct stat *, int))pt_instead_of("fstatat64");
    struct stat mine, theirs;
    const int dir = open("/usr", O_RDONLY | O_DIRECTORY);
    (void)state_of_test;
    assert_int_equal(fstat(dir, &theirs), 0);
    assert_int_equal(of_fd(dir, &mine), 0);
    assert_int_equal(mine.st_ino, theirs.st_ino);
    assert_int_equal(at_dir(dir, "", &mine, AT_EMPTY_PATH), 0);
    assert_int_equal(mine.st_ino, theirs.st_ino);
    assert_int_equal(at_dir(-7, "usr", &mine, 0), -1);
    assert_int_equal(errno, EBADF);
    close(dir);
}

static void files_are_made_and_closed(void **state_of_test)
{
    int (*const make)(const char *, mode_t, dev_t) = (int (*)(const char *, mode_t, dev_t))pt_instead_of("mknod");
    int (*const close_some)(unsigned, unsigned, int) = (int (*)(unsigned, unsigned, int))pt_instead_of("close_range");
    void (*const close_all)(int) = (void (*)(int))pt_instead_of("closefrom");
    (void)state_of_test;
    char name[] = "/tmp/proftrace-instead-XXXXXX";
    const int fd = mkstemp(name);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(make(name, S_IFIFO | 0600, 0), 0);
    assert_int_equal(make(name, S_IFIFO | 0600, 0), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(make(name, S_IFCHR | 0600, 1ull << 40), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(dup2(fd, 200), 200);
    if (close_some(200, 201, 0) == 0)
        assert_int_equal(fcntl(200, F_GETFD), -1);
    else
        assert_int_equal(errno, ENOSYS); /* before Linux 5.9 */
    assert_int_equal(dup2(fd, 200), 200);
    close_all(200);
    assert_int_equal(fcntl(200, F_GETFD), -1);
    assert_int_equal(fcntl(fd, F_GETFD), 0);
    close(fd);
}

static void a_program_replaces_another(void **state_of_test)
{
    int (*const start)(int, const char *, char *const *, char *const *, int) =
        (int (*)(int, const char *, char *const *, char *const *, int))pt_instead_of("execveat");
    char shell[] = "sh", option[] = "-c", command[] = "exit 3", *arguments[] = {shell, option, command, 0};
    int status = 0;
    (void)state_of_test;
    const pid_t child = fork();
    if (child == 0) {
        start(AT_FDCWD, "/bin/sh", arguments, arguments + 3, 0);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void what_is_more_than_a_call_has_none(void **state_of_test)
{
    static const char *const names[] = {"_Fork", "pthread_cond_clockwait", "sem_clockwait", "epoll_pwait2", "",
                                        "statx2"};
    (void)state_of_test;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(pt_instead_of(names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_is_that_of_libc),
        cmocka_unit_test(stat_by_descriptor),
        cmocka_unit_test(files_are_made_and_closed),
        cmocka_unit_test(a_program_replaces_another),
        cmocka_unit_test(what_is_more_than_a_call_has_none),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
