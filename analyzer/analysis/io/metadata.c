/* SPDX-License-Identifier: MIT
 *
 * Metadata: calls about files rather than their content: questions, and changes (making, truncating, renaming,
 * deleting). Totals are exact; failed calls, the directories, and which opens make or truncate a file, come from
 * events.
 *
 * Threads: one. State: one counter pair per directory and stage, at most MAX_DIRECTORIES. Never: counts reads and
 * writes.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/call_class.h"
#include "facts/code_kind.h"
#include "facts/path/critical_path.h"
#include "facts/path/split_time.h"
#include "util/whole.h"
#include "call_gaps.h"
#include "file_table.h"

enum { MAX_DIRECTORIES = 50000, MAX_ROWS = 50 };

/* All that imports and starting programs looks for is one row: no advice about data is for it. */
static const char imports[] = PT_PROGRAM_FILES;

struct directory {
    bool is_imports;
    const char *path; /* in the arena; NULL = those above MAX_DIRECTORIES */
    pt_u32 stage;
    pt_u64 calls, failed, ns;
};

/* Of a stage. */
struct calls {
    pt_u64 events, around_ns;   /* around: gaps between them */
    pt_u64 changes, changes_ns; /* with the gaps before them */
    pt_u64 opens, changing_opens, closes,
        closes_ns;                        /* the closes of files that were made or emptied are changes, too */
    pt_u64 preparing_calls, preparing_ns; /* right behind opens that change */
    struct {
        pt_u64 calls, failed, stats, ns, around_ns;
    } of_imports;
    struct {
        struct pt_split_time questions, changes; /* closes are of both */
    } time;
    struct {
        struct pt_split_sum questions, changes, closes;
    } sums;
};

struct metadata {
    struct pt_profile *profile;
    PT_VEC(struct directory);
    struct pt_file_table directories;
    struct pt_intern names;
    struct pt_gaps gaps, preparing_gaps;
    struct calls *stages;
    pt_u64 *imports_ns; /* by process */
};

/* Longer than what an interpreter does between two lookups. */
#define LONGEST_GAP_NS 10000
/* Of what changes to files take, at most, for what is written into them. */
#define MOST_FOR_WRITES 0.25
/* Less is what starts take. */
#define LEAST_IMPORTS_S 0.5

/* All metadata events and io_open have { i32 result, u32 path, ... }; the third word is dir_path in some. */
static pt_u32 dir_path_of(const struct pt_event *e)
{
    switch (e->desc->kind) {
    case PT_KIND_io_open:
        return pt_event_as(e, io_open)->dir_path;
    case PT_KIND_meta_stat:
        return pt_event_as(e, meta_stat)->dir_path;
    case PT_KIND_meta_access:
        return pt_event_as(e, meta_access)->dir_path;
    case PT_KIND_meta_read_link:
        return pt_event_as(e, meta_read_link)->dir_path;
    case PT_KIND_meta_unlink:
        return pt_event_as(e, meta_unlink)->dir_path;
    case PT_KIND_meta_make_dir:
        return pt_event_as(e, meta_make_dir)->dir_path;
    default:
        return 0;
    }
}

static const char *directory_name(void *context, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (pt_code_is_program_file(path))
        return pt_intern_text(context, imports);
    const char *name = pt_intern_bytes(context, path, !slash ? 0 : slash == path ? 1 : (size_t)(slash - path));
    return pt_code_is_program_directory(name) ? pt_intern_text(context, imports) : name;
}

static void begin(void *state, struct pt_profile *profile)
{
    struct metadata *metadata = state;
    metadata->profile = profile;
    metadata->directories = (struct pt_file_table){
        .profile = profile, .most = MAX_DIRECTORIES, .group = directory_name, .context = &metadata->names};
    metadata->stages = pt_calloc(profile->stages.n, sizeof *metadata->stages);
    metadata->imports_ns = pt_calloc(profile->session->n_processes, sizeof *metadata->imports_ns);
}

static bool is_change(const struct pt_event *e)
{
    switch (e->desc->kind) {
    case PT_KIND_io_open:
        return pt_event_as(e, io_open)->flags & (O_CREAT | O_TRUNC);
    case PT_KIND_meta_unlink:
    case PT_KIND_meta_rename:
    case PT_KIND_meta_link:
    case PT_KIND_meta_make_dir:
    case PT_KIND_meta_set_attr:
        return true;
    default:
        return false;
    }
}

