/* SPDX-License-Identifier: MIT
 *
 * kernel_file.h - the small text files of /proc and /sys: opened once, read again from their beginning.
 */
#ifndef PT_SAMPLER_KERNEL_FILE_H
#define PT_SAMPLER_KERNEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proftrace/schema.h"

/* A descriptor of the file that the format names; -1 with errno. */
__attribute__((format(printf, 1, 2))) int pt_kernel_file_open(const char *format, ...);
/* The whole text as of now, NUL-terminated, cut where it does not fit. Its length, or -1 with errno. */
ssize_t pt_kernel_file_read(int fd, char *text, size_t size);
/* Open, read the first part, close. */
__attribute__((format(printf, 3, 4))) ssize_t pt_kernel_file_peek(char *text, size_t size, const char *format, ...);
/* The number after `key` at the beginning of a line. */
bool pt_kernel_file_number(const char *text, const char *key, pt_u64 *ret_number);
/* A text without the newline at its end; "" when there is none. */
__attribute__((format(printf, 3, 4))) void pt_kernel_file_word(char *word, size_t size, const char *format, ...);

#endif
