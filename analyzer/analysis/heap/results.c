/* SPDX-License-Identifier: MIT
 *
 * Owns: heap metrics of processes and stages, and the table of call sites. Threads: one, after the last event. Never:
 * gives a number for what was not recorded.
 */
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decode/phase_names.h"
#include "facts/state.h"
#include "model/window.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/whole.h"
#include "growth.h"
#include "stack_text.h"

enum {
    MAX_ROWS = 50,
    MAX_NAMED_SITES = 200,
    MAX_SITES_WITH_STACKS = 1000, /* of what becomes larger, which has many sizes */
    FEWEST_SAMPLES = 10,
};

static const char too_many_blocks[] = "more blocks were live at once than are followed";

static const char *why_unknown(const struct pt_process *process, const struct pt_heap_process *p)
{
    if (pt_process_why_no_heap(process))
        return pt_process_why_no_heap(process);
    if (process->quality.overwritten || process->quality.dropped || process->quality.corrupt_events)
        return "heap events were lost";
    if (p->not_followed)
        return too_many_blocks;
    return NULL;
}

/* A sample stands for many blocks, of a small process for more than it had: no more lived than was allocated. */
static double at_most_allocated(const struct pt_process *process, double bytes)
{
    return process->heap_mode == PT_HEAP_SAMPLED ? fmin(bytes, (double)process->heap->bytes) : bytes;
}

/* 95 %: the normal interval, widened for few samples so that it is right for none (Poisson: 3.7 intervals). */
static void set_interval(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_process *process,
                         const struct pt_heap_process *p)
{
    const struct pt_heap_level *level = &p->level;
    const double spread = 1.96 * sqrt(level->peak_variance > 0 ? level->peak_variance : 0);
    const double slack = (double)process->heap_sample_bytes * (2 + 1.7 / ((double)p->samples_seen + 1));
    const double low = at_most_allocated(process, level->peak_bytes - spread);
    const double high = at_most_allocated(process, level->peak_bytes + spread + slack + p->lost_bytes);
    pt_metrics_set(metrics, scope, "heap.live_peak_low.bytes", pt_integer(low > 0 ? pt_whole(low) : 0));
    pt_metrics_set(metrics, scope, "heap.live_peak_high.bytes", pt_integer(pt_whole(high)));
}

static void note_not_followed(struct pt_session *session, const struct pt_process *process,
                              const struct pt_heap_process *p)
{
    PT_AUTO(pt_freep)
    char *note = pt_asprintf(
        "process %u: more heap blocks were live at once than the %s that a report follows; %s were left out, so its "
        "live peak (at least %s), growth and short-lived blocks are unknown",
        process->pid, pt_fmt_count(PT_BLOCK_SLOTS_MOST * 7 / 8).text, pt_fmt_count(p->not_followed).text,
        pt_fmt_bytes(pt_whole(p->level.peak_bytes)).text);
    pt_session_note(session, note);
}

static struct pt_value peak_phase(const struct pt_peak_phase *phase)
{
    if (!phase || !phase->is_training)
        return pt_unknown("no phase of a training was seen");
    return pt_text(phase->at_peak ? pt_phase_names[phase->at_peak] : "between phases");
}

static void process_results(struct pt_profile *profile, const struct pt_process *process, struct pt_heap_process *p)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_process(process->index);
    const char *reason = why_unknown(process, p);
    if (p->not_followed)
        note_not_followed(profile->session, process, p);
    if (reason) {
        pt_metrics_set(metrics, scope, "heap.live_peak.bytes", pt_unknown(reason));
        return;
    }
    const double peak_bytes = at_most_allocated(process, p->level.peak_bytes);
    pt_metrics_set(metrics, scope, "heap.live_peak.bytes", pt_integer(pt_whole(peak_bytes)));
    if (p->phase.is_training)
        pt_metrics_set(metrics, scope, "heap.live_peak.phase", peak_phase(&p->phase));
    if (process->heap_mode == PT_HEAP_SAMPLED)
        set_interval(metrics, scope, process, p);
}

/* Estimates from samples are scaled so that they agree with the exact number of allocations. */
static struct pt_heap_churn exact_churn(const struct pt_process *process, const struct pt_heap_process *p)
{
    struct pt_heap_churn churn = p->churn;
    const double seen = process->heap_mode == PT_HEAP_FULL ? (double)p->seen : p->sampled_allocs;
    if (process->heap_mode == PT_HEAP_SAMPLED && p->samples_seen < FEWEST_SAMPLES)
        return (struct pt_heap_churn){0};
    const double scale = seen > 0 ? (double)process->heap->allocs / seen : 0;
    churn.allocs *= scale;
    churn.bytes *= process->heap_mode == PT_HEAP_SAMPLED && p->sampled_bytes > 0
                       ? (double)process->heap->bytes / p->sampled_bytes
                       : scale;
    churn.cost_s *= scale;
    churn.mapping_s *= scale;
    return churn;
}

