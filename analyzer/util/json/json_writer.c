/* SPDX-License-Identifier: MIT
 *
 * json_writer.c - Owns: the output buffer of each writer. Threads: one per writer. Never: emits NaN, invalid UTF-8, a
 * bare control.
 */
#include "json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/utf8.h"

static void flush(struct pt_json *json)
{
    if (json->n && !json->failed && json->write(json->context, json->buffer, json->n) < 0)
        json->failed = true;
    json->n = 0;
}

static void put(struct pt_json *json, const char *bytes, size_t n)
{
    while (n) {
        if (json->n == sizeof json->buffer)
            flush(json);
        const size_t room = sizeof json->buffer - json->n, n_now = n < room ? n : room;
        memcpy(json->buffer + json->n, bytes, n_now);
        json->n += n_now;
        bytes += n_now;
        n -= n_now;
    }
}

static void put_char(struct pt_json *json, char character)
{
    put(json, &character, 1);
}

static int write_file(void *context, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, context) == n ? 0 : -1;
}

void pt_json_init(struct pt_json *json, int (*write)(void *, const char *, size_t), void *context, bool pretty)
{
    memset(json, 0, offsetof(struct pt_json, buffer));
    json->write = write;
    json->context = context;
    json->pretty = pretty;
}

void pt_json_init_file(struct pt_json *json, FILE *file, bool pretty)
{
    pt_json_init(json, write_file, file, pretty);
}

int pt_json_close(struct pt_json *json)
{
    if (json->pretty)
        put_char(json, '\n');
    flush(json);
    return json->failed ? -1 : 0;
}

static void new_line(struct pt_json *json, int depth)
{
    static const char spaces[] = "                                ";
    put_char(json, '\n');
    for (int left = depth * 2; left > 0; left -= 32)
        put(json, spaces, left < 32 ? (size_t)left : 32);
}

/* ASCII first: most names are ASCII. */
static bool needs_escape(uint32_t code)
{
    if (code < 0x80)
        return code < 0x20 || code == 0x7f || code == '"' || code == '\\';
    return pt_utf8_is_control(code);
}

static void put_escape(struct pt_json *json, uint32_t code)
{
    char escape[12];
    switch (code) {
    case '"':
        put(json, "\\\"", 2);
        return;
    case '\\':
        put(json, "\\\\", 2);
        return;
    case '\n':
        put(json, "\\n", 2);
        return;
    case '\t':
        put(json, "\\t", 2);
        return;
    default:
        put(json, escape, pt_utf8_json_escape(escape, code));
    }
}

static void put_text(struct pt_json *json, const char *bytes, size_t n)
{
    const char *plain = bytes; /* the bytes from here to `bytes` are written unchanged */
    const char *end = bytes + n;
    put_char(json, '"');
    while (bytes < end) {
        uint32_t code = (unsigned char)*bytes;
        const size_t length = code < 0x80 ? 1 : pt_utf8_next(bytes, (size_t)(end - bytes), &code);
        if (length && !needs_escape(code)) {
            bytes += length;
            continue;
        }
        put(json, plain, (size_t)(bytes - plain));
        if (length)
            put_escape(json, code);
        else
            put(json, PT_UTF8_REPLACEMENT, 3);
        bytes += length ? length : 1;
        plain = bytes;
    }
    put(json, plain, (size_t)(bytes - plain));
    put_char(json, '"');
}

/* Writes what comes before a value: comma, newline, key. */
static void lead(struct pt_json *json, const char *key)
{
    const int depth = json->depth;
    if (depth) {
        const bool is_inline = json->inline_here[depth - 1];
        if (json->has_items[depth - 1])
            put_char(json, ',');
        if (json->pretty && !is_inline)
            new_line(json, depth);
        else if (json->pretty && json->has_items[depth - 1])
            put_char(json, ' ');
        json->has_items[depth - 1] = true;
    }
    if (key) {
        put_text(json, key, strlen(key));
        put(json, ": ", json->pretty ? 2 : 1);
    }
}

static void begin(struct pt_json *json, const char *key, bool is_array, bool is_inline)
{
    lead(json, key);
    put_char(json, is_array ? '[' : '{');
    if (json->depth == PT_JSON_MAX_DEPTH) {
        json->failed = true;
        return;
    }
    json->is_array[json->depth] = is_array;
    json->has_items[json->depth] = false;
    json->inline_here[json->depth] = is_inline || (json->depth && json->inline_here[json->depth - 1]);
    json->depth++;
}

void pt_json_object(struct pt_json *json, const char *key)
{
    begin(json, key, false, false);
}

void pt_json_array(struct pt_json *json, const char *key)
{
    begin(json, key, true, false);
}

void pt_json_object_inline(struct pt_json *json, const char *key)
{
    begin(json, key, false, true);
}

void pt_json_array_inline(struct pt_json *json, const char *key)
{
    begin(json, key, true, true);
}

void pt_json_end(struct pt_json *json)
{
    if (!json->depth)
        return;
    json->depth--;
    if (json->pretty && json->has_items[json->depth] && !json->inline_here[json->depth])
        new_line(json, json->depth);
    put_char(json, json->is_array[json->depth] ? ']' : '}');
}

void pt_json_line(struct pt_json *json)
{
    put_char(json, '\n');
}

static void put_counted_text(struct pt_json *json, const char *key, const char *bytes, size_t n)
{
    lead(json, key);
    put_text(json, bytes, n);
}

static void put_plain_value(struct pt_json *json, const char *key, const char *json_text)
{
    lead(json, key);
    put(json, json_text, strlen(json_text));
}

void pt_json_null(struct pt_json *json, const char *key)
{
    put_plain_value(json, key, "null");
}

void pt_json_text(struct pt_json *json, const char *key, const char *text)
{
    if (text)
        put_counted_text(json, key, text, strlen(text));
    else
        pt_json_null(json, key);
}

void pt_json_bool(struct pt_json *json, const char *key, bool value)
{
    put_plain_value(json, key, value ? "true" : "false");
}

/* The digits of a number from the right; returns the first. `end` is one past the last. */
static char *digits_of(uint64_t value, char *end)
{
    do
        *--end = (char)('0' + value % 10);
    while (value /= 10);
    return end;
}

static void put_number(struct pt_json *json, const char *key, uint64_t absolute, bool negative)
{
    char text[24], *at = digits_of(absolute, text + sizeof text);
    if (negative)
        *--at = '-';
    lead(json, key);
    put(json, at, (size_t)(text + sizeof text - at));
}

void pt_json_u64(struct pt_json *json, const char *key, uint64_t value)
{
    put_number(json, key, value, false);
}

void pt_json_i64(struct pt_json *json, const char *key, int64_t value)
{
    put_number(json, key, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

void pt_json_fixed(struct pt_json *json, const char *key, int64_t value, int decimals)
{
    char text[48], *at = text + sizeof text;
    uint64_t absolute = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    for (int i = 0; i < decimals && i < 18; i++, absolute /= 10)
        *--at = (char)('0' + absolute % 10);
    if (decimals > 0)
        *--at = '.';
    at = digits_of(absolute, at);
    if (value < 0)
        *--at = '-';
    lead(json, key);
    put(json, at, (size_t)(text + sizeof text - at));
}

void pt_json_f64(struct pt_json *json, const char *key, double value)
{
    char text[40];
    if (!isfinite(value)) {
        pt_json_null(json, key);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put_plain_value(json, key, text);
}
