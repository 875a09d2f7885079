/* SPDX-License-Identifier: MIT
 *
 * cpu_file/open.c - Owns: which files are CPU profiles. Threads: any. Never: waits for a file, follows a link.
 */
#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "util/auto.h"

FILE *pt_cpu_file_open(const char *path, pt_u64 *ret_bytes)
{
    struct stat status;
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) < 0)
        return NULL;
    errno = EINVAL;
    FILE *file = S_ISREG(status.st_mode) ? fdopen(fd, "r") : NULL;
    if (file)
        fd = -1;
    *ret_bytes = (pt_u64)status.st_size;
    return file;
}

bool pt_cpu_file_read_header(FILE *file, struct pt_cpu_header *ret_header, pt_u64 *left_bytes)
{
    struct pt_cpu_header *header = ret_header;
    if (*left_bytes < sizeof *header || fread(header, sizeof *header, 1, file) != 1 ||
        memcmp(header->magic, PT_CPU_MAGIC, sizeof header->magic) != 0 || header->version != PT_CPU_VERSION ||
        header->header_bytes < sizeof *header || header->header_bytes > 4096 || *left_bytes < header->header_bytes)
        return false;
    *left_bytes -= header->header_bytes;
    return fseek(file, header->header_bytes, SEEK_SET) == 0;
}
