/* SPDX-License-Identifier: MIT
 *
 * Tables of devices, and of why they were idle: by cause, which add up to the idle time, and by place. Threads: one.
 * Never: hides a cause below a cut; places may be.
 */
#include "tables_idle.h"

#include <stdlib.h>
#include <string.h>

#include "facts/workers.h"
#include "symbols/demangle.h"
#include "util/auto.h"

enum { MAX_PLACES = 100 };

/* ---- where ---- */

static const char *name_of(struct pt_metrics *metrics, const struct gpu_place *place)
{
    const struct pt_process *process = place->process;
    const char *comm = process->comm ? process->comm : pt_base_name(process->exe);
    const char *kind = pt_is_worker(process) ? "worker" : comm;
    if (!place->tid || place->tid == process->pid)
        return pt_metrics_format(metrics, "%s %u", kind, process->pid);
    return pt_metrics_format(metrics, "thread %u of %s %u", place->tid, kind, process->pid);
}

/* NULL = nobody knows. */
static const char *where_of(struct pt_metrics *metrics, const struct gpu_place *place)
{
    if (place->inner != GPU_CAUSE__COUNT && place->process) {
        const char *did = pt_gpu_causes[place->inner].label, *who = name_of(metrics, place);
        if (place->inner == GPU_CAUSE_data_wait)
            return pt_metrics_format(metrics, "%s: %s", who, place->text ? place->text : "waiting for work");
        if (place->text)
            return pt_metrics_format(metrics, "%s: %s %s", who, did, place->text);
        return pt_metrics_format(metrics, "%s: %s", who, did);
    }
    if (place->inner != GPU_CAUSE__COUNT)
        return pt_metrics_format(metrics, "%s", pt_gpu_causes[place->inner].label);
    if (place->cause == GPU_CAUSE_lock && place->who)
        return pt_metrics_format(metrics, "held by thread %u", place->who);
    if (place->text) {
        PT_AUTO(pt_freep) char *demangled = pt_demangle(place->text);
        return pt_metrics_text(metrics, demangled ? demangled : place->text);
    }
    return place->process ? name_of(metrics, place) : NULL;
}

/* ---- causes ---- */

struct cause_sum {
    pt_u32 device;
    enum gpu_cause cause;
    pt_i64 ns;
    const struct gpu_place *top;
};

static int by_device_and_time(const void *a, const void *b)
{
    const struct cause_sum *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->cause > y->cause) - (x->cause < y->cause);
}

static void sum_causes(const struct gpu *gpu, pt_u32 device, struct cause_sum sums[GPU_CAUSE__COUNT])
{
    for (int cause = 0; cause < GPU_CAUSE__COUNT; cause++)
        sums[cause] = (struct cause_sum){.device = device, .cause = (enum gpu_cause)cause};
    for (size_t i = 0; i < gpu->places.n; i++) {
        const struct gpu_place *place = &gpu->places.items[i];
        struct cause_sum *sum = &sums[place->cause];
        if (place->device != device || place->ns <= 0)
            continue;
        sum->ns += place->ns;
        sum->top = !sum->top || place->ns > sum->top->ns ? place : sum->top;
    }
    qsort(sums, GPU_CAUSE__COUNT, sizeof *sums, by_device_and_time);
}

static void add_cause(struct gpu *gpu, struct pt_table *table, const struct cause_sum *sum)
{
    const struct gpu_device *device = gpu->devices.items[sum->device];
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_named(pt_gpu_causes[sum->cause].id, pt_gpu_causes[sum->cause].label);
    row[1] = pt_seconds(sum->ns);
    row[2] = pt_real(100 * (double)sum->ns / (double)device->idle_ns);
    row[3] = pt_text(where_of(&gpu->profile->metrics, sum->top));
    row[4] = device->gaps_of[sum->cause] ? pt_integer(device->gaps_of[sum->cause]) : pt_unknown("known from samples");
    row[5] = pt_integer(device->number);
}

/* The device that was idle longest stands for the stage. */
static void set_metrics(struct gpu *gpu, pt_u32 stage, const struct cause_sum sums[GPU_CAUSE__COUNT])
{
    struct pt_metrics *metrics = &gpu->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    for (int i = 0; i < GPU_CAUSE__COUNT; i++)
        pt_metrics_set(metrics, scope, pt_gpu_causes[sums[i].cause].metric, pt_seconds(sums[i].ns));
    if (!sums[0].ns)
        return;
    pt_metrics_set(metrics, scope, "gpu.idle.top_cause", pt_text(pt_gpu_causes[sums[0].cause].label));
    pt_metrics_set(metrics, scope, "gpu.idle.top_where", pt_text(where_of(metrics, sums[0].top)));
}

