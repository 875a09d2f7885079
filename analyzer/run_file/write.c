/* SPDX-License-Identifier: MIT
 *
 * run_file/write.c - Owns: how each kind of value looks in run.json. Threads: main only. Never: stores an argument
 * unredacted, leaves a file that is half written.
 */
#include "write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/json/json_writer.h"
#include "util/new_file.h"
#include "util/text/redact.h"
#include "util/whole.h"
#include "keys.h"

/* ---- nothing is known yet ---- */

static bool is_number(enum pt_run_type type)
{
    return type == PT_RUN_WHOLE || type == PT_RUN_WHOLE_IF_KNOWN || type == PT_RUN_NUMBER || type == PT_RUN_ROUNDED ||
           type == PT_RUN_MILLIS || type == PT_RUN_MICROS;
}

static void forget(enum pt_run_section section, void *fields)
{
    for (const struct pt_run_key *key = pt_run_first_key(section); key; key = pt_run_next_key(key)) {
        if (is_number(key->type))
            *(double *)pt_run_place(key, fields) = NAN;
        if (key->type == PT_RUN_BLOCK || key->type == PT_RUN_INLINE || key->type == PT_RUN_OBJECT_OR_NULL)
            forget(key->inside, fields);
    }
}

void pt_run_forget(struct pt_run_info *run)
{
    *run = (struct pt_run_info){0};
    forget(PT_RUN_RUN, run);
}

void pt_run_stage_forget(struct pt_run_stage *stage)
{
    *stage = (struct pt_run_stage){0};
    forget(PT_RUN_STAGE, stage);
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        forget(PT_RUN_RESOURCE, &stage->resources[i]);
}

/* ---- writing ---- */

/* Writes one key, from its section's structure. */
typedef void write_function(struct pt_json *json, const struct pt_run_key *key, const void *fields);

static void write_section(struct pt_json *json, enum pt_run_section section, const void *fields);

/* Three decimals: no value is more exact than that. */
static double rounded(double value)
{
    return round(value * 1000) / 1000;
}

/* ---- values ---- */

static void write_text(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    pt_json_text(json, key->key, *(const char *const *)pt_run_place(key, fields));
}

static void write_text_if_any(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    if (*(const char *const *)pt_run_place(key, fields))
        write_text(json, key, fields);
}

static void write_texts(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const char *const *texts = *(const char *const *const *)pt_run_place(key, fields);
    if (key->type == PT_RUN_LINES)
        pt_json_array(json, key->key);
    else
        pt_json_array_inline(json, key->key);
    struct pt_redact_line line = {0};
    for (size_t i = 0; texts && texts[i]; i++) {
        PT_AUTO(pt_freep) char *shown = key->type == PT_RUN_COMMAND ? pt_redacted(texts[i], &line) : NULL;
        pt_json_text(json, NULL, key->type == PT_RUN_COMMAND ? shown : texts[i]);
    }
    pt_json_end(json);
}

static double number_of(const struct pt_run_key *key, const void *fields)
{
    return *(const double *)pt_run_place(key, fields);
}

static void write_whole(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const double number = number_of(key, fields);
    if (!isnan(number))
        pt_json_i64(json, key->key, pt_whole_signed(number));
    else if (key->type != PT_RUN_WHOLE_IF_KNOWN)
        pt_json_null(json, key->key);
}

static void write_exact(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const pt_u64 number = *(const pt_u64 *)pt_run_place(key, fields);
    if (number)
        pt_json_u64(json, key->key, number);
    else
        pt_json_null(json, key->key);
}

static void write_number(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const double number = number_of(key, fields);
    pt_json_f64(json, key->key, key->type == PT_RUN_ROUNDED ? rounded(number) : number);
}

static void write_seconds(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const double seconds = number_of(key, fields);
    const int decimals = key->type == PT_RUN_MILLIS ? 3 : 6;
    if (isnan(seconds))
        pt_json_null(json, key->key);
    else
        pt_json_fixed(json, key->key, llround(seconds * (key->type == PT_RUN_MILLIS ? 1e3 : 1e6)), decimals);
}

/* ---- what was sampled ---- */

static const struct pt_run_stage *stage_that_began(const void *fields)
{
    const struct pt_run_stage *stage = fields;
    return isnan(stage->pid) ? NULL : stage;
}

static void write_resources(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const struct pt_run_stage *stage = stage_that_began(fields);
    if (!stage)
        return;
    pt_json_object(json, key->key);
    for (int i = 0; i < PT_RESOURCE__COUNT; i++) {
        pt_json_object_inline(json, pt_resources[i].id);
        write_section(json, PT_RUN_RESOURCE, &stage->resources[i]);
        pt_json_end(json);
    }
    pt_json_end(json);
}

