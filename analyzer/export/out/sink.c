/* SPDX-License-Identifier: MIT
 *
 * sink.c - output of exporters.
 *
 * Owns: the file under its temporary name, the buffer or the compressor. Threads: one writer. Never: leaves half a file
 * under the final name (a viewer rejects it), overwrites a device or a pipe by renaming onto it. */
#include "sink.h"
#include "gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pt_sink {
    int fd;
    char *path;
    char *partial; /* NULL = written in place: standard output, pipes, devices */
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

static int sink_open_file(struct pt_sink *sink, const char *path)
{
    struct stat st;
    if (!strcmp(path, "-"))
        return sink->fd = dup(STDOUT_FILENO);
    sink->path = strdup(path);
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return sink->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (!sink->path || asprintf(&sink->partial, "%s.partial-%ld", path, (long)getpid()) < 0) {
        sink->partial = NULL;
        return -1;
    }
    return sink->fd = open(sink->partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
}

static void sink_free(struct pt_sink *sink)
{
    if (sink->gzip)
        pt_gzip_close(sink->gzip);
    if (sink->fd >= 0)
        close(sink->fd);
    if (sink->partial)
        unlink(sink->partial);
    free(sink->partial);
    free(sink->path);
    free(sink->buffer);
    free(sink);
}

struct pt_sink *pt_sink_open(const char *path, bool gzip, pt_u64 max_bytes, struct pt_error *err)
{
    struct pt_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        pt_fail(err, "out of memory");
        return NULL;
    }
    sink->fd = -1;
    sink->max_bytes = max_bytes;
    if (sink_open_file(sink, path) < 0) {
        pt_fail(err, "cannot write %s: %s", path, strerror(errno));
        sink_free(sink);
        return NULL;
    }
    if (gzip)
        sink->gzip = pt_gzip_open(sink_write, sink);
    else
        sink->buffer = malloc(PT_GZIP_BLOCK_BYTES);
    if (!sink->gzip && !sink->buffer) {
        pt_fail(err, "out of memory");
        sink_free(sink);
        return NULL;
    }
    sink->at = gzip ? pt_gzip_buffer(sink->gzip) : sink->buffer;
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

bool pt_sink_failed(const struct pt_sink *sink)
{
    return sink->failed_errno || sink->too_big;
}

int pt_sink_close(struct pt_sink *sink, struct pt_sink_result *ret_result, struct pt_error *err)
{
    int result = 0;
    const char *const name = sink->path ? sink->path : "standard output";
    if (!pt_sink_failed(sink))
        sink_flush(sink, true);
    if (sink->too_big)
        result = pt_fail_code(err, 2, "more than %llu bytes", (unsigned long long)sink->max_bytes);
    else if (sink->failed_errno)
        result = pt_fail(err, "writing %s: %s", name, strerror(sink->failed_errno));
    else if (sink->partial && rename(sink->partial, sink->path) < 0)
        result = pt_fail(err, "naming %s: %s", name, strerror(errno));
    if (!result) {
        free(sink->partial);
        sink->partial = NULL;
        *ret_result = (struct pt_sink_result){sink->bytes, sink->file_bytes};
    }
    sink_free(sink);
    return result;
}

void pt_sink_abandon(struct pt_sink *sink)
{
    sink_free(sink);
}
