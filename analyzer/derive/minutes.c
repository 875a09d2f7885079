/* SPDX-License-Identifier: MIT
 *
 * A stage's totals by minute: how much of what it did when, also where the events are long overwritten, and of which
 * times the events are still there. From the totals of the trace files.
 *
 * Threads: one. State: a few hundred intervals of one stage. Never: makes a run of two minutes longer to read; loses a
 * call: all intervals together are the stage's totals; says 0 of what was not recorded.
 */
#include <stdlib.h>

#include "proftrace/events.h"
#include "derive.h"
#include "facts/call_class.h"
#include "model/minutes.h"
#include "model/notes.h"
#include "model/window.h"
#include "profile/first_rank.h"
#include "profile/layers_missing.h"
#include "util/auto.h"
#include "util/text/fmt.h"

/* Rows of a stage: a month by the hour. */
enum { MOST_BINS = 744 };
/* Of a run that is not longer, the events say it better. */
enum { LEAST_MINUTES = 3 };
/* Of an interval: a rest that is shorter says no rate. */
enum { LEAST_PART = 10 };

enum detail { DETAIL_ALL, DETAIL_PART, DETAIL_NONE };
static const char *const details[] = {"all", "part", "none"};

struct bin {
    pt_u64 calls, errors, read_bytes, write_bytes, network_bytes, allocs, allocated_bytes, steps;
    pt_u64 file_ns, network_ns, wait_ns;
    pt_i64 coarsest_ns; /* of the intervals that are known */
    enum detail detail;
};

/* The last one ends with the stage: it is shorter, or a little longer. */
struct bins {
    struct bin *items;
    pt_u32 n;
    pt_i64 start_ns, width_ns, end_ns;
    bool counts_steps; /* the process that is being added: ranks make their steps together */
};

/* ---- parts of totals ---- */

static pt_u32 bin_at(const struct bins *bins, pt_i64 at_ns)
{
    const pt_i64 index = at_ns > bins->start_ns ? (at_ns - bins->start_ns) / bins->width_ns : 0;
    return index < bins->n ? (pt_u32)index : bins->n - 1;
}

static pt_i64 start_of(const struct bins *bins, pt_u32 i)
{
    return bins->start_ns + i * bins->width_ns;
}

static pt_i64 end_of(const struct bins *bins, pt_u32 i)
{
    return i + 1 < bins->n ? start_of(bins, i + 1) : bins->end_ns;
}

static pt_i64 length_of(const struct bins *bins, pt_u32 i)
{
    return end_of(bins, i) - start_of(bins, i);
}

/* A part of an interval's time; all of them together are `length_ns`. */
struct span {
    pt_i64 from_ns, until_ns, length_ns;
};

/* Its share of the whole, so that all of them are the whole. */
static pt_u64 share(pt_u64 whole, const struct span *span)
{
    const unsigned __int128 wide = whole;
    const pt_u64 length = (pt_u64)span->length_ns;
    if (!length)
        return whole;
    return (pt_u64)(wide * (pt_u64)span->until_ns / length - wide * (pt_u64)span->from_ns / length);
}

static bool moves(enum pt_call_class class, enum pt_call_class which)
{
    return class == which || class == PT_CALL_COPY;
}

static void add_calls(struct bin *bin, pt_u32 kind, const struct pt_kind_totals *part)
{
    const enum pt_call_class class = pt_call_class_of(kind);
    if (class == PT_CALL_NONE)
        return;
    bin->calls += part->calls;
    bin->errors += part->errors;
    bin->read_bytes += moves(class, PT_CALL_READ) ? part->bytes : 0;
    bin->write_bytes += moves(class, PT_CALL_WRITE) ? part->bytes : 0;
    bin->network_bytes += class == PT_CALL_NETWORK ? part->bytes : 0;
    /* stdio lies above the descriptors, whose time is counted where it calls them itself: not here twice */
    if (class <= PT_CALL_COPY)
        bin->file_ns += part->ns;
    else if (class == PT_CALL_NETWORK)
        bin->network_ns += part->ns;
    else if (class == PT_CALL_WAIT || class == PT_CALL_LOCK)
        bin->wait_ns += part->ns;
}

static void add_part(void *context, const struct pt_interval *interval)
{
    const struct bins *bins = context;
    /* an end is not within */
    const pt_u32 first = bin_at(bins, interval->from_ns),
                 last =
                     bin_at(bins, interval->until_ns > interval->from_ns ? interval->until_ns - 1 : interval->until_ns);
    const pt_i64 length = interval->until_ns - interval->from_ns;
    for (pt_u32 i = first; i <= last; i++) {
        const struct span span = {i == first ? 0 : start_of(bins, i) - interval->from_ns,
                                  i == last ? length : end_of(bins, i) - interval->from_ns, length};
        const struct pt_kind_totals *whole = &interval->totals;
        const struct pt_kind_totals part = {share(whole->calls, &span), share(whole->errors, &span),
                                            share(whole->bytes, &span), share(whole->ns, &span)};
        struct bin *bin = &bins->items[i];
        if (interval->kind == PT_INTERVAL_OF_HEAP) {
            bin->allocs += part.calls;
            bin->allocated_bytes += part.bytes;
            continue;
        }
        bin->coarsest_ns = length > bin->coarsest_ns ? length : bin->coarsest_ns;
        bin->steps += interval->kind == PT_KIND_step && bins->counts_steps ? part.calls : 0;
        add_calls(bin, interval->kind, &part);
    }
}

