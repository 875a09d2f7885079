/* SPDX-License-Identifier: MIT
 *
 * json_writer.h - JSON written as it goes, for output of any size. Names are escaped exactly (malformed UTF-8 becomes
 * U+FFFD), a number that is not finite becomes null, and commas and nesting are the writer's business.
 *
 *     struct pt_json json;
 *     pt_json_init_file(&json, stdout, true);
 *     pt_json_object(&json, NULL);
 *     pt_json_text(&json, "stage", process->stage);
 *     pt_json_array(&json, "values");
 *     pt_json_u64(&json, NULL, 7);
 *     pt_json_end(&json);
 *     pt_json_end(&json);
 *     if (pt_json_close(&json) < 0)
 *         return pt_fail(err, "cannot write: %s", strerror(errno));
 *
 * `key` is NULL inside an array and at the top.
 */
#ifndef PT_UTIL_JSON_JSON_WRITER_H
#define PT_UTIL_JSON_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PT_JSON_MAX_DEPTH = 64, PT_JSON_BUFFER_BYTES = 32 * 1024 };

struct pt_json {
    int (*write)(void *context, const char *bytes, size_t n); /* -1 = failed: the rest is thrown away */
    void *context;
    size_t n;
    int depth;
    bool pretty, failed;
    bool is_array[PT_JSON_MAX_DEPTH], has_items[PT_JSON_MAX_DEPTH], inline_here[PT_JSON_MAX_DEPTH];
    char buffer[PT_JSON_BUFFER_BYTES];
};

void pt_json_init(struct pt_json *json, int (*write)(void *, const char *, size_t), void *context, bool pretty);
void pt_json_init_file(struct pt_json *json, FILE *file, bool pretty);
/* Flushes; -1 when any write failed. */
int pt_json_close(struct pt_json *json);

void pt_json_object(struct pt_json *json, const char *key);
void pt_json_array(struct pt_json *json, const char *key);
/* An object or array that stays on one line although the writer is pretty. */
void pt_json_object_inline(struct pt_json *json, const char *key);
void pt_json_array_inline(struct pt_json *json, const char *key);
void pt_json_end(struct pt_json *json);
/* End the line between two values at the top: one JSON value per line. */
void pt_json_line(struct pt_json *json);

void pt_json_text(struct pt_json *json, const char *key, const char *text); /* NULL gives null */
void pt_json_i64(struct pt_json *json, const char *key, int64_t value);
void pt_json_u64(struct pt_json *json, const char *key, uint64_t value);
void pt_json_f64(struct pt_json *json, const char *key, double value); /* shortest that reads back equal */
/* value / 10^decimals, exactly: ns as microseconds are pt_json_fixed(json, "ts", ns, 3). */
void pt_json_fixed(struct pt_json *json, const char *key, int64_t value, int decimals);
void pt_json_bool(struct pt_json *json, const char *key, bool value);
void pt_json_null(struct pt_json *json, const char *key);

#endif