struct stage_heap {
    struct pt_heap_churn churn;
    pt_u64 allocs, frees, bytes;
    pt_u64 large_bytes; /* of blocks that malloc may map one by one, and give back to the kernel when they are freed */
    pt_u64 huge_bytes;  /* of those that it maps so whatever its threshold is */
    double remapped_large_bytes, remapped_huge_bytes; /* of them, taken from the kernel anew though given back before */
    double crowded_bytes; /* of these, for threads that hold more than a heap has room for */
    double arena_bytes;   /* that Python mapped for its objects */
    double peak_bytes;
    const struct pt_peak_phase *phase; /* of the process with this peak */
    double growth_bytes;
    struct pt_heap_growth leak; /* the largest steady one */
    const struct pt_process *leaking;
    bool peak_known;          /* of one process at least; so is what it grew by */
    const char *peak_unknown; /* why of another one it is not */
    pt_u32 n_sampled;         /* processes of whose blocks only samples are known */
    const char *reason;       /* why nothing is known of what lived when; NULL = it is known */
};

/* Of blocks of at least so many bytes. */
static pt_u64 bytes_in_blocks_from(const struct pt_heap_totals *heap, pt_u64 least_bytes)
{
    pt_u64 bytes = 0;
    for (pt_u64 c = pt_heap_class_of(least_bytes); c < PT_HEAP_CLASSES; c++)
        bytes += heap->classes[c].bytes;
    return bytes;
}

/* Samples that were overwritten or are few: of all large blocks as many bytes are mapped again as of those. */
static void add_remapped(struct stage_heap *sum, const struct pt_process *process, const struct pt_heap_process *p)
{
    const double large_bytes = (double)bytes_in_blocks_from(process->heap, PT_LEAST_MMAP_THRESHOLD_BYTES);
    const double scale = p->remap.seen_bytes > 0 ? large_bytes / p->remap.seen_bytes : 0;
    sum->remapped_large_bytes += scale * pt_heap_remap_saved_bytes(&p->remap, &p->remap.large);
    sum->remapped_huge_bytes += scale * pt_heap_remap_saved_bytes(&p->remap, &p->remap.huge);
    sum->crowded_bytes += scale * pt_heap_remap_crowded_bytes(&p->remap);
    sum->arena_bytes += p->arena_bytes;
}

static void stage_add(struct stage_heap *sum, const struct pt_process *process, struct pt_heap_process *p)
{
    const struct pt_heap_churn churn = exact_churn(process, p);
    sum->allocs += process->heap->allocs;
    sum->frees += process->heap->frees;
    sum->bytes += process->heap->bytes;
    sum->large_bytes += bytes_in_blocks_from(process->heap, PT_LEAST_MMAP_THRESHOLD_BYTES);
    sum->huge_bytes += bytes_in_blocks_from(process->heap, PT_MOST_MMAP_THRESHOLD_BYTES);
    add_remapped(sum, process, p);
    sum->churn.allocs += churn.allocs;
    sum->churn.bytes += churn.bytes;
    sum->churn.cost_s += churn.cost_s;
    sum->churn.mapping_s += churn.mapping_s;
    if (p->not_followed)
        sum->reason = too_many_blocks;
    const char *unknown = why_unknown(process, p);
    if (unknown) {
        sum->peak_unknown = unknown;
        return;
    }
    sum->peak_known = true;
    const double peak_bytes = at_most_allocated(process, p->level.peak_bytes);
    if (peak_bytes > sum->peak_bytes) {
        sum->peak_bytes = peak_bytes;
        sum->phase = &p->phase;
    }
    sum->n_sampled += process->heap_mode == PT_HEAP_SAMPLED;
    const struct pt_heap_growth *growth = &p->growth;
    sum->growth_bytes = fmax(sum->growth_bytes, at_most_allocated(process, growth->largest_bytes));
    if (growth->is_steady && growth->rise.bytes > sum->leak.rise.bytes) {
        sum->leak = *growth;
        sum->leaking = process;
    }
}

static struct pt_value rounded(double number)
{
    return pt_integer(number > 0.5 ? pt_whole(number + 0.5) : 0);
}

