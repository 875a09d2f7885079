/* SPDX-License-Identifier: MIT
 *
 * The program's own annotations: ranges with total and self time, steps, epochs, marks.
 *
 * Threads: one. State: a stack of open ranges per thread that uses them, a sum per name and stage (at most MAX_NAMES,
 * and MAX_PROMISED beyond for which a promise was made), and one per hour of each that has a promise (at most
 * MAX_HOURS).
 * Never: requires a range to end: an open one ends with its thread, or with its process if another thread could have
 * ended it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "model/holes.h"
#include "profile/first_rank.h"
#include "profile/histogram.h"
#include "util/hash.h"
#include "util/whole.h"
#include "open_ranges.h"

enum { MAX_DEPTH = 1 << 16, MAX_RECURSION = 64, MAX_NAMES = 4096, MAX_ROWS = 50, MAX_HOURS = 4096 };
enum { MAX_PROMISED = 256 };
#define HOUR_NS 3600000000000
static const char others[] = "(other ranges)";

struct range {
    const char *name;
    pt_u32 stage;
    pt_u64 calls;
    pt_i64 total_ns, self_ns;
    pt_i64 sla_ns; /* a call must not take longer, as the program said; 0 = it did not */
    pt_u64 violations;
    bool overlaps; /* some overlap others or span threads: they have no self time */
    struct pt_histogram *durations;
};

struct open_range {
    pt_u32 range;
    pt_i64 start_ns, inner_ns;
};

struct user_thread {
    const struct pt_thread *thread;
    pt_u32 depth; /* also counts ranges deeper than MAX_DEPTH */
    struct {
        PT_VEC(struct open_range); /* as many as were ever open at once; the innermost is at depth - 1 */
    } open;
    pt_i64 step_ns; /* when the step that runs began; -1 = none */
    pt_u32 holes;   /* that were passed */
};

struct stage_steps {
    pt_u64 steps, epochs;
    pt_i64 first_rank; /* of those that mark steps or epochs */
    struct pt_histogram durations;
};

/* Calls of a range that ended in one hour of the run; only of ranges with a promise. */
struct range_hour {
    pt_u32 range, hour;
    pt_u64 violations;
    struct pt_histogram durations;
};

struct ranges {
    struct pt_profile *profile;
    struct {
        PT_VEC(struct range_hour *);
    } hours;
    PT_VEC(struct range);
    struct {
        PT_VEC(struct user_thread *);
    } threads;
    struct pt_map by_thread; /* address of the thread -> index in threads, plus 1 */
    struct pt_map by_name;   /* stage, interned name -> index, plus 1 */
    struct pt_intern names;
    struct stage_steps *stages;
    struct pt_open_ranges overlapping;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct ranges *ranges = state;
    ranges->profile = profile;
    ranges->stages = pt_calloc(profile->stages.n, sizeof *ranges->stages);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        ranges->stages[stage].first_rank = PT_NO_RANK;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        struct stage_steps *stage = &ranges->stages[pt_profile_stage_of(profile, process)];
        stage->first_rank = pt_first_marking_rank_with(stage->first_rank, process);
    }
}

static struct user_thread *thread_of(struct ranges *ranges, const struct pt_event *e)
{
    pt_u64 *slot = pt_map_at(&ranges->by_thread, (pt_u64)(uintptr_t)e->thread);
    if (!*slot) {
        struct user_thread *thread = pt_calloc(1, sizeof *thread);
        *thread = (struct user_thread){.thread = e->thread, .step_ns = -1};
        pt_vec_push(&ranges->threads, thread);
        *slot = ranges->threads.n;
    }
    return ranges->threads.items[*slot - 1];
}

/* ProfilerStep#0, ProfilerStep#1 ... are one range, as often as there were steps. */
static const char *family_of(struct ranges *ranges, const char *text, size_t most)
{
    const char *hash = strrchr(text, '#');
    char family[256];
    if (hash && hash[1] && !hash[1 + strspn(hash + 1, "0123456789")] && (size_t)(hash - text) <= sizeof family - 3) {
        snprintf(family, sizeof family, "%.*s#*", (int)(hash - text), text);
        text = family;
    }
    return ranges->n < most ? pt_intern_text(&ranges->names, text) : pt_intern_known(&ranges->names, text);
}