/* What an interpreter asks of a file that it has just opened, with its own way from one to the next: how large it is,
 * and where it stands. Python's open(): fstat and two seeks. */
#define MOST_PREPARING 3

static void note_preparing(struct metadata *metadata, struct calls *calls, const struct pt_event *e)
{
    const bool is_open = e->desc->kind == PT_KIND_io_open && is_change(e);
    const bool prepares = e->desc->kind == PT_KIND_io_seek || e->desc->kind == PT_KIND_meta_stat;
    const pt_u64 gap_ns = pt_gap_before(&metadata->preparing_gaps, e, is_open || prepares, LONGEST_GAP_NS);
    if (!prepares || !gap_ns)
        return;
    calls->preparing_calls++;
    calls->preparing_ns += (pt_u64)e->duration_ns + gap_ns;
}

/* No more of them than the opens can have had: others seek and ask, too. */
static double preparing_s(const struct calls *seen)
{
    const double calls = (double)seen->preparing_calls, most = MOST_PREPARING * (double)seen->changing_opens;
    return calls > 0 ? (double)seen->preparing_ns / 1e9 * fmin(1, most / calls) : 0;
}

static bool is_about_files(pt_u32 kind)
{
    const enum pt_call_class which = pt_call_class_of(kind);
    return which == PT_CALL_STAT || which == PT_CALL_OPEN || kind == PT_KIND_io_close ||
           (kind >= PT_KIND_meta_access && kind <= PT_KIND_meta_get_attr);
}

static void was_import(struct metadata *metadata, struct calls *calls, const struct pt_event *e, pt_u64 around_ns)
{
    calls->of_imports.calls++;
    calls->of_imports.failed += e->result < 0;
    calls->of_imports.stats += e->desc->kind == PT_KIND_meta_stat;
    calls->of_imports.ns += (pt_u64)e->duration_ns;
    calls->of_imports.around_ns += around_ns;
    metadata->imports_ns[e->process->index] += (pt_u64)e->duration_ns + around_ns;
}

/* Whose time it is, but for the program's own files. */
static void note_whose(const struct metadata *metadata, struct calls *calls, const struct pt_event *e, pt_u64 around_ns)
{
    const struct pt_critical_paths *paths = metadata->profile->facts->paths;
    const bool is_close = e->desc->kind == PT_KIND_io_close, changes = is_change(e);
    struct pt_split_sum *sum = is_close ? &calls->sums.closes : changes ? &calls->sums.changes : &calls->sums.questions;
    const enum pt_whose whose = pt_whose_event(paths, e);
    sum->ns[whose] += (double)e->duration_ns + (double)around_ns;
    if (is_close || changes)
        pt_split_time_add_as(&calls->time.changes, whose, paths, e, e->start_ns - (pt_i64)around_ns);
    if (is_close || !changes)
        pt_split_time_add_as(&calls->time.questions, whose, paths, e, e->start_ns - (pt_i64)around_ns);
}

static bool add_to_directory(struct metadata *metadata, struct calls *calls, const struct pt_event *e, pt_u64 around_ns)
{
    const pt_u32 path = ((const struct pt_ev_io_close *)(const void *)e->payload)->path, dir_path = dir_path_of(e);
    struct pt_file_row row;
    if (!pt_file_row_of(&metadata->directories, e->process, path, dir_path, &row))
        return false;
    if (row.is_new)
        pt_vec_push(metadata, ((struct directory){
                                  .path = row.name,
                                  .stage = row.stage,
                                  .is_imports = row.name && !strcmp(row.name, imports),
                              }));
    struct directory *d = &metadata->items[row.number];
    d->calls++;
    d->failed += e->result < 0;
    d->ns += (pt_u64)e->duration_ns;
    if (d->is_imports)
        was_import(metadata, calls, e, around_ns);
    return d->is_imports;
}