static void leak_results(struct pt_metrics *metrics, struct pt_scope scope, const struct stage_heap *sum)
{
    const struct pt_heap_growth *leak = &sum->leak;
    const double heap_bytes = leak->rise.bytes - leak->python_bytes;
    if (!sum->leaking)
        return;
    const double named_bytes = fmin(leak->sites_bytes, heap_bytes) + fmin(leak->objects_bytes, leak->python_bytes);
    pt_metrics_set(metrics, scope, "heap.leak.bytes", pt_integer(pt_whole(leak->rise.bytes)));
    pt_metrics_set(metrics, scope, "heap.leak.length_s", pt_real(leak->length_s));
    pt_metrics_set(metrics, scope, "heap.leak.spread_percent", pt_real(100 * leak->spread));
    pt_metrics_set(metrics, scope, "heap.leak.fit", pt_real(leak->rise.fit));
    pt_metrics_set(metrics, scope, "heap.leak.share_percent", pt_real(leak->share_percent));
    pt_metrics_set(metrics, scope, "heap.leak.pid", pt_integer(sum->leaking->pid));
    pt_metrics_set(metrics, scope, "heap.leak.python.bytes", rounded(leak->python_bytes));
    pt_metrics_set(metrics, scope, "heap.leak.sites_percent", pt_real(fmax(0, 100 * named_bytes / leak->rise.bytes)));
}

static void live_results(struct pt_metrics *metrics, struct pt_scope scope, const struct stage_heap *sum)
{
    if (sum->reason) {
        static const char *const names[] = {"heap.churn.calls",     "heap.churn.bytes",         "heap.churn.cost_s",
                                            "heap.churn.mapping_s", "heap.churn.share_percent", "heap.live_peak.bytes",
                                            "heap.live_peak.phase", "heap.growth.bytes"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            pt_metrics_set(metrics, scope, names[i], pt_unknown(sum->reason));
        return;
    }
    pt_metrics_set(metrics, scope, "heap.churn.calls", pt_integer(pt_whole(sum->churn.allocs)));
    pt_metrics_set(metrics, scope, "heap.churn.bytes", pt_integer(pt_whole(sum->churn.bytes)));
    pt_metrics_set(metrics, scope, "heap.churn.cost_s", pt_real(sum->churn.cost_s));
    pt_metrics_set(metrics, scope, "heap.churn.mapping_s", pt_real(sum->churn.mapping_s));
    pt_metrics_set(metrics, scope, "heap.churn.share_percent",
                   sum->allocs ? pt_real(100 * sum->churn.allocs / (double)sum->allocs) : pt_unknown("no allocations"));
    const struct pt_value unknown = pt_unknown(sum->peak_unknown ? sum->peak_unknown : "no process recorded its heap");
    pt_metrics_set(metrics, scope, "heap.live_peak.bytes",
                   sum->peak_known ? pt_integer(pt_whole(sum->peak_bytes)) : unknown);
    pt_metrics_set(metrics, scope, "heap.live_peak.phase", sum->peak_known ? peak_phase(sum->phase) : unknown);
    pt_metrics_set(metrics, scope, "heap.growth.bytes",
                   sum->peak_known ? pt_integer(pt_whole(sum->growth_bytes)) : unknown);
    pt_metrics_set(metrics, scope, "heap.sampled.count", pt_integer(sum->n_sampled));
    leak_results(metrics, scope, sum);
}

/* Why no process of the stage has a heap that is known; NULL = one has. */
static const char *why_of_all(const struct pt_profile *profile, pt_u32 stage)
{
    const char *why = NULL;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        if (process->heap_mode != PT_HEAP_OFF && !process->heap_unknown)
            return NULL;
        why = pt_process_why_no_heap(process);
    }
    return why;
}