/* A new one where there are fewer than `most`. */
static pt_u32 range_within(struct ranges *ranges, pt_u32 stage, const char *text, size_t most)
{
    const char *name = family_of(ranges, text ? text : "(unknown)", most);
    if (ranges->n >= most && !pt_map_find(&ranges->by_name, pt_hash_pair((uintptr_t)name, stage)))
        name = NULL;
    pt_u64 *slot = pt_map_at(&ranges->by_name, pt_hash_pair((uintptr_t)name, stage));
    if (!*slot) {
        pt_vec_push(ranges, ((struct range){.name = name ? name : others, .stage = stage}));
        ranges->items[ranges->n - 1].durations = pt_calloc(1, sizeof(struct pt_histogram));
        *slot = ranges->n;
    }
    return (pt_u32)(*slot - 1);
}

static pt_u32 range_of(struct ranges *ranges, pt_u32 stage, const char *text)
{
    return range_within(ranges, stage, text, MAX_NAMES);
}

static void push(struct ranges *ranges, struct user_thread *thread, const struct pt_event *e, pt_u32 stage)
{
    if (thread->depth < MAX_DEPTH) {
        const struct open_range open = {
            .range = range_of(ranges, stage, pt_process_string(e->process, pt_event_as(e, range_begin)->name)),
            .start_ns = e->start_ns,
        };
        if (thread->depth == thread->open.n)
            pt_vec_push(&thread->open, open);
        else
            thread->open.items[thread->depth] = open;
    }
    thread->depth++;
}

static void add_to_hour(struct ranges *ranges, pt_u32 index, pt_i64 end_ns, pt_i64 ns)
{
    const struct range *range = &ranges->items[index];
    const pt_u32 hour = end_ns > 0 ? (pt_u32)(end_ns / HOUR_NS) : 0;
    size_t i = ranges->hours.n;
    while (i && !(ranges->hours.items[i - 1]->range == index && ranges->hours.items[i - 1]->hour == hour))
        i--;
    if (!i) {
        if (ranges->hours.n >= MAX_HOURS)
            return;
        struct range_hour *new = pt_calloc(1, sizeof *new);
        new->range = index;
        new->hour = hour;
        pt_vec_push(&ranges->hours, new);
        i = ranges->hours.n;
    }
    ranges->hours.items[i - 1]->violations += ns > range->sla_ns;
    pt_histogram_add(&ranges->hours.items[i - 1]->durations, (pt_u64)ns);
}

static void add_call(struct ranges *ranges, pt_u32 index, pt_i64 end_ns, pt_i64 ns)
{
    struct range *range = &ranges->items[index];
    range->calls++;
    pt_histogram_add(range->durations, (pt_u64)ns);
    if (!range->sla_ns)
        return;
    range->violations += ns > range->sla_ns;
    add_to_hour(ranges, index, end_ns, ns);
}

/* Within itself its time was counted already, as that of the call around it. */
static bool is_within_itself(const struct user_thread *thread)
{
    const pt_u32 range = thread->open.items[thread->depth].range;
    for (pt_u32 i = thread->depth; i-- > 0 && thread->depth - i <= MAX_RECURSION;)
        if (thread->open.items[i].range == range)
            return true;
    return false;
}

static void pop(struct ranges *ranges, struct user_thread *thread, pt_i64 end_ns)
{
    if (!thread->depth || --thread->depth >= MAX_DEPTH)
        return;
    const struct open_range *open = &thread->open.items[thread->depth];
    const pt_i64 ns = end_ns > open->start_ns ? end_ns - open->start_ns : 0;
    ranges->items[open->range].self_ns += ns > open->inner_ns ? ns - open->inner_ns : 0;
    add_call(ranges, open->range, end_ns, ns);
    ranges->items[open->range].total_ns += is_within_itself(thread) ? 0 : ns;
    if (thread->depth)
        thread->open.items[thread->depth - 1].inner_ns += ns;
}

