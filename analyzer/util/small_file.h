/* SPDX-License-Identifier: MIT
 *
 * small_file.h - small text files, above all those of /proc and /sys: peeked at, or opened once and read again from
 * their beginning. A FIFO in the place of one makes nobody wait.
 */
#ifndef PT_UTIL_SMALL_FILE_H
#define PT_UTIL_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor of the file that the format names; -1 with errno. */
__attribute__((format(printf, 1, 2))) int pt_small_file_open(const char *format, ...);
/* The whole text as of now, NUL-terminated, cut where it does not fit. Its length, or -1 with errno. */
ssize_t pt_small_file_read(int fd, char *text, size_t size);
/* Open, read the first part, close. */
__attribute__((format(printf, 3, 4))) ssize_t pt_small_file_peek(char *text, size_t size, const char *format, ...);
/* The number after `key` at the beginning of a line. */
bool pt_small_file_number(const char *text, const char *key, uint64_t *ret_number);
/* The first line, without the newline at its end; false and "" when there is nothing. */
__attribute__((format(printf, 3, 4))) bool pt_small_file_word(char *word, size_t size, const char *format, ...);

#endif