/* One array per resource: half the size of one object per sample. */
static void write_samples(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const struct pt_run_stage *stage = stage_that_began(fields);
    if (!stage)
        return;
    pt_json_object(json, key->key);
    pt_json_array_inline(json, "t_ns");
    for (pt_u32 i = 0; i < stage->n_samples; i++)
        pt_json_i64(json, NULL, llround(stage->sample_t_s[i] * 1e9));
    pt_json_end(json);
    for (int resource = 0; resource < PT_RESOURCE__COUNT; resource++) {
        const double *samples = stage->resources[resource].samples;
        if (isnan(stage->resources[resource].last) || (stage->n_samples && !samples))
            continue;
        pt_json_array_inline(json, pt_resources[resource].id);
        for (pt_u32 i = 0; i < stage->n_samples; i++)
            pt_json_f64(json, NULL, rounded(samples[i]));
        pt_json_end(json);
    }
    pt_json_end(json);
}

/* ---- objects and lists ---- */

static void write_object(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    if (key->type == PT_RUN_OBJECT_OR_NULL && !*(const bool *)pt_run_place(key, fields)) {
        pt_json_null(json, key->key);
        return;
    }
    if (key->type == PT_RUN_INLINE)
        pt_json_object_inline(json, key->key);
    else
        pt_json_object(json, key->key);
    write_section(json, key->inside, fields);
    pt_json_end(json);
}

static void write_list(struct pt_json *json, const struct pt_run_key *key, const void *fields)
{
    const char *items = *(const char *const *)pt_run_place(key, fields);
    const pt_u32 n = *(const pt_u32 *)(const void *)((const char *)fields + key->n_offset);
    pt_json_array(json, key->key);
    for (pt_u32 i = 0; i < n; i++) {
        if (key->type == PT_RUN_INLINES)
            pt_json_object_inline(json, NULL);
        else
            pt_json_object(json, NULL);
        write_section(json, key->inside, items + i * pt_run_item_bytes(key->inside));
        pt_json_end(json);
    }
    pt_json_end(json);
}

static write_function *const writers[] = {
    [PT_RUN_TEXT] = write_text,
    [PT_RUN_NAME] = write_text,
    [PT_RUN_TEXT_IF_ANY] = write_text_if_any,
    [PT_RUN_TEXTS] = write_texts,
    [PT_RUN_LINES] = write_texts,
    [PT_RUN_COMMAND] = write_texts,
    [PT_RUN_WHOLE] = write_whole,
    [PT_RUN_WHOLE_IF_KNOWN] = write_whole,
    [PT_RUN_EXACT] = write_exact,
    [PT_RUN_NUMBER] = write_number,
    [PT_RUN_ROUNDED] = write_number,
    [PT_RUN_MILLIS] = write_seconds,
    [PT_RUN_MICROS] = write_seconds,
    [PT_RUN_RESOURCES] = write_resources,
    [PT_RUN_SAMPLES] = write_samples,
    [PT_RUN_BLOCK] = write_object,
    [PT_RUN_INLINE] = write_object,
    [PT_RUN_OBJECT_OR_NULL] = write_object,
    [PT_RUN_BLOCKS] = write_list,
    [PT_RUN_INLINES] = write_list,
};

static void write_section(struct pt_json *json, enum pt_run_section section, const void *fields)
{
    for (const struct pt_run_key *key = pt_run_first_key(section); key; key = pt_run_next_key(key))
        writers[key->type](json, key, fields);
}

/* ---- the file ---- */

static int write_bytes(void *context, const char *bytes, size_t n)
{
    return pt_fd_write_all(*(const int *)context, bytes, n);
}

static int write_document(int fd, const struct pt_run_info *run)
{
    PT_AUTO(pt_freep) struct pt_json *json = malloc(sizeof *json);
    if (!json)
        return -1;
    pt_json_init(json, write_bytes, &fd, true);
    pt_json_object(json, NULL);
    pt_json_text(json, "schema_version", "1.0");
    write_section(json, PT_RUN_RUN, run);
    pt_json_end(json);
    return pt_json_close(json);
}

int pt_run_info_write(int directory_fd, const char *shown, const struct pt_run_info *run, struct pt_error *err)
{
    struct pt_new_file made;
    if (pt_new_file_open(&made, directory_fd, PT_RUN_FILE) < 0)
        return pt_fail(err, "cannot make %s/" PT_RUN_FILE ": %s", shown, strerror(errno));
    int result = write_document(made.fd, run);
    if (result == 0 && !isnan(run->duration_ns))
        fdatasync(made.fd); /* the last one: after a power cut it was empty, or full of zeros, under its name */
    if (result == 0)
        result = pt_new_file_finish(&made);
    if (result == 0)
        return 0;
    const int problem = errno;
    pt_new_file_drop(&made);
    return pt_fail(err, "cannot write %s/" PT_RUN_FILE ": %s", shown, strerror(problem));
}
