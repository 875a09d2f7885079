/* SPDX-License-Identifier: MIT
 *
 * sink.c - output of exporters.
 *
 * Owns: the file until it is whole, the buffer or the compressor. Threads: one writer. Never: leaves half a file
 * under the final name (a viewer rejects it), overwrites a device or a pipe by renaming onto it. */
#include "sink.h"
#include "gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/mem.h"
#include "util/new_file.h"

struct pt_sink {
    int fd;
    char *shown;
    bool is_file; /* else it is written in place: standard output, pipes, devices */
    struct pt_new_file file;
    struct pt_gzip *gzip;
    char *buffer;   /* without gzip */
    char *at, *end; /* of the buffer being filled */
    pt_u64 bytes, file_bytes, max_bytes;
    int failed_errno;
    bool too_big;
};

static bool sink_write(void *context, const void *bytes, pt_u64 n)
{
    struct pt_sink *sink = context;
    const char *at = bytes;
    while (n && !sink->failed_errno) {
        const ssize_t done = write(sink->fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            sink->failed_errno = done < 0 ? errno : EIO;
            break;
        }
        at += done;
        n -= (pt_u64)done;
        sink->file_bytes += (pt_u64)done;
    }
    return !sink->failed_errno;
}

static int sink_open_file(struct pt_sink *sink, const struct pt_out_place *place)
{
    const bool is_of_user = place->folder_fd == AT_FDCWD;
    sink->shown = pt_strdup(place->shown);
    if (is_of_user && !strcmp(place->name, "-"))
        return sink->fd = dup(STDOUT_FILENO);
    if (is_of_user && pt_path_is_special(place->name))
        return sink->fd = open(place->name, O_WRONLY | O_CLOEXEC);
    if (pt_new_file_open(&sink->file, place->folder_fd, place->name) < 0)
        return -1;
    sink->is_file = true;
    return sink->fd = sink->file.fd;
}

static void sink_free(struct pt_sink *sink)
{
    if (sink->gzip)
        pt_gzip_close(sink->gzip);
    if (sink->is_file)
        pt_new_file_drop(&sink->file);
    else if (sink->fd >= 0)
        close(sink->fd);
    free(sink->shown);
    free(sink->buffer);
    free(sink);
}

struct pt_sink *pt_sink_open(const struct pt_out_place *place, enum pt_sink_packing packing, pt_u64 max_bytes,
                             struct pt_error *err)
{
    struct pt_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        pt_fail(err, "out of memory");
        return NULL;
    }
    sink->fd = -1;
    sink->max_bytes = max_bytes;
    if (sink_open_file(sink, place) < 0) {
        pt_fail(err, "cannot write %s: %s", place->shown, strerror(errno));
        sink_free(sink);
        return NULL;
    }
    if (packing)
        sink->gzip = pt_gzip_open(sink_write, sink, (pt_u32)packing);
    else
        sink->buffer = malloc(PT_GZIP_BLOCK_BYTES);
    if (!sink->gzip && !sink->buffer) {
        pt_fail(err, "out of memory");
        sink_free(sink);
        return NULL;
    }
    sink->at = packing ? pt_gzip_buffer(sink->gzip) : sink->buffer;
    sink->end = sink->at + PT_GZIP_BLOCK_BYTES;
    return sink;
}

static void sink_flush(struct pt_sink *sink, bool last)
{
    char *const start = sink->end - PT_GZIP_BLOCK_BYTES;
    const pt_u32 bytes = (pt_u32)(sink->at - start);
    sink->bytes += bytes;
    if (sink->max_bytes && sink->bytes > sink->max_bytes)
        sink->too_big = true;
    if (sink->gzip)
        pt_gzip_submit(sink->gzip, bytes, last);
    else
        sink_write(sink, start, bytes);
    sink->at = sink->gzip ? pt_gzip_buffer(sink->gzip) : sink->buffer;
    sink->end = sink->at + PT_GZIP_BLOCK_BYTES;
}

char *pt_sink_room(struct pt_sink *sink)
{
    if (sink->end - sink->at < (ptrdiff_t)PT_SINK_ROOM)
        sink_flush(sink, false);
    return sink->at;
}

void pt_sink_wrote(struct pt_sink *sink, const char *end)
{
    sink->at += end - sink->at;
}

int pt_sink_put(void *sink, const char *bytes, size_t n)
{
    while (n) {
        const size_t piece = n < PT_SINK_ROOM ? n : PT_SINK_ROOM;
        char *room = pt_sink_room(sink);
        memcpy(room, bytes, piece);
        pt_sink_wrote(sink, room + piece);
        bytes += piece;
        n -= piece;
    }
    return pt_sink_failed(sink) ? -1 : 0;
}

bool pt_sink_failed(const struct pt_sink *sink)
{
    return sink->failed_errno || sink->too_big;
}

/* The file is closed and has the name that it had meanwhile. */
static int end(struct pt_sink *sink, struct pt_sink_result *ret_result, struct pt_error *err)
{
    const char *const name = strcmp(sink->shown, "-") != 0 ? sink->shown : "standard output";
    if (!pt_sink_failed(sink))
        sink_flush(sink, true);
    if (sink->too_big)
        return pt_fail_code(err, 2, "more than %llu bytes", (unsigned long long)sink->max_bytes);
    if (!sink->failed_errno && sink->is_file && pt_new_file_close(&sink->file) < 0)
        sink->failed_errno = errno;
    if (sink->failed_errno)
        return pt_fail(err, "writing %s: %s", name, strerror(sink->failed_errno));
    *ret_result = (struct pt_sink_result){sink->bytes, sink->file_bytes};
    return 0;
}

int pt_sink_close_unnamed(struct pt_sink *sink, struct pt_sink_files *files, struct pt_sink_result *ret_result,
                          struct pt_error *err)
{
    const int result = end(sink, ret_result, err);
    if (!result && sink->is_file) {
        pt_vec_push(files, sink->file);
        sink->is_file = false;
        sink->fd = -1;
    }
    sink_free(sink);
    return result;
}

int pt_sink_name_files(struct pt_sink_files *files, struct pt_error *err)
{
    int result = 0;
    for (size_t i = 0; i < files->n && !result; i++) {
        PT_AUTO(pt_freep) char *name = pt_strdup(files->items[i].name);
        if (pt_new_file_name(&files->items[i]) < 0)
            result = pt_fail(err, "naming %s: %s", name, strerror(errno));
    }
    pt_sink_free_files(files);
    return result;
}

void pt_sink_free_files(struct pt_sink_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        pt_new_file_drop(&files->items[i]);
    free(files->items);
    *files = (struct pt_sink_files){0};
}

int pt_sink_close(struct pt_sink *sink, struct pt_sink_result *ret_result, struct pt_error *err)
{
    struct pt_sink_files file = {0};
    const int result = pt_sink_close_unnamed(sink, &file, ret_result, err);
    return result ? result : pt_sink_name_files(&file, err);
}

void pt_sink_abandon(struct pt_sink *sink)
{
    sink_free(sink);
}