/* ---- ranges that overlap ---- */

static void end_overlapping(void *context, const struct pt_open_range *open, pt_i64 end_ns)
{
    struct ranges *ranges = context;
    const pt_i64 ns = end_ns > open->start_ns ? end_ns - open->start_ns : 0;
    ranges->items[open->range].overlaps = true;
    ranges->items[open->range].total_ns += ns;
    add_call(ranges, open->range, end_ns, ns);
}

static void open_overlapping(struct ranges *ranges, const struct pt_event *e, pt_u32 stage)
{
    const struct pt_open_range open = {.process = e->process,
                                       .id = pt_event_as(e, range_open)->id,
                                       .range = range_of(ranges, stage, pt_process_string(e->process, e->aux)),
                                       .start_ns = e->start_ns};
    pt_open_ranges_add(&ranges->overlapping, &open, end_overlapping, ranges);
}

static void close_overlapping(struct ranges *ranges, const struct pt_event *e)
{
    struct pt_open_range open;
    if (pt_open_ranges_take(&ranges->overlapping, e->process, pt_event_as(e, range_close)->id, &open))
        end_overlapping(ranges, &open, e->start_ns);
}

static void note_not_followed(struct ranges *ranges)
{
    char note[160];
    if (!ranges->overlapping.not_followed)
        return;
    snprintf(note, sizeof note, "%llu ranges that overlap others are in no table: %d were open at once",
             (unsigned long long)ranges->overlapping.not_followed, PT_MOST_OPEN_RANGES);
    pt_session_note(ranges->profile->session, note);
}

/* ---- promises ---- */

/* A counter "request.sla_s": a call of the range "request" should take no longer than its value. */
static void note_promise(struct ranges *ranges, const struct pt_event *e, pt_u32 stage)
{
    static const char ending[] = ".sla_s";
    const struct pt_ev_counter *counter = pt_event_as(e, counter);
    const char *name = pt_process_string(e->process, counter->name);
    const size_t n = name ? strlen(name) : 0, end = sizeof ending - 1;
    char range[256];
    if (n <= end || n - end >= sizeof range || strcmp(name + n - end, ending) != 0 ||
        !(counter->value > 0 && counter->value < 1e9))
        return;
    snprintf(range, sizeof range, "%.*s", (int)(n - end), name);
    /* Ids in names (job-1, job-2 ...) may have taken all places before it. This may move ranges. */
    const pt_u32 index = range_within(ranges, stage, range, MAX_NAMES + MAX_PROMISED);
    if (ranges->items[index].name != others)
        ranges->items[index].sla_ns = pt_whole_signed(counter->value * 1e9);
}

/* ---- events ---- */

static void step(struct stage_steps *stage, struct user_thread *thread, pt_i64 at_ns)
{
    if (thread->step_ns >= 0 && at_ns >= thread->step_ns)
        pt_histogram_add(&stage->durations, (pt_u64)(at_ns - thread->step_ns));
    thread->step_ns = at_ns;
    stage->steps++;
}

/* What was open where events are missing had gone on until then. */
static void pass_holes(struct ranges *ranges, struct user_thread *thread, const struct pt_event *e)
{
    const struct pt_hole *hole;
    for (; (hole = pt_thread_next_hole(e->thread, e->start_ns, &thread->holes)); thread->step_ns = -1)
        while (thread->depth)
            pop(ranges, thread, hole->from_ns);
}

