/* SPDX-License-Identifier: MIT
 *
 * raw_known.c - each system call of files by number, as libuv, Rust and allocators make them. Says what went wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%d: %s: %m\n", __LINE__, #condition);                                                              \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

#define ROUNDS 20

static char bytes[100];
static const struct iovec vector = {bytes, sizeof bytes};

static int transfer(long fd)
{
    MUST(syscall(SYS_write, fd, bytes, 100) == 100 && syscall(SYS_pwrite64, fd, bytes, 50, 100L) == 50);
    MUST(syscall(SYS_writev, fd, &vector, 1) == 100 && syscall(SYS_pwritev, fd, &vector, 1, 200L, 0L) == 100);
    MUST(syscall(SYS_pwritev2, fd, &vector, 1, 300L, 0L, 0) == 100 && syscall(SYS_lseek, fd, 0L, SEEK_SET) == 0);
    MUST(syscall(SYS_read, fd, bytes, 10) == 10 && syscall(SYS_pread64, fd, bytes, 20, 30L) == 20);
    MUST(syscall(SYS_readv, fd, &vector, 1) == 100 && syscall(SYS_preadv, fd, &vector, 1, 5L, 0L) == 100);
    MUST(syscall(SYS_preadv2, fd, &vector, 1, -1L, 0L, 0) == 100);
    MUST(syscall(SYS_fsync, fd) == 0 && syscall(SYS_ftruncate, fd, 10L) == 0);
    return 0;
}

static int ask(long fd)
{
    struct stat status;
    struct statx more;
    MUST(syscall(SYS_stat, "raw", &status) == 0 && syscall(SYS_lstat, "raw", &status) == 0);
    MUST(syscall(SYS_fstat, fd, &status) == 0 && status.st_size == 10);
    MUST(syscall(SYS_newfstatat, AT_FDCWD, "raw", &status, 0) == 0);
    MUST(syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &more) == 0 && more.stx_size == 10);
    MUST(syscall(SYS_access, "raw", R_OK) == 0);
    errno = 0;
    MUST(syscall(SYS_stat, "nothing", &status) == -1 && errno == ENOENT);
    MUST(syscall(SYS_stat, (char *)8, &status) == -1 && errno == EFAULT);
    return 0;
}

static int rename_and_link(long dir)
{
    char target[100];
    MUST(syscall(SYS_faccessat, dir, "raw", R_OK) == 0 && syscall(SYS_link, "raw", "second") == 0);
    MUST(syscall(SYS_renameat, dir, "second", dir, "third") == 0);
    MUST(syscall(SYS_renameat2, dir, "third", dir, "fourth", 0) == 0 && syscall(SYS_unlinkat, dir, "fourth", 0) == 0);
    MUST(syscall(SYS_linkat, dir, "raw", dir, "second", 0) == 0 && syscall(SYS_unlink, "second") == 0);
    MUST(syscall(SYS_symlink, "raw", "to_raw") == 0 && syscall(SYS_readlink, "to_raw", target, sizeof target) == 3);
    MUST(syscall(SYS_readlinkat, dir, "to_raw", target, sizeof target) == 3 && syscall(SYS_unlink, "to_raw") == 0);
    MUST(syscall(SYS_symlinkat, "raw", dir, "to_raw") == 0 && syscall(SYS_unlink, "to_raw") == 0);
    MUST(syscall(SYS_mkdirat, dir, "made", 0700) == 0 && syscall(SYS_unlinkat, dir, "made", AT_REMOVEDIR) == 0);
    MUST(syscall(SYS_mknod, "pipe", S_IFIFO | 0600, 0L) == 0 && syscall(SYS_unlink, "pipe") == 0);
    MUST(syscall(SYS_mknodat, dir, "pipe", S_IFIFO | 0600, 0L) == 0 && syscall(SYS_unlink, "pipe") == 0);
    return 0;
}

static int change_attributes(long fd, long dir)
{
    MUST(syscall(SYS_chmod, "raw", 0600) == 0 && syscall(SYS_fchmod, fd, 0640) == 0);
    MUST(syscall(SYS_fchmodat, dir, "raw", 0600) == 0 && syscall(SYS_chown, "raw", -1, -1) == 0);
    MUST(syscall(SYS_lchown, "raw", -1, -1) == 0 && syscall(SYS_fchown, fd, -1, -1) == 0);
    MUST(syscall(SYS_fchownat, dir, "raw", -1, -1, 0) == 0 && syscall(SYS_utime, "raw", NULL) == 0);
    MUST(syscall(SYS_utimes, "raw", NULL) == 0 && syscall(SYS_futimesat, dir, "raw", NULL) == 0);
    MUST(syscall(SYS_utimensat, dir, "raw", NULL, 0) == 0);
    MUST(syscall(SYS_chdir, ".") == 0 && syscall(SYS_fchdir, dir) == 0);
    return 0;
}

/* Not every file system has them: what they return is the kernel's business. */
static int ask_attributes(long fd)
{
    char room[200];
    syscall(SYS_setxattr, "raw", "user.a", "1", 1L, 0L);
    syscall(SYS_lsetxattr, "raw", "user.b", "1", 1L, 0L);
    syscall(SYS_fsetxattr, fd, "user.c", "1", 1L, 0L);
    syscall(SYS_getxattr, "raw", "user.a", room, sizeof room);
    syscall(SYS_lgetxattr, "raw", "user.b", room, sizeof room);
    syscall(SYS_fgetxattr, fd, "user.c", room, sizeof room);
    syscall(SYS_listxattr, "raw", room, sizeof room);
    syscall(SYS_llistxattr, "raw", room, sizeof room);
    syscall(SYS_flistxattr, fd, room, sizeof room);
    syscall(SYS_removexattr, "raw", "user.a");
    syscall(SYS_lremovexattr, "raw", "user.b");
    syscall(SYS_fremovexattr, fd, "user.c");
    MUST(syscall(SYS_statfs, ".", room) == 0 && syscall(SYS_fstatfs, fd, room) == 0);
    return 0;
}

