/* SPDX-License-Identifier: MIT
 *
 * T15: errno after success is what it was before; errno after failure is the kernel's. Thousands of rounds, so that the
 * slow paths (first event, full buffer, growth) come by too.
 */
#include "host.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define KEEPS(call)                                                                                                    \
    do {                                                                                                               \
        errno = 77;                                                                                                    \
        MUST((call) && errno == 77);                                                                                   \
    } while (0)
#define FAILS(call, code)                                                                                              \
    do {                                                                                                               \
        errno = 77;                                                                                                    \
        MUST((call) && errno == (code));                                                                               \
    } while (0)

static void successes(void)
{
    struct stat status;
    char bytes[16];
    struct iovec vector = {bytes, sizeof bytes};
    int fd, copy;
    void *block, *map;
    KEEPS((block = malloc(100)) != NULL);
    KEEPS((block = realloc(block, 4000)) != NULL);
    KEEPS((free(block), 1));
    KEEPS((block = calloc(3, 50)) != NULL);
    KEEPS((free(block), 1));
    KEEPS((fd = open("/dev/zero", O_RDWR)) >= 0);
    KEEPS((copy = dup(fd)) >= 0);
    KEEPS(read(fd, bytes, 16) == 16);
    KEEPS(pread(fd, bytes, 16, 0) == 16);
    KEEPS(readv(fd, &vector, 1) == 16);
    KEEPS(write(fd, bytes, 16) == 16);
    KEEPS(pwrite(fd, bytes, 16, 0) == 16);
    KEEPS(writev(fd, &vector, 1) == 16);
    KEEPS(lseek(fd, 0, SEEK_SET) == 0);
    KEEPS(fstat(fd, &status) == 0);
    KEEPS(stat("/", &status) == 0);
    KEEPS(access("/", R_OK) == 0);
    KEEPS(fcntl(fd, F_GETFL) >= 0);
    KEEPS((map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED);
    KEEPS(munmap(map, 4096) == 0);
    KEEPS(close(copy) == 0);
    KEEPS(close(fd) == 0);
}

/* A path without an end, as long as the kernel reads one, before memory that nobody may read. */
static char *endless_path(void)
{
    static char *path;
    if (path)
        return path;
    path = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(path != MAP_FAILED && mprotect(path + 4096, 4096, PROT_NONE) == 0);
    return memset(path, 'a', 4096);
}

static void failures(void)
{
    struct stat status;
    char byte = 0;
    FAILS(open("/nonexistent/file", O_RDONLY) < 0, ENOENT);
    FAILS(open("/etc/passwd/file", O_RDONLY) < 0, ENOTDIR);
    FAILS(open("/", O_WRONLY) < 0, EISDIR);
    FAILS(open((char *)8, O_RDONLY) < 0, EFAULT);
    FAILS(read(-1, &byte, 1) < 0, EBADF);
    FAILS(write(1000000, &byte, 1) < 0, EBADF);
    FAILS(pread(-1, &byte, 1, 0) < 0, EBADF);
    FAILS(close(-1) < 0, EBADF);
    FAILS(dup2(-1, 5) < 0, EBADF);
    FAILS(stat("/nonexistent", &status) < 0, ENOENT);
    FAILS(stat((char *)8, &status) < 0, EFAULT);
    FAILS(access("/nonexistent", F_OK) < 0, ENOENT);
    FAILS(lseek(-1, 0, SEEK_SET) < 0, EBADF);
    FAILS(unlink("/nonexistent") < 0, ENOENT);
    FAILS(rename("/nonexistent", "/nonexistent2") < 0, ENOENT);
    FAILS(mkdir("/", 0700) < 0, EEXIST);
    FAILS(opendir("/nonexistent") == NULL, ENOENT);
    FAILS(fopen("/nonexistent", "r") == NULL, ENOENT);
    FAILS(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED, EBADF);
    FAILS(execl("/nonexistent", "x", (char *)0) < 0, ENOENT);
    FAILS(open(endless_path(), O_RDONLY) < 0, ENAMETOOLONG);
    FAILS(stat(endless_path(), &status) < 0, ENAMETOOLONG);
    FAILS(execl(endless_path(), "x", (char *)0) < 0, ENAMETOOLONG);
}

int main(void)
{
    for (int i = 0; i < 5000; i++) {
        successes();
        failures();
    }
    trace_must("fd_path:/dev/zero:io_pread", "==", 5000);
    trace_must("io_close.errors", "==", 5000);
    trace_must("io_open.errors", ">=", 20000);
    return host_broken;
}
