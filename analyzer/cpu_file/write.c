/* SPDX-License-Identifier: MIT
 *
 * cpu_file/write.c - Owns: the descriptor. Threads: main only. Never: follows a link, replaces a file, writes after a
 * chunk that could not be written.
 */
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proftrace/format.h"
#include "util/fd.h"

static void write_all(struct pt_profile_file *file, const void *bytes, size_t n)
{
    if (!file->problem && pt_fd_write_all(file->fd, bytes, n) < 0)
        file->problem = errno;
}

int pt_profile_file_open(struct pt_profile_file *file, int directory_fd, pt_u32 stage,
                         const struct pt_cpu_header *header, struct pt_error *err)
{
    char name[32];
    snprintf(name, sizeof name, PT_CPU_FILE_FORMAT, stage);
    *file = (struct pt_profile_file){.fd = -1};
    file->fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file->fd < 0)
        return pt_fail(err, "cannot make %s: %s", name, strerror(errno));
    write_all(file, header, sizeof *header);
    return 0;
}

void pt_profile_file_chunk(struct pt_profile_file *file, enum pt_cpu_chunk_type type, const void *payload,
                           size_t n_bytes)
{
    if (file->fd < 0 || file->problem)
        return;
    const struct pt_cpu_chunk chunk = {type, (pt_u32)n_bytes, pt_crc32c(0, payload, n_bytes), file->chunks++};
    write_all(file, &chunk, sizeof chunk);
    write_all(file, payload, n_bytes);
}

void pt_profile_file_close(struct pt_profile_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

void pt_chunk_add(struct pt_chunk_buffer *buffer, const void *item, size_t n_bytes)
{
    while (buffer->capacity - buffer->n < n_bytes)
        buffer->items = pt_vec_grow(buffer->items, buffer->capacity, &buffer->capacity, 1);
    memcpy(buffer->items + buffer->n, item, n_bytes);
    buffer->n += n_bytes;
}

void pt_chunk_write(struct pt_chunk_buffer *buffer, struct pt_profile_file *file, enum pt_cpu_chunk_type type)
{
    if (buffer->n)
        pt_profile_file_chunk(file, type, buffer->items, buffer->n);
    buffer->n = 0;
}
