/* SPDX-License-Identifier: MIT
 *
 * mem.h - allocation that does not fail: out of memory ends the analyzer with one line and exit code 125. Sizes are
 * always bounded by the size of the input, so it happens on a full machine, not because of a hostile file.
 */
#ifndef PT_UTIL_MEM_H
#define PT_UTIL_MEM_H

#include <stddef.h>

void *pt_malloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *pt_calloc(size_t count, size_t bytes) __attribute__((malloc, returns_nonnull));
void *pt_realloc(void *block, size_t bytes) __attribute__((returns_nonnull));
char *pt_strdup(const char *text) __attribute__((malloc, returns_nonnull));
__attribute__((format(printf, 1, 2), returns_nonnull)) char *pt_asprintf(const char *format, ...);

#endif
