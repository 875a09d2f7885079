/* SPDX-License-Identifier: MIT
 *
 * sink.h - where an export goes: a file that appears under its name only when it is whole, optionally gzip'ed.
 *
 * Compression runs in threads of its own, a mebibyte at a time, and gives one ordinary gzip member. Errors stick: after
 * the first one all bytes are swallowed, and pt_sink_close returns it. One thread writes.
 */
#ifndef PT_EXPORT_OUT_SINK_H
#define PT_EXPORT_OUT_SINK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "proftrace/types.h"
#include "util/error.h"
#include "util/new_file.h"
#include "util/vec.h"

struct pt_sink;

struct pt_sink_result {
    pt_u64 bytes;      /* before compression: what a viewer keeps in memory */
    pt_u64 file_bytes; /* in the file */
};

/* A file, or of many their folder. */
struct pt_out_place {
    int folder_fd; /* that of a folder of ours; AT_FDCWD = the user gave the path, which may be that of a device, or "-"
                    */
    const char *name;
    const char *shown; /* for people */
};

static inline struct pt_out_place pt_place_of_user(const char *path)
{
    return (struct pt_out_place){AT_FDCWD, path, path};
}

/* How many threads compress; each keeps up to 4 MiB. */
enum pt_sink_packing { PT_SINK_PLAIN = 0, PT_SINK_OF_MANY = 1, PT_SINK_PACKED = 4 };

/* For at most `max_bytes` before compression (0 = no limit). NULL on error. */
struct pt_sink *pt_sink_open(const struct pt_out_place *place, enum pt_sink_packing packing, pt_u64 max_bytes,
                             struct pt_error *err);

/* At least PT_SINK_ROOM writable bytes; pt_sink_wrote says how far they were filled. */
#define PT_SINK_ROOM 16384u
char *pt_sink_room(struct pt_sink *sink);
void pt_sink_wrote(struct pt_sink *sink, const char *end);

/* Writes bytes of any length into a sink, which is the context: a function for pt_json_init. */
int pt_sink_put(void *sink, const char *bytes, size_t n);

/* True after an error or when the limit was passed: the caller may stop early. */
bool pt_sink_failed(const struct pt_sink *sink);

/* Finish the file and give it its name, or report the first error and remove it. Frees the sink. */
int pt_sink_close(struct pt_sink *sink, struct pt_sink_result *ret_result, struct pt_error *err);
/* Remove the file. Frees the sink. */
void pt_sink_abandon(struct pt_sink *sink);

/* Whole files that wait for their names: of an export of several files, all get them together at its end, or none does
 * and what was there stays. */
struct pt_sink_files {
    PT_VEC(struct pt_new_file);
};
/* As pt_sink_close, but for the name. */
int pt_sink_close_unnamed(struct pt_sink *sink, struct pt_sink_files *files, struct pt_sink_result *ret_result,
                          struct pt_error *err);
int pt_sink_name_files(struct pt_sink_files *files, struct pt_error *err);
/* Remove those that have no name yet. */
void pt_sink_free_files(struct pt_sink_files *files);

#endif
