/* SPDX-License-Identifier: MIT
 *
 * Where the program waits and computes, for findings to point to: from the tables of the CPU profile the place that has
 * most of a reason, and the files that are mapped.
 *
 * Threads: one. State: a sum per mapped file, at most MAX_FILES. Never: guesses; without a profile a place is unknown,
 * with the reason.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/wait_kind.h"

enum { MAX_FILES = 4096, MAX_ROWS = 50 };

struct mapped_file {
    const char *path;
    pt_u32 stage;
    pt_u64 maps, bytes;
};

struct places {
    struct pt_profile *profile;
    struct pt_intern paths;
    struct pt_map by_file;
    PT_VEC(struct mapped_file);
};

static void begin(void *state, struct pt_profile *profile)
{
    ((struct places *)state)->profile = profile;
}

static void event(void *state, const struct pt_event *e)
{
    struct places *places = state;
    if (e->desc->row != PT_ROW_io_map || e->result < 0)
        return;
    const struct pt_ev_io_map *call = pt_event_as(e, io_map);
    const char *path = call->path ? pt_process_string(e->process, call->path) : NULL;
    /* Memory that processes share is no file on a disk. */
    if (!path || pt_channel_of_path(path) != PT_CHANNEL_FILE || !strncmp(path, "/dev/", 5))
        return;
    const pt_u32 stage = pt_profile_stage_of(places->profile, e->process);
    path = pt_intern_text(&places->paths, path);
    const pt_u64 key = (pt_u64)(uintptr_t)path ^ (pt_u64)stage << 48;
    if (places->n >= MAX_FILES && !pt_map_find(&places->by_file, key))
        return;
    pt_u64 *slot = pt_map_at(&places->by_file, key);
    if (!*slot) {
        pt_vec_push(places, ((struct mapped_file){.path = path, .stage = stage}));
        *slot = places->n;
    }
    places->items[*slot - 1].maps++;
    places->items[*slot - 1].bytes += call->length_bytes;
}

/* ---- results ---- */

static int by_bytes(const void *a, const void *b)
{
    const struct mapped_file *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->path, y->path);
}

struct file_row {
    const char *path;
    pt_u64 maps, bytes;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct file_row, path, TEXT, "File"),
    PT_COLUMN(struct file_row, maps, COUNT, "Mapped"),
    PT_COLUMN(struct file_row, bytes, BYTES, "Bytes"),
};
static const struct pt_table_kind by_file = {PT_VIEW_mapped_files, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void table_of_files(const struct places *places, pt_u32 stage)
{
    struct pt_metrics *metrics = &places->profile->metrics;
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &by_file);
    for (size_t i = 0; i < places->n; i++) {
        const struct mapped_file *file = &places->items[i];
        if (file->stage == stage && pt_rows_have_room(&rows))
            pt_rows_add(&rows, &(struct file_row){
                                   .path = pt_metrics_text(metrics, file->path),
                                   .maps = file->maps,
                                   .bytes = file->bytes,
                               });
    }
}

static pt_u32 column_of(const struct pt_table *table, const char *key)
{
    pt_u32 at = 0;
    while (at < table->n_columns && strcmp(table->columns[at].key, key))
        at++;
    return at;
}

/* "wait (loop.c:3) 80 %" of a stack "wait (loop.c:3) < main (loop.c:9) < _start". */
static struct pt_value innermost(struct pt_metrics *metrics, const char *stack, double percent)
{
    const char *end = strstr(stack, " < ");
    const int n = end ? (int)(end - stack) : (int)strlen(stack);
    return pt_text(pt_metrics_format(metrics, "%.*s %.0f %%", n, stack, percent));
}