static void event(void *state, const struct pt_event *e)
{
    struct ranges *ranges = state;
    const pt_u32 stage = pt_profile_stage_of(ranges->profile, e->process);
    struct user_thread *thread = thread_of(ranges, e);
    pass_holes(ranges, thread, e);
    switch (e->desc->kind) {
    case PT_KIND_range_begin:
        push(ranges, thread, e, stage);
        break;
    case PT_KIND_range_end:
        pop(ranges, thread, e->start_ns);
        break;
    case PT_KIND_range_open:
        open_overlapping(ranges, e, stage);
        break;
    case PT_KIND_range_close:
        close_overlapping(ranges, e);
        break;
    case PT_KIND_counter:
        note_promise(ranges, e, stage);
        break;
    case PT_KIND_step:
        if (pt_rank_counts(ranges->stages[stage].first_rank, e->process))
            step(&ranges->stages[stage], thread, e->start_ns);
        break;
    case PT_KIND_epoch:
        ranges->stages[stage].epochs += pt_rank_counts(ranges->stages[stage].first_rank, e->process);
        break;
    default:
        break;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

struct range_row {
    const char *name;
    pt_u64 calls;
    double total_s, p50_s, p95_s, p99_s;
    struct pt_value self_s, sla_s, violations;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct range_row, name, TEXT, "Range"),         PT_COLUMN(struct range_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct range_row, total_s, SECONDS, "Total"),   PT_COLUMN(struct range_row, self_s, SECONDS, "Self"),
    PT_COLUMN(struct range_row, p50_s, SECONDS, "p50"),       PT_COLUMN(struct range_row, p95_s, SECONDS, "p95"),
    PT_COLUMN(struct range_row, p99_s, SECONDS, "p99"),       PT_COLUMN(struct range_row, sla_s, SECONDS, "Promised"),
    PT_COLUMN(struct range_row, violations, COUNT, "Slower"),
};
static const struct pt_table_kind by_name = {PT_VIEW_ranges, .most = MAX_ROWS, PT_COLUMNS(columns)};

static size_t n_promised(const struct ranges *ranges, pt_u32 stage)
{
    size_t n = 0;
    for (size_t i = 0; i < ranges->n; i++)
        n += ranges->items[i].stage == stage && ranges->items[i].sla_ns && ranges->items[i].calls;
    return n;
}

static double quantile_s(const struct pt_histogram *durations, double quantile)
{
    return (double)pt_histogram_quantile(durations, quantile) / 1e9;
}

/* In the order of time; but one with a promise has its row before longer ones: somebody waits for its figure. */
static void table_of_ranges(const struct ranges *ranges, pt_u32 stage, struct pt_metrics *metrics)
{
    const struct pt_value no_promise = pt_unknown("the program promised nothing for it");
    struct pt_table_kind kind = by_name;
    const size_t promised = n_promised(ranges, stage);
    size_t room = promised < MAX_ROWS ? MAX_ROWS - promised : 0; /* for the others */
    kind.n_columns -= promised ? 0 : 2;
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &kind);
    for (size_t i = 0; i < ranges->n; i++) {
        const struct range *range = &ranges->items[i];
        if (range->stage != stage || !range->calls)
            continue;
        if (!range->sla_ns && !room) {
            pt_rows_leave_out(&rows, 1);
            continue;
        }
        room -= !range->sla_ns;
        if (!pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows,
                    &(struct range_row){
                        .name = pt_metrics_text(metrics, range->name),
                        .calls = range->calls,
                        .total_s = (double)range->total_ns / 1e9,
                        .self_s = range->overlaps ? pt_unknown("it overlaps other ranges") : pt_seconds(range->self_ns),
                        .p50_s = quantile_s(range->durations, 0.50),
                        .p95_s = quantile_s(range->durations, 0.95),
                        .p99_s = quantile_s(range->durations, 0.99),
                        .sla_s = range->sla_ns ? pt_seconds(range->sla_ns) : no_promise,
                        .violations = range->sla_ns ? pt_integer(range->violations) : no_promise,
                    });
    }
}

/* ---- by hour ---- */

struct hour_row {
    const char *name;
    double hour_s, mean_s, p50_s, p95_s, p99_s, max_s, sla_s;
    pt_u64 calls, violations;
};

