/* SPDX-License-Identifier: MIT
 *
 * small_file.h - small text files, above all those of /proc and /sys: read once, or kept open and read again from the
 * beginning. If one is a FIFO, opening it does not block.
 */
#ifndef PT_UTIL_SMALL_FILE_H
#define PT_UTIL_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor of the file that the format names; -1 with errno. */
__attribute__((format(printf, 1, 2))) int pt_small_file_open(const char *format, ...);
/* The present text, NUL-terminated, cut where it does not fit. Its length, or -1 with errno. */
ssize_t pt_small_file_read(int fd, char *text, size_t size);
/* Open, read the first part, close. */
__attribute__((format(printf, 3, 4))) ssize_t pt_small_file_peek(char *text, size_t size, const char *format, ...);
/* The number after `key` at the beginning of a line. */
bool pt_small_file_number(const char *text, const char *key, uint64_t *ret_number);
/* The first line, without the newline at its end; false and "" when there is nothing. */
__attribute__((format(printf, 3, 4))) bool pt_small_file_word(char *word, size_t size, const char *format, ...);
/* Of this boot of the machine, as its kernel tells it; false and "" where it does not. */
bool pt_boot_id(char *text, size_t size);

#endif