static void causes_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"cause", "Cause", PT_SHOW_TEXT},
        {"seconds", "Idle", PT_SHOW_SECONDS},
        {"share_percent", "Share", PT_SHOW_PERCENT},
        {"where", "Mostly", PT_SHOW_TEXT},
        {"gaps", "Gaps", PT_SHOW_COUNT},
        {"device", "GPU", PT_SHOW_NUMBER},
    };
    struct pt_table *table = pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), "gpu.idle_causes",
                                              "Why the GPU was idle", columns, sizeof columns / sizeof *columns);
    pt_i64 most_ns = -1;
    for (pt_u32 i = 0; i < gpu->devices.n; i++) {
        const struct gpu_device *device = gpu->devices.items[i];
        struct cause_sum sums[GPU_CAUSE__COUNT];
        if (device->stage != stage || !device->is_used)
            continue;
        sum_causes(gpu, i, sums);
        for (int j = 0; j < GPU_CAUSE__COUNT && sums[j].ns; j++)
            add_cause(gpu, table, &sums[j]);
        if (device->idle_ns > most_ns)
            set_metrics(gpu, stage, sums);
        most_ns = device->idle_ns > most_ns ? device->idle_ns : most_ns;
    }
}

/* ---- places ---- */

static int by_time(const void *a, const void *b)
{
    const struct gpu_place *x = *(const struct gpu_place *const *)a, *y = *(const struct gpu_place *const *)b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void places_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"cause", "Cause", PT_SHOW_TEXT}, {"where", "Where", PT_SHOW_TEXT},  {"seconds", "Idle", PT_SHOW_SECONDS},
        {"gaps", "Gaps", PT_SHOW_COUNT},  {"device", "GPU", PT_SHOW_NUMBER},
    };
    struct pt_table *table =
        pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), "gpu.idle_places",
                         "Where the time went in which the GPU was idle", columns, sizeof columns / sizeof *columns);
    const struct gpu_place **sorted = pt_calloc(gpu->places.n + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < gpu->places.n; i++)
        if (gpu->places.items[i].ns > 0 && gpu->devices.items[gpu->places.items[i].device]->stage == stage)
            sorted[n++] = &gpu->places.items[i];
    qsort(sorted, n, sizeof *sorted, by_time);
    for (size_t i = 0; i < n && i < MAX_PLACES; i++) {
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_named(pt_gpu_causes[sorted[i]->cause].id, pt_gpu_causes[sorted[i]->cause].label);
        row[1] = pt_text(where_of(&gpu->profile->metrics, sorted[i]));
        row[2] = pt_seconds(sorted[i]->ns);
        row[3] = sorted[i]->gaps ? pt_integer(sorted[i]->gaps) : pt_unknown("known from samples");
        row[4] = pt_integer(gpu->devices.items[sorted[i]->device]->number);
    }
    table->rows_left_out = n > MAX_PLACES ? n - MAX_PLACES : 0;
    free(sorted);
}

/* ---- devices and streams ---- */

static void add_device(struct pt_table *table, const struct gpu_device *device, const char *name, pt_i64 wall_ns)
{
    const pt_i64 window_ns = device->is_used ? device->busy_end_ns - device->first_ns : 0;
    const pt_i64 seen_ns = window_ns - device->unseen_ns, busy_ns = seen_ns - device->idle_ns;
    const pt_i64 overlap_ns = device->kernels.total_ns + device->copies.total_ns - busy_ns;
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_integer(device->number);
    row[1] = pt_text(name);
    row[2] = pt_seconds(busy_ns);
    row[3] = pt_seconds(device->idle_ns);
    row[4] = seen_ns > 0 ? pt_real(100 * (double)busy_ns / (double)seen_ns) : pt_unknown("it did nothing");
    row[5] = wall_ns > 0 ? pt_real(100 * (double)busy_ns / (double)wall_ns) : pt_unknown("the stage took no time");
    row[6] = pt_seconds(window_ns);
    row[7] = pt_seconds(device->kernels.total_ns);
    row[8] = pt_seconds(device->copies.total_ns);
    row[9] = pt_seconds(overlap_ns > 0 ? overlap_ns : 0);
    row[10] = pt_integer(device->n_kernels);
    row[11] = pt_integer(device->n_copies + device->n_sets);
    row[12] = pt_integer(device->n_gaps);
    row[13] = pt_seconds(device->unseen_ns);
    row[14] = device->memory_bytes ? pt_integer(device->memory_bytes) : pt_unknown("the device was not described");
    row[15] = pt_seconds(device->kernels.total_ns - device->compute.total_ns);
}