/* Of the stacks that count, the one with the most time: the main thread's where it has any. */
static struct pt_value heaviest(struct pt_metrics *metrics, const struct pt_table *table, const char *time,
                                const char *reason)
{
    const pt_u32 at = column_of(table, time), stack_at = column_of(table, "stack"),
                 reason_at = column_of(table, "reason");
    double all = 0, most = 0;
    const char *best = NULL;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct pt_value *row = pt_table_row(table, i);
        const char *stack = row[stack_at].type == PT_VALUE_TEXT ? row[stack_at].text : NULL;
        const double s = row[at].type == PT_VALUE_UNKNOWN ? 0 : pt_value_number(row[at]);
        if (!stack || strcmp(row[reason_at].text, reason))
            continue;
        all += s;
        if (s > most) {
            most = s;
            best = stack;
        }
    }
    return best ? innermost(metrics, best, 100 * most / all) : pt_unknown("no stack was taken of it");
}

static void set_off_cpu(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_table *table,
                        enum pt_time_part part)
{
    const char *label = pt_time_parts[part].label;
    const struct pt_value off = pt_metrics_get(metrics, scope, "cpu.off_s"); /* why there is no table */
    const bool is_refused = off.type == PT_VALUE_UNKNOWN && off.reason && strcmp(off.reason, "not measured");
    struct pt_value where = pt_unknown(is_refused ? off.reason : "needs the CPU profile of proftrace run");
    if (table)
        where = heaviest(metrics, table, "main_s", label);
    if (table && where.type == PT_VALUE_UNKNOWN)
        where = heaviest(metrics, table, "off_s", label);
    pt_metrics_set(metrics, scope, pt_metrics_format(metrics, "where.%s", pt_time_parts[part].id), where);
}

/* Of the kernel's work for fork only the caller is known; libc's frames of it are not the program's. */
static const char *caller_of_fork(const char *stack)
{
    static const char *const names[] = {"fork", "_Fork", "__libc_fork", "__run_fork", "__fork", "_IO_new_proc_open"};
    bool forks = false;
    for (;;) {
        bool is_fork = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            is_fork |= !strncmp(stack, names[i], strlen(names[i]));
        const char *next = strstr(stack, " < ");
        if (!is_fork || !next)
            return forks && !is_fork ? stack : NULL;
        forks = true;
        stack = next + 3;
    }
}

static struct pt_value where_it_forks(struct pt_metrics *metrics, const struct pt_table *table)
{
    if (!table)
        return pt_unknown("needs the CPU profile of proftrace run");
    const pt_u32 stack_at = column_of(table, "stack"), time_at = column_of(table, "cpu_s");
    double all = 0, most = 0;
    const char *best = NULL;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct pt_value *row = pt_table_row(table, i);
        const char *stack = row[stack_at].type == PT_VALUE_TEXT ? caller_of_fork(row[stack_at].text) : NULL;
        const double s = stack ? pt_value_number(row[time_at]) : 0;
        all += s;
        if (s > most) {
            most = s;
            best = stack;
        }
    }
    return best ? innermost(metrics, best, 100 * most / all) : pt_unknown("no sample met it");
}

static void finish(void *state, struct pt_profile *profile)
{
    static const enum pt_time_part parts[] = {PT_PART_sleep,   PT_PART_gil_wait,   PT_PART_child_wait,
                                              PT_PART_network, PT_PART_page_fault, PT_PART_data_wait};
    struct places *places = state;
    struct pt_metrics *metrics = &profile->metrics;
    if (places->n)
        qsort(places->items, places->n, sizeof *places->items, by_bytes);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        const struct pt_scope scope = pt_scope_stage(stage);
        const struct pt_table *off = pt_metrics_find_table(metrics, scope, "cpu.off_stacks");
        const struct pt_table *on = pt_metrics_find_table(metrics, scope, "cpu.stacks");
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            set_off_cpu(metrics, scope, off, parts[i]);
        pt_metrics_set(metrics, scope, "where.fork", where_it_forks(metrics, on));
        table_of_files(places, stage);
    }
    free(places->items);
    pt_map_fini(&places->by_file);
    pt_intern_fini(&places->paths);
}

const struct pt_analysis pt_analysis_places = {
    .name = "places",
    .summary = "where the program waits, and the files that it maps",
    .categories = PT_CATEGORY_IO,
    .state_size = sizeof(struct places),
    .begin = begin,
    .event = event,
    .finish = finish,
};