static const struct pt_column hour_columns[] = {
    PT_COLUMN(struct hour_row, name, TEXT, "Range"),        PT_COLUMN(struct hour_row, hour_s, SECONDS, "Hour from"),
    PT_COLUMN(struct hour_row, calls, COUNT, "Calls"),      PT_COLUMN(struct hour_row, mean_s, SECONDS, "Mean"),
    PT_COLUMN(struct hour_row, p50_s, SECONDS, "p50"),      PT_COLUMN(struct hour_row, p95_s, SECONDS, "p95"),
    PT_COLUMN(struct hour_row, p99_s, SECONDS, "p99"),      PT_COLUMN(struct hour_row, max_s, SECONDS, "Longest"),
    PT_COLUMN(struct hour_row, sla_s, SECONDS, "Promised"), PT_COLUMN(struct hour_row, violations, COUNT, "Slower"),
};
static const struct pt_table_kind by_hour = {PT_VIEW_requests_by_hour, .most = MAX_HOURS, PT_COLUMNS(hour_columns)};

/* Hours are in the order of time, as the events were. */
static void table_of_hours(const struct ranges *ranges, pt_u32 stage, struct pt_metrics *metrics)
{
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &by_hour);
    for (size_t i = 0; i < ranges->hours.n; i++) {
        const struct range_hour *hour = ranges->hours.items[i];
        const struct range *range = &ranges->items[hour->range];
        if (range->stage != stage || !pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows, &(struct hour_row){
                               .name = pt_metrics_text(metrics, range->name),
                               .hour_s = hour->hour * (HOUR_NS / 1e9),
                               .calls = hour->durations.count,
                               .mean_s = (double)hour->durations.sum / (double)hour->durations.count / 1e9,
                               .p50_s = quantile_s(&hour->durations, 0.50),
                               .p95_s = quantile_s(&hour->durations, 0.95),
                               .p99_s = quantile_s(&hour->durations, 0.99),
                               .max_s = (double)hour->durations.max / 1e9,
                               .sla_s = (double)range->sla_ns / 1e9,
                               .violations = hour->violations,
                           });
    }
}

static void steps_results(const struct stage_steps *steps, pt_u32 stage, struct pt_metrics *metrics)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_metrics_set(metrics, scope, "steps.count", pt_integer(steps->steps));
    pt_metrics_set(metrics, scope, "epochs.count", pt_integer(steps->epochs));
    if (!steps->durations.count)
        return;
    pt_metrics_set(metrics, scope, "steps.p50_s", pt_seconds((pt_i64)pt_histogram_quantile(&steps->durations, 0.50)));
    pt_metrics_set(metrics, scope, "steps.p95_s", pt_seconds((pt_i64)pt_histogram_quantile(&steps->durations, 0.95)));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct ranges *ranges = state;
    for (size_t i = 0; i < ranges->threads.n; i++) {
        struct user_thread *thread = ranges->threads.items[i];
        while (thread->depth)
            pop(ranges, thread, thread->thread->end_ns);
        free(thread->open.items);
        free(thread);
    }
    note_not_followed(ranges);
    pt_open_ranges_fini(&ranges->overlapping, end_overlapping, ranges);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        table_of_hours(ranges, stage, &profile->metrics); /* before they are sorted: hours know them by number */
    if (ranges->n)
        qsort(ranges->items, ranges->n, sizeof *ranges->items, by_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        table_of_ranges(ranges, stage, &profile->metrics);
        steps_results(&ranges->stages[stage], stage, &profile->metrics);
    }
    for (size_t i = 0; i < ranges->n; i++)
        free(ranges->items[i].durations);
    for (size_t i = 0; i < ranges->hours.n; i++)
        free(ranges->hours.items[i]);
    free(ranges->hours.items);
    free(ranges->items);
    free(ranges->threads.items);
    free(ranges->stages);
    pt_map_fini(&ranges->by_thread);
    pt_map_fini(&ranges->by_name);
    pt_intern_fini(&ranges->names);
}

const struct pt_analysis pt_analysis_ranges = {
    .name = "ranges",
    .summary = "the program's own ranges, steps and epochs",
    .categories = PT_CATEGORY_USER,
    .state_size = sizeof(struct ranges),
    .begin = begin,
    .event = event,
    .finish = finish,
};
