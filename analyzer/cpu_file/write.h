/* SPDX-License-Identifier: MIT
 *
 * cpu_file/write.h - the file of a profile, written chunk by chunk: see cpu_file/format.h.
 */
#ifndef PT_CPU_FILE_WRITE_H
#define PT_CPU_FILE_WRITE_H

#include <stddef.h>

#include "util/error.h"
#include "util/vec.h"
#include "format.h"

/* Chunks of one type that are collected until there is something to write. */
struct pt_chunk_buffer {
    PT_VEC(pt_u8);
};

struct pt_profile_file {
    int fd; /* -1 = none: everything is thrown away */
    pt_u32 chunks;
    int problem; /* errno of the first write that failed: nothing more is written then */
};

/* Makes it; an existing one is an error. */
int pt_profile_file_open(struct pt_profile_file *file, int directory_fd, pt_u32 stage,
                         const struct pt_cpu_header *header, struct pt_error *err);
void pt_profile_file_chunk(struct pt_profile_file *file, enum pt_cpu_chunk_type type, const void *payload,
                           size_t n_bytes);
void pt_profile_file_close(struct pt_profile_file *file);

void pt_chunk_add(struct pt_chunk_buffer *buffer, const void *item, size_t n_bytes);
/* Write what was collected, if anything was, and start anew. */
void pt_chunk_write(struct pt_chunk_buffer *buffer, struct pt_profile_file *file, enum pt_cpu_chunk_type type);

#endif
