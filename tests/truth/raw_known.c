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

int main(void)
{
    struct open_how how = {.flags = O_RDONLY};
    for (int i = 0; i < ROUNDS; i++) {
        long fd = syscall(SYS_openat, AT_FDCWD, "raw", O_RDWR | O_CREAT, 0600);
        MUST(fd >= 0);
        if (transfer(fd) || ask(fd))
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
