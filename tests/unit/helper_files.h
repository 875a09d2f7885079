/* SPDX-License-Identifier: MIT
 *
 * helper_files.h - tests that read and write small files: each group runs in a directory of its own.
 */
#ifndef PT_TESTS_HELPER_FILES_H
#define PT_TESTS_HELPER_FILES_H

#include <stddef.h>

/* cmocka group setup and teardown: enter a new directory; leave and remove it. */
int enter_directory(void **state);
int leave_directory(void **state);

void write_bytes(const char *path, const char *bytes, size_t n);
void write_text(const char *path, const char *text);
/* The file's text, for free(). */
char *read_text(const char *path);

#endif