/* ---- of which times events are there ---- */

static void add_gap(void *context, pt_i64 from_ns, pt_i64 until_ns)
{
    const struct bins *bins = context;
    const pt_u32 first = bin_at(bins, from_ns), last = bin_at(bins, until_ns);
    for (pt_u32 i = first; i <= last; i++) {
        const bool is_whole = from_ns <= start_of(bins, i) && until_ns >= end_of(bins, i);
        if (bins->items[i].detail != DETAIL_NONE)
            bins->items[i].detail = is_whole ? DETAIL_NONE : DETAIL_PART;
    }
}

/* ---- what is not known ---- */

/* Why something of a stage is not known; NULL = it is. */
struct reasons {
    const char *calls, *files, *waits, *network, *heap, *steps;
};

/* As the stage's own number has it. */
static const char *why_no_heap(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_value allocs = pt_metrics_get(&profile->metrics, pt_scope_stage(stage), "heap.allocs.calls");
    return allocs.type != PT_VALUE_UNKNOWN ? NULL : allocs.reason ? allocs.reason : "not recorded";
}

/* Those of a loop that was recognised without its saying so are found in the events, and have no totals. */
static const char *why_no_steps(const struct pt_profile *profile, pt_u32 stage)
{
    const bool are_marked = pt_profile_stage_totals(profile, stage, PT_KIND_step).calls > 0;
    return !are_marked && pt_stage_number(profile, stage, "steps.count") > 0 ? "only steps that are marked have totals"
                                                                             : NULL;
}

static struct reasons reasons_of(const struct pt_profile *profile, pt_u32 stage)
{
    const char *missing = pt_profile_counters_missing(profile, stage);
    if (missing)
        return (struct reasons){missing, missing, missing, missing, missing, missing};
    return (struct reasons){
        .files = pt_profile_why_not_recorded(profile, stage, 1 << PT_LAYER_IO),
        .waits = pt_profile_why_not_recorded(profile, stage, 1 << PT_LAYER_WAITS | 1 << PT_LAYER_LOCKS),
        .network = pt_profile_why_not_recorded(profile, stage, 1 << PT_LAYER_NET),
        .heap = why_no_heap(profile, stage),
        .steps = why_no_steps(profile, stage),
    };
}

static struct pt_value number(pt_u64 n, const char *why_unknown)
{
    return why_unknown ? pt_unknown(why_unknown) : pt_integer(n);
}

static struct pt_value seconds(pt_u64 ns, const char *why_unknown)
{
    return why_unknown ? pt_unknown(why_unknown) : pt_real((double)ns / 1e9);
}

/* ---- stages ---- */

struct row {
    double at_s, seconds;
    struct pt_value calls, errors, read_bytes, write_bytes, network_bytes, allocs, allocated_bytes, steps;
    struct pt_value file_s, network_s, wait_s;
    double known_to_s;
    const char *events;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct row, at_s, SECONDS, "From"),           PT_COLUMN(struct row, seconds, SECONDS, "For"),
    PT_COLUMN(struct row, events, TEXT, "Events"),          PT_COLUMN(struct row, steps, COUNT, "Steps"),
    PT_COLUMN(struct row, calls, COUNT, "Calls"),           PT_COLUMN(struct row, errors, COUNT, "Errors"),
    PT_COLUMN(struct row, read_bytes, BYTES, "Read"),       PT_COLUMN(struct row, write_bytes, BYTES, "Written"),
    PT_COLUMN(struct row, file_s, SECONDS, "In files"),     PT_COLUMN(struct row, wait_s, SECONDS, "Waiting"),
    PT_COLUMN(struct row, network_bytes, BYTES, "Network"), PT_COLUMN(struct row, network_s, SECONDS, "In network"),
    PT_COLUMN(struct row, allocs, COUNT, "Allocations"),    PT_COLUMN(struct row, allocated_bytes, BYTES, "Allocated"),
    PT_COLUMN(struct row, known_to_s, SECONDS, NULL),
};
static const struct pt_table_kind by_minute = {PT_VIEW_minutes, .most = MOST_BINS, PT_COLUMNS(columns)};