static void event(void *state, const struct pt_event *e)
{
    struct metadata *metadata = state;
    const pt_u32 stage = pt_profile_stage_of(metadata->profile, e->process);
    const bool counts = is_about_files(e->desc->kind);
    struct calls *calls = &metadata->stages[stage];
    const pt_u64 around_ns = pt_gap_before(&metadata->gaps, e, counts, LONGEST_GAP_NS);
    note_preparing(metadata, calls, e);
    calls->around_ns += around_ns;
    calls->events += counts && e->desc->kind != PT_KIND_meta_read_dir; /* of many entries, one event */
    calls->opens += e->desc->kind == PT_KIND_io_open;
    calls->closes += e->desc->kind == PT_KIND_io_close;
    calls->closes_ns += e->desc->kind == PT_KIND_io_close ? (pt_u64)e->duration_ns + around_ns : 0;
    if (counts && is_change(e)) {
        calls->changing_opens += e->desc->kind == PT_KIND_io_open;
        calls->changes++;
        calls->changes_ns += (pt_u64)e->duration_ns + around_ns;
    }
    if (!counts)
        return;
    const bool is_close = e->desc->kind == PT_KIND_io_close;
    if (is_close || !add_to_directory(metadata, calls, e, around_ns))
        note_whose(metadata, calls, e, around_ns);
}

static int by_stage_time(const void *a, const void *b)
{
    const struct directory *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->is_imports != y->is_imports)
        return x->is_imports ? 1 : -1; /* data first */
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return strcmp(x->path ? x->path : "", y->path ? y->path : "");
}

struct directory_row {
    const char *path;
    pt_u64 calls, failed;
    double total_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct directory_row, path, TEXT, "Directory"),
    PT_COLUMN(struct directory_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct directory_row, failed, COUNT, "Failed"),
    PT_COLUMN(struct directory_row, total_s, SECONDS, "Time"),
};
static const struct pt_table_kind by_directory = {PT_VIEW_directories, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void table_of_directories(const struct metadata *metadata, pt_u32 stage, struct pt_metrics *metrics)
{
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &by_directory);
    for (size_t i = 0; i < metadata->n; i++) {
        const struct directory *d = &metadata->items[i];
        if (d->stage != stage || (!d->is_imports && !pt_rows_have_room(&rows)))
            continue;
        pt_rows_add(&rows, &(struct directory_row){
                               .path = d->path ? pt_metrics_text(metrics, d->path) : "(other directories)",
                               .calls = d->calls,
                               .failed = d->failed,
                               .total_s = (double)d->ns / 1e9,
                           });
    }
}

static double but_for(double all, double part)
{
    return fmax(all - part, 0);
}

/* What the critical process waits for; beside it others import at the same time. */
static void set_imports_cost(const struct metadata *metadata, pt_u32 stage, double scale, double wall_s)
{
    struct pt_profile *profile = metadata->profile;
    double cost_s = 0;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        if (pt_profile_stage_of(profile, profile->session->processes[i]) == stage &&
            pt_path_has(profile->facts->paths, profile->session->processes[i]))
            cost_s += scale * (double)metadata->imports_ns[i] / 1e9;
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "imports.cost_s", pt_real(cost_s));
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "imports.share_percent",
                   wall_s > 0 && cost_s >= LEAST_IMPORTS_S ? pt_real(100 * cost_s / wall_s) : pt_real(0));
}

/* What could be gained of questions and changes, in proportion to all of them: of closes the changes have a part. */
struct gain {
    double of_questions, of_changes;
};

static double gain_of(const struct pt_split_time *time, const struct pt_split_sum *part,
                      const struct pt_profile *profile, pt_u32 stage)
{
    double ns = 0;
    for (int i = 0; i < PT_WHOSE__COUNT; i++)
        ns += part->ns[i];
    return ns > 0 ? fmin(1e9 * pt_split_time_part_s(time, part, profile, stage) / ns, 1) : 1;
}

static struct gain gain(const struct calls *seen, double of_closes, const struct pt_profile *profile, pt_u32 stage)
{
    struct pt_split_sum questions = seen->sums.questions, changes = seen->sums.changes;
    for (int i = 0; i < PT_WHOSE__COUNT; i++) {
        questions.ns[i] += (1 - fmin(of_closes, 1)) * seen->sums.closes.ns[i];
        changes.ns[i] += fmin(of_closes, 1) * seen->sums.closes.ns[i];
    }
    return (struct gain){gain_of(&seen->time.questions, &questions, profile, stage),
                         gain_of(&seen->time.changes, &changes, profile, stage)};
}

