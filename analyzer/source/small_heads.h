/* SPDX-License-Identifier: MIT
 *
 * small_heads.h - the file of small processes: many heads, each read as if it were a trace file of its own. Its path is
 * that of the file, '#', and the number of the page behind the schema with which it begins.
 */
#ifndef PT_SOURCE_SMALL_HEADS_H
#define PT_SOURCE_SMALL_HEADS_H

#include <stdbool.h>

#include "proftrace/format.h"

#define PT_MAX_SCHEMA_BYTES (1u << 20)

/* The '#' of such a path; NULL = it is of another file. */
const char *pt_small_head_of(const char *path);

bool pt_small_heads_are_readable(int fd);
/* The next head at or behind *page, which is moved on; false = there is none. */
bool pt_small_heads_next(int fd, pt_u64 *page, pt_u64 *ret_page, struct pt_file_header *ret_head);

/* Where a head begins; 0 = the file or the path is not as it should be. */
pt_u64 pt_small_heads_offset(int fd, const char *path);
/* The schema of all heads, NUL-terminated; "" where it is damaged. The caller frees it. */
char *pt_small_heads_schema(int fd);

#endif