static void add_table(struct pt_profile *profile, pt_u32 stage, const struct bins *bins)
{
    struct pt_rows rows = pt_rows(&profile->metrics, pt_scope_stage(stage), &by_minute);
    const struct reasons why = reasons_of(profile, stage);
    for (pt_u32 i = 0; i < bins->n; i++) {
        const struct bin *bin = &bins->items[i];
        const pt_i64 length_ns = length_of(bins, i);
        const pt_i64 known_ns = bin->coarsest_ns > length_ns ? bin->coarsest_ns : length_ns;
        pt_rows_add(&rows, &(struct row){
                               .at_s = (double)(i * bins->width_ns) / 1e9,
                               .seconds = (double)length_ns / 1e9,
                               .calls = number(bin->calls, why.calls),
                               .errors = number(bin->errors, why.calls),
                               .read_bytes = number(bin->read_bytes, why.files),
                               .write_bytes = number(bin->write_bytes, why.files),
                               .network_bytes = number(bin->network_bytes, why.network),
                               .allocs = number(bin->allocs, why.heap),
                               .allocated_bytes = number(bin->allocated_bytes, why.heap),
                               .steps = number(bin->steps, why.steps),
                               .file_s = seconds(bin->file_ns, why.files),
                               .network_s = seconds(bin->network_ns, why.network),
                               .wait_s = seconds(bin->wait_ns, why.waits),
                               .known_to_s = (double)known_ns / 1e9,
                               .events = details[bin->detail],
                           });
    }
}

static void note_what_is_gone(struct pt_profile *profile, pt_u32 stage, const struct bins *bins)
{
    pt_i64 gone_ns = 0;
    for (pt_u32 i = 0; i < bins->n; i++)
        gone_ns += bins->items[i].detail == DETAIL_NONE ? length_of(bins, i) : 0;
    if (!gone_ns)
        return;
    PT_AUTO(pt_freep)
    char *note = pt_asprintf(
        "%s: of %s of its time there are only totals, by %s: the table \"Totals by time\" says of which",
        profile->stages.items[stage].name, pt_fmt_duration(gone_ns).text, pt_fmt_duration(bins->width_ns).text);
    pt_session_note(profile->session, note);
}

/* The longest minute of the stage's processes; 0 = none has any. */
static pt_i64 minute_of(const struct pt_profile *profile, pt_u32 stage)
{
    pt_i64 longest = 0;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const pt_i64 ns = pt_profile_stage_of(profile, process) == stage ? pt_process_minute_ns(process) : 0;
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

/* How many minutes an interval has, so that there are not too many: as people divide hours and days. */
static pt_i64 width_of(pt_i64 minute_ns, pt_i64 wall_ns)
{
    static const pt_i64 minutes[] = {1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440};
    const size_t last = sizeof minutes / sizeof *minutes - 1;
    size_t i = 0;
    while (i < last && wall_ns / (minutes[i] * minute_ns) >= MOST_BINS)
        i++;
    const pt_i64 width = minutes[i] * minute_ns;
    return wall_ns / width < MOST_BINS ? width : wall_ns / (MOST_BINS - 1);
}

/* What is left behind the last whole interval is one, unless it is too short for a rate: it belongs to that one then.
 */
static pt_u32 intervals_in(pt_i64 wall_ns, pt_i64 width_ns)
{
    const pt_i64 rest_ns = wall_ns % width_ns;
    return (pt_u32)(wall_ns / width_ns) + (rest_ns && rest_ns >= width_ns / LEAST_PART);
}

static pt_i64 first_rank_of(const struct pt_profile *profile, pt_u32 stage)
{
    pt_i64 first = PT_NO_RANK;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        if (pt_profile_stage_of(profile, profile->session->processes[i]) == stage)
            first = pt_first_marking_rank_with(first, profile->session->processes[i]);
    return first;
}

static void derive_stage(struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_stage *one = &profile->stages.items[stage];
    const pt_i64 minute_ns = minute_of(profile, stage), wall_ns = one->end_ns - one->start_ns;
    if (!minute_ns || wall_ns / LEAST_MINUTES < minute_ns)
        return;
    struct bins bins = {.start_ns = one->start_ns, .width_ns = width_of(minute_ns, wall_ns), .end_ns = one->end_ns};
    bins.n = intervals_in(wall_ns, bins.width_ns);
    bins.items = pt_calloc(bins.n, sizeof *bins.items);
    const pt_i64 first_rank = first_rank_of(profile, stage);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        bins.counts_steps = pt_rank_counts(first_rank, process);
        pt_process_intervals(process, add_part, &bins);
        pt_process_gaps(process, add_gap, &bins);
    }
    add_table(profile, stage, &bins);
    note_what_is_gone(profile, stage, &bins);
    free(bins.items);
}

void pt_derive_minutes(struct pt_profile *profile)
{
    if (pt_session_is_window(profile->session))
        return; /* they are of the whole run */
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        derive_stage(profile, stage);
}