/* Whether what lived when is known. */
static bool stage_results(struct pt_profile *profile, pt_u32 stage, struct pt_heap_processes *processes)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct stage_heap sum = {0};
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        stage_add(&sum, process, pt_heap_process_found(processes, process));
    }
    const bool is_window = pt_session_is_window(profile->session);
    const char *missing = is_window ? pt_window_no_counters : pt_profile_counters_missing(profile, stage);
    missing = missing ? missing : why_of_all(profile, stage);
    const struct pt_value unknown = pt_unknown(missing);
    pt_metrics_set(metrics, scope, "heap.allocs.calls", missing ? unknown : pt_integer(sum.allocs));
    pt_metrics_set(metrics, scope, "heap.frees.calls", missing ? unknown : pt_integer(sum.frees));
    pt_metrics_set(metrics, scope, "heap.allocated.bytes", missing ? unknown : pt_integer(sum.bytes));
    pt_metrics_set(metrics, scope, "heap.large.bytes", missing ? unknown : pt_integer(sum.large_bytes));
    pt_metrics_set(metrics, scope, "heap.huge.percent",
                   missing || !sum.large_bytes ? unknown
                                               : pt_real(100 * (double)sum.huge_bytes / (double)sum.large_bytes));
    pt_metrics_set(metrics, scope, "heap.remapped_large.bytes", pt_real(sum.remapped_large_bytes));
    pt_metrics_set(metrics, scope, "heap.remapped_huge.bytes", pt_real(sum.remapped_huge_bytes));
    pt_metrics_set(metrics, scope, "heap.remapped_crowded.percent",
                   sum.remapped_large_bytes > 0 ? pt_real(100 * fmin(1, sum.crowded_bytes / sum.remapped_large_bytes))
                                                : pt_unknown("no large block was mapped again"));
    pt_metrics_set(metrics, scope, "heap.arenas.bytes", pt_real(sum.arena_bytes));
    if (missing)
        sum.reason = missing;
    live_results(metrics, scope, &sum);
    return !sum.reason;
}

/* ---- call sites ---- */

struct named_site {
    struct pt_stack_text text;
    struct pt_heap_site sum;
};

static int by_stage_bytes(const void *a, const void *b)
{
    const struct pt_heap_site *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    const double xb = x->bytes + x->peak_bytes + x->growth_bytes, yb = y->bytes + y->peak_bytes + y->growth_bytes;
    if (xb != yb)
        return xb < yb ? 1 : -1;
    if (x->process->index != y->process->index)
        return x->process->index < y->process->index ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    if (x->python != y->python)
        return x->python < y->python ? -1 : 1;
    return x->size_class < y->size_class ? -1 : x->size_class > y->size_class;
}

static int named_by_bytes(const void *a, const void *b)
{
    return by_stage_bytes(&((const struct named_site *)a)->sum, &((const struct named_site *)b)->sum);
}

static void merge_site(struct named_site *named, pt_u32 *n, struct pt_stack_text text, const struct pt_heap_site *site,
                       bool by_stack)
{
    for (pt_u32 i = 0; i < *n; i++) {
        struct pt_heap_site *sum = &named[i].sum;
        if (by_stack ? strcmp(named[i].text.stack, text.stack) : strcmp(named[i].text.leaf, text.leaf))
            continue;
        sum->samples += site->samples;
        sum->allocs += site->allocs;
        sum->bytes += site->bytes;
        sum->live_allocs += site->live_allocs;
        sum->live_bytes += site->live_bytes;
        sum->peak_bytes += site->peak_bytes;
        sum->churn_allocs += site->churn_allocs;
        sum->churn_bytes += site->churn_bytes;
        sum->growth_bytes += site->growth_bytes;
        return;
    }
    named[(*n)++] = (struct named_site){text, *site};
}

struct stage_sites {
    pt_u32 stage;
    const struct pt_heap_site *first;
    size_t n;
    bool knows_lives; /* what lived when is known */
};