static void devices_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"id", "GPU", PT_SHOW_NUMBER},
        {"name", "Name", PT_SHOW_TEXT},
        {"busy_s", "Busy", PT_SHOW_SECONDS},
        {"idle_s", "Idle", PT_SHOW_SECONDS},
        {"busy_percent", "Busy share", PT_SHOW_PERCENT},
        {"busy_of_stage_percent", "Of the stage", PT_SHOW_PERCENT},
        {"window_s", "First to last", PT_SHOW_SECONDS},
        {"kernels_s", "In kernels", PT_SHOW_SECONDS},
        {"copies_s", "In copies", PT_SHOW_SECONDS},
        {"overlap_s", "Both", PT_SHOW_SECONDS},
        {"kernels_calls", "Kernels", PT_SHOW_COUNT},
        {"copies_calls", "Copies", PT_SHOW_COUNT},
        {"gaps", "Gaps", PT_SHOW_COUNT},
        {"not_seen_s", "Not seen", PT_SHOW_SECONDS},
        {"memory_bytes", "Memory", PT_SHOW_BYTES},
        {"only_collectives_s", "Only in NCCL", PT_SHOW_SECONDS},
    };
    struct pt_table *table = pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), "gpu.devices", "GPUs",
                                              columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < gpu->devices.n; i++)
        if (gpu->devices.items[i]->stage == stage && gpu->devices.items[i]->is_used)
            add_device(table, gpu->devices.items[i],
                       gpu->devices.items[i]->name
                           ? pt_metrics_text(&gpu->profile->metrics, gpu->devices.items[i]->name)
                           : NULL,
                       pt_profile_stage_wall_ns(gpu->profile, stage));
}

static void streams_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"stream", "Context/stream", PT_SHOW_TEXT},
        {"pid", "PID", PT_SHOW_NUMBER},
        {"activities", "Pieces of work", PT_SHOW_COUNT},
        {"busy_s", "Busy", PT_SHOW_SECONDS},
        {"idle_s", "Idle", PT_SHOW_SECONDS},
        {"queue_mean", "Queue mean", PT_SHOW_NUMBER},
        {"queue_max", "Queue max", PT_SHOW_COUNT},
        {"launched_empty_percent", "Launched when empty", PT_SHOW_PERCENT},
        {"device", "GPU", PT_SHOW_NUMBER},
    };
    enum { MAX_STREAMS = 64 };
    struct pt_table *table = pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), "gpu.streams",
                                              "GPU streams", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < gpu->streams.n; i++) {
        const struct gpu_stream *stream = gpu->streams.items[i];
        const double launches = (double)stream->launches;
        if (gpu->devices.items[stream->device]->stage != stage || !stream->activities)
            continue;
        if (table->n_rows == MAX_STREAMS) {
            table->rows_left_out++;
            continue;
        }
        const pt_i64 idle_ns = stream->last_ns - stream->first_ns - stream->busy.total_ns;
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_text(pt_metrics_text(&gpu->profile->metrics, stream->name));
        row[1] = pt_integer(stream->process->pid);
        row[2] = pt_integer(stream->activities);
        row[3] = pt_seconds(stream->busy.total_ns);
        row[4] = pt_seconds(idle_ns > 0 ? idle_ns : 0);
        row[5] = launches > 0 ? pt_real((double)stream->depth_sum / launches) : pt_unknown("no launch was recorded");
        row[6] = launches > 0 ? pt_integer(stream->depth_most) : pt_unknown("no launch was recorded");
        row[7] = launches > 0 ? pt_real(100 * (double)stream->launched_empty / launches)
                              : pt_unknown("no launch was recorded");
        row[8] = pt_integer(gpu->devices.items[stream->device]->number);
    }
}

void pt_gpu_idle_tables(struct gpu *gpu, pt_u32 stage)
{
    devices_table(gpu, stage);
    causes_table(gpu, stage);
    places_table(gpu, stage);
    streams_table(gpu, stage);
}