static void sums(const struct metadata *metadata, pt_u32 stage, struct pt_metrics *metrics)
{
    const struct pt_profile *profile = metadata->profile;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_kind_totals sum = {0};
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const struct pt_kind_totals totals = pt_profile_stage_totals(profile, stage, kind);
        if (is_about_files(kind))
            pt_kind_totals_add(&sum, &totals);
    }
    /* Events may have been overwritten: the gaps of the rest are scaled up to all calls. */
    const struct calls *seen = &metadata->stages[stage];
    const struct pt_kind_totals entries = pt_profile_stage_totals(profile, stage, PT_KIND_meta_read_dir);
    const double scale =
        seen->events ? fmax(1, but_for((double)sum.calls, (double)entries.calls) / (double)seen->events) : 1;
    /* What a program is made of is not its data. */
    const double imports_s = scale * (double)seen->of_imports.ns / 1e9;
    const double imports_around_s = scale * (double)seen->of_imports.around_ns / 1e9;
    const double calls = but_for((double)sum.calls, scale * (double)seen->of_imports.calls);
    const double wait_s = but_for((double)sum.ns / 1e9, imports_s);
    const double all_s = wait_s + but_for(scale * (double)seen->around_ns / 1e9, imports_around_s);
    /* Of pipes and sockets, too, which nobody opened. */
    const double all_closes = fmax((double)seen->closes, (double)seen->opens);
    const double of_closes = all_closes > 0 ? (double)seen->changing_opens / all_closes : 0;
    const double changes_ns = (double)seen->changes_ns + of_closes * (double)seen->closes_ns;
    const double changes_s = fmin(all_s, scale * changes_ns / 1e9);
    /* Files that are replaced are written each time: that goes, too. Pipes are written, as well, so that it is a part.
     */
    const struct pt_kind_totals writes = pt_profile_stage_totals(profile, stage, PT_KIND_io_write);
    const double rewrites_s = (double)writes.calls <= scale * (double)seen->changes
                                  ? fmin((double)writes.ns / 1e9, MOST_FOR_WRITES * changes_s)
                                  : 0;
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
    pt_metrics_set(metrics, scope, "meta.calls", pt_integer((pt_u64)llround(calls)));
    pt_metrics_set(metrics, scope, "meta.failed.calls",
                   pt_integer((pt_u64)llround(but_for((double)sum.errors, scale * (double)seen->of_imports.failed))));
    pt_metrics_set(metrics, scope, "meta.wait_s", pt_real(wait_s));
    const struct gain possible = gain(seen, of_closes, profile, stage);
    pt_metrics_set(metrics, scope, "meta.cost_s", pt_real(possible.of_questions * (all_s - changes_s)));
    pt_metrics_set(metrics, scope, "meta.changes.calls", pt_integer(pt_whole(scale * (double)seen->changes)));
    pt_metrics_set(metrics, scope, "meta.changes.cost_s",
                   pt_real(possible.of_changes * (changes_s + rewrites_s + scale * preparing_s(seen))));
    pt_metrics_set(metrics, scope, "meta.rate.calls_per_s",
                   wall_s > 0 ? pt_real(calls / wall_s) : pt_unknown("the stage took no time"));
    const struct pt_kind_totals stat = pt_profile_stage_totals(profile, stage, PT_KIND_meta_stat);
    pt_metrics_set(metrics, scope, "meta.stat.calls",
                   pt_integer((pt_u64)llround(but_for((double)stat.calls, scale * (double)seen->of_imports.stats))));
    pt_metrics_set(metrics, scope, "imports.calls",
                   pt_integer((pt_u64)llround(scale * (double)seen->of_imports.calls)));
    pt_metrics_set(metrics, scope, "imports.failed.calls",
                   pt_integer((pt_u64)llround(scale * (double)seen->of_imports.failed)));
    set_imports_cost(metadata, stage, scale, wall_s);
}

static void finish(void *state, struct pt_profile *profile)
{
    struct metadata *metadata = state;
    if (metadata->n)
        qsort(metadata->items, metadata->n, sizeof *metadata->items, by_stage_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        sums(metadata, stage, &profile->metrics);
        table_of_directories(metadata, stage, &profile->metrics);
    }
    free(metadata->items);
    pt_file_table_fini(&metadata->directories);
    pt_intern_fini(&metadata->names);
    pt_gaps_fini(&metadata->gaps);
    pt_gaps_fini(&metadata->preparing_gaps);
    free(metadata->stages);
    free(metadata->imports_ns);
}

const struct pt_analysis pt_analysis_metadata = {
    .name = "metadata",
    .summary = "calls about files: stat, access, open, failed lookups, changes, by directory",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_META,
    .state_size = sizeof(struct metadata),
    .begin = begin,
    .event = event,
    .finish = finish,
};