struct site_row {
    const char *function, *stack;
    struct pt_value bytes, allocs, growth_bytes, live_peak_bytes, live_end_bytes, churn_bytes;
    pt_u64 samples;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct site_row, function, TEXT, "Allocated in"),
    PT_COLUMN(struct site_row, bytes, BYTES, "Bytes (est.)"),
    PT_COLUMN(struct site_row, allocs, COUNT, "Calls (est.)"),
    PT_COLUMN(struct site_row, growth_bytes, BYTES, "Grew by"),
    PT_COLUMN(struct site_row, live_peak_bytes, BYTES, "Live at peak"),
    PT_COLUMN(struct site_row, live_end_bytes, BYTES, "Live at end"),
    PT_COLUMN(struct site_row, churn_bytes, BYTES, "Short-lived"),
    PT_COLUMN(struct site_row, samples, COUNT, "Samples"),
    PT_COLUMN(struct site_row, stack, TEXT, "Stack"),
};
static const struct pt_table_kind by_function = {PT_VIEW_heap_sites, .most = MAX_ROWS, PT_COLUMNS(columns)};
static const struct pt_table_kind by_call_stack = {PT_VIEW_heap_stacks, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void add_site(struct pt_table *table, const struct named_site *site, bool knows_lives)
{
    const struct pt_value unknown = pt_unknown(too_many_blocks);
    pt_table_add(table, &(struct site_row){
                            .function = site->text.leaf,
                            .bytes = rounded(site->sum.bytes),
                            .allocs = rounded(site->sum.allocs),
                            .growth_bytes = knows_lives ? rounded(site->sum.growth_bytes) : unknown,
                            .live_peak_bytes = knows_lives ? rounded(site->sum.peak_bytes) : unknown,
                            .live_end_bytes = knows_lives ? rounded(site->sum.live_bytes) : unknown,
                            .churn_bytes = knows_lives ? rounded(site->sum.churn_bytes) : unknown,
                            .samples = site->sum.samples,
                            .stack = site->text.stack,
                        });
}

static void table_of_sites(struct pt_profile *profile, const struct stage_sites *sites, bool by_stack)
{
    struct pt_metrics *metrics = &profile->metrics;
    struct pt_table *table =
        pt_metrics_add_table(metrics, pt_scope_stage(sites->stage), by_stack ? &by_call_stack : &by_function);
    struct named_site *named = pt_calloc(MAX_NAMED_SITES, sizeof *named);
    pt_u32 n_named = 0;
    for (size_t i = 0; i < sites->n && i < MAX_NAMED_SITES; i++) {
        const struct pt_stack_text text = pt_heap_stack_text(profile, &sites->first[i]);
        merge_site(named, &n_named, text, &sites->first[i], by_stack);
    }
    qsort(named, n_named, sizeof *named, named_by_bytes);
    for (pt_u32 i = 0; i < n_named; i++)
        add_site(table, &named[i], sites->knows_lives);
    table->rows_left_out += sites->n > MAX_NAMED_SITES ? sites->n - MAX_NAMED_SITES : 0;
    free(named);
}

static void keep_stacks(struct pt_profile *profile, const struct stage_sites *sites)
{
    struct pt_stack_frame frames[PT_STACK_FRAMES];
    for (size_t i = 0; i < sites->n && i < MAX_SITES_WITH_STACKS; i++) {
        const struct pt_heap_site *site = &sites->first[i];
        if (i >= MAX_NAMED_SITES && !(site->growing_bytes > 0))
            continue;
        const pt_u32 n = pt_heap_frames(profile, site, frames);
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, sites->stage, frames, n);
        stack->cost[PT_STACK_ALLOCATED_BYTES] = site->bytes;
        stack->cost[PT_STACK_HELD_BYTES] = sites->knows_lives ? site->peak_bytes : 0;
        stack->cost[PT_STACK_GROWTH_BYTES] = sites->knows_lives ? fmax(0, site->growth_bytes) : 0;
        stack->cost[PT_STACK_GROWING_BYTES] = site->growing_bytes;
        stack->cost[PT_STACK_SIZE_UPS] = site->n_ups;
        stack->cost[PT_STACK_SIZE_DOWNS] = site->n_downs;
        if (sites->knows_lives && site->size_class != PT_SITE_OF_OBJECTS) /* of objects it is cheap */
            stack->cost[PT_STACK_CHURN_BYTES] = site->churn_bytes;
    }
}

static void growth_results(const struct pt_process *process, struct pt_heap_process *p, struct pt_heap_sites *sites)
{
    if (why_unknown(process, p))
        return;
    p->growth = pt_heap_growth_of(p, process);
    if (p->growth.is_steady)
        pt_heap_growth_of_sites(p, process, sites);
}

void pt_heap_results(struct pt_profile *profile, struct pt_heap_processes *processes, struct pt_heap_sites *sites)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        struct pt_heap_process *p = pt_heap_process_found(processes, process);
        growth_results(process, p, sites);
        process_results(profile, process, p);
    }
    for (size_t i = 0; i < sites->n; i++) {
        const struct pt_heap_process *p = pt_heap_process_found(processes, sites->items[i].process);
        pt_heap_site_at_peak(&sites->items[i], p->n_peaks);
        pt_heap_site_calibrate(&sites->items[i], pt_heap_site_scale(&sites->items[i], p->sampled_of_class));
        if (!sites->items[i].is_shared && pt_heap_trend_grows(&sites->trends.items[sites->items[i].trend]))
            sites->items[i].growing_bytes = sites->items[i].bytes;
    }
    if (sites->n)
        qsort(sites->items, sites->n, sizeof *sites->items, by_stage_bytes);
    size_t first = 0;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        size_t n = 0;
        while (first + n < sites->n && sites->items[first + n].stage == stage)
            n++;
        const struct stage_sites of_stage = {
            .stage = stage,
            .first = sites->n ? sites->items + first : NULL,
            .n = n,
            .knows_lives = stage_results(profile, stage, processes),
        };
        table_of_sites(profile, &of_stage, false);
        table_of_sites(profile, &of_stage, true);
        keep_stacks(profile, &of_stage);
        first += n;
    }
}
