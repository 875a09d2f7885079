/* SPDX-License-Identifier: MIT
 *
 * small_file.c - Owns: nothing. Threads: any. Never: allocates; assumes that a file exists or is well-formed.
 */
#include "small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 1, 0))) static int open_formatted(const char *format, va_list arguments)
{
    char path[PATH_MAX];
    const int n = vsnprintf(path, sizeof path, format, arguments);
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int pt_small_file_open(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int fd = open_formatted(format, arguments);
    va_end(arguments);
    return fd;
}

ssize_t pt_small_file_read(int fd, char *text, size_t size)
{
    size_t used = 0;
    while (used + 1 < size) {
        const ssize_t n = pread(fd, text + used, size - 1 - used, (off_t)used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && used == 0)
            return -1;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = 0;
    return (ssize_t)used;
}

/* One read: it gets a small file as a whole, and of larger ones the rest is not needed. */
static ssize_t peek(char *text, size_t size, int fd)
{
    text[0] = 0;
    if (fd < 0)
        return -1;
    const ssize_t n = read(fd, text, size - 1);
    const int problem = errno;
    close(fd);
    errno = problem;
    text[n > 0 ? n : 0] = 0;
    return n;
}

ssize_t pt_small_file_peek(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int fd = open_formatted(format, arguments);
    va_end(arguments);
    return peek(text, size, fd);
}

bool pt_small_file_word(char *word, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int fd = open_formatted(format, arguments);
    va_end(arguments);
    const ssize_t n = peek(word, size, fd);
    word[strcspn(word, "\n")] = 0;
    return n > 0;
}

bool pt_small_file_number(const char *text, const char *key, uint64_t *ret_number)
{
    const size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0)
            continue;
        char *end;
        *ret_number = strtoull(line + length, &end, 10);
        return end != line + length;
    }
    return false;
}

bool pt_boot_id(char *text, size_t size)
{
    return pt_small_file_word(text, size, "/proc/sys/kernel/random/boot_id");
}