static int change(long fd)
{
    const long dir = syscall(SYS_open, ".", O_RDONLY | O_DIRECTORY);
    MUST(dir >= 0);
    const int bad = rename_and_link(dir) || change_attributes(fd, dir) || ask_attributes(fd);
    MUST(syscall(SYS_close, dir) == 0);
    return bad;
}

int main(void)
{
    struct open_how how = {.flags = O_RDONLY};
    for (int i = 0; i < ROUNDS; i++) {
        long fd = syscall(SYS_openat, AT_FDCWD, "raw", O_RDWR | O_CREAT, 0600);
        MUST(fd >= 0);
        if (transfer(fd) || ask(fd) || change(fd))
            return 1;
        const long copy = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 100L);
        MUST(copy >= 100 && syscall(SYS_fcntl, fd, F_GETFL) >= 0 && syscall(SYS_close, fd) == 0);
        MUST(syscall(SYS_close_range, (unsigned)copy, (unsigned)copy, 0) == 0);
        MUST((fd = syscall(SYS_open, "raw", O_RDONLY)) >= 0 && syscall(SYS_close, fd) == 0);
        MUST((fd = syscall(SYS_openat2, AT_FDCWD, "raw", &how, sizeof how)) >= 0 && syscall(SYS_close, fd) == 0);
        MUST(syscall(SYS_openat2, AT_FDCWD, "raw", (void *)8, sizeof how) == -1 && errno == EFAULT);
        MUST((fd = syscall(SYS_creat, "raw", 0600)) >= 0 && syscall(SYS_close, fd) == 0);
        MUST(syscall(SYS_read, -1, bytes, 1) == -1 && errno == EBADF);
        MUST(syscall(SYS_mkdir, "made", 0700) == 0 && syscall(SYS_rmdir, "made") == 0);
        MUST(syscall(SYS_rename, "raw", "moved") == 0 && syscall(SYS_unlink, "moved") == 0);
        MUST(syscall(SYS_getpid) == getpid());
    }
    puts("as known");
    return 0;
}
