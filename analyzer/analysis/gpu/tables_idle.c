/* SPDX-License-Identifier: MIT
 *
 * Tables of devices, and of why they were idle: by cause, which add up to the idle time, and by place. Threads: one.
 * Never: hides a cause below a cut; places may be.
 */
#include "tables_idle.h"

#include <stdlib.h>
#include <string.h>

#include "facts/workers.h"
#include "profile/process_name.h"
#include "symbols/demangle.h"
#include "util/auto.h"

enum { MAX_PLACES = 100 };

/* ---- where ---- */

static const char *name_of(struct pt_profile *profile, const struct pt_gpu_place *place)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_process *process = place->process;
    const char *kind = pt_is_worker(process) ? "worker" : pt_process_name(profile, process);
    const char *which = process->rank < 0 ? "" : ", process"; /* "train rank 1 4242" would be two numbers in a row */
    if (!place->tid || place->tid == process->pid)
        return pt_metrics_format(metrics, "%s%s %u", kind, which, process->pid);
    return pt_metrics_format(metrics, "thread %u of %s%s %u", place->tid, kind, which, process->pid);
}

/* NULL = not known. */
static const char *where_of(struct pt_profile *profile, const struct pt_gpu_place *place)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (place->inner != PT_GPU_CAUSE__COUNT && place->process) {
        const char *did = pt_gpu_causes[place->inner].label, *who = name_of(profile, place);
        if (place->inner == PT_GPU_CAUSE_data_wait)
            return pt_metrics_format(metrics, "%s: %s", who, place->text ? place->text : "waiting for work");
        if (place->text)
            return pt_metrics_format(metrics, "%s: %s %s", who, did, place->text);
        return pt_metrics_format(metrics, "%s: %s", who, did);
    }
    if (place->inner != PT_GPU_CAUSE__COUNT)
        return pt_metrics_format(metrics, "%s", pt_gpu_causes[place->inner].label);
    if (place->cause == PT_GPU_CAUSE_lock && place->holder_tid)
        return pt_metrics_format(metrics, "held by thread %u", place->holder_tid);
    if (place->text) {
        PT_AUTO(pt_freep) char *demangled = pt_demangle(place->text);
        return pt_metrics_text(metrics, demangled ? demangled : place->text);
    }
    return place->process ? name_of(profile, place) : NULL;
}

/* ---- causes ---- */

struct cause_sum {
    pt_u32 device;
    enum pt_gpu_cause cause;
    pt_i64 ns;
    const struct pt_gpu_place *top;
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

static void sum_causes(const struct pt_gpu *gpu, pt_u32 device, struct cause_sum sums[PT_GPU_CAUSE__COUNT])
{
    for (int cause = 0; cause < PT_GPU_CAUSE__COUNT; cause++)
        sums[cause] = (struct cause_sum){.device = device, .cause = (enum pt_gpu_cause)cause};
    for (size_t i = 0; i < gpu->places.n; i++) {
        const struct pt_gpu_place *place = &gpu->places.items[i];
        struct cause_sum *sum = &sums[place->cause];
        if (place->device != device || place->ns <= 0)
            continue;
        sum->ns += place->ns;
        sum->top = !sum->top || place->ns > sum->top->ns ? place : sum->top;
    }
    qsort(sums, PT_GPU_CAUSE__COUNT, sizeof *sums, by_device_and_time);
}

struct cause_row {
    struct pt_value cause, gaps;
    const char *where;
    double seconds, share_percent;
    pt_u32 device;
};

static const struct pt_column cause_columns[] = {
    PT_COLUMN(struct cause_row, cause, TEXT, "Cause"),
    PT_COLUMN(struct cause_row, seconds, SECONDS, "Idle"),
    PT_COLUMN(struct cause_row, share_percent, PERCENT, "Share"),
    PT_COLUMN(struct cause_row, where, TEXT, "Mostly"),
    PT_COLUMN(struct cause_row, gaps, COUNT, "Gaps"),
    PT_COLUMN(struct cause_row, device, NUMBER, "GPU"),
};
static const struct pt_table_kind by_cause = {PT_VIEW_gpu_idle_causes, PT_COLUMNS(cause_columns)};

static struct pt_value gaps_value(pt_u64 gaps)
{
    return gaps ? pt_integer(gaps) : pt_unknown("known from samples");
}

static void add_cause(struct pt_gpu *gpu, struct pt_rows *rows, const struct cause_sum *sum)
{
    const struct pt_gpu_device *device = gpu->devices.items[sum->device];
    pt_rows_add(rows, &(struct cause_row){
                          .cause = pt_named(pt_gpu_causes[sum->cause].id, pt_gpu_causes[sum->cause].label),
                          .seconds = (double)sum->ns / 1e9,
                          .share_percent = 100 * (double)sum->ns / (double)device->idle_ns,
                          .where = where_of(gpu->profile, sum->top),
                          .gaps = gaps_value(device->gaps_of[sum->cause]),
                          .device = device->number,
                      });
}

/* Of what is a cost, the part in which the next data was waited for, or read: that can be loaded ahead. */
static void set_loading(struct pt_profile *profile, struct pt_scope scope, const struct cause_sum *sums)
{
    pt_i64 loading_ns = 0, all_ns = 0;
    for (int i = 0; i < PT_GPU_CAUSE__COUNT; i++) {
        const enum pt_gpu_cause cause = sums[i].cause;
        const bool is_loading = cause == PT_GPU_CAUSE_data_wait || cause == PT_GPU_CAUSE_file_read ||
                                cause == PT_GPU_CAUSE_file_meta || cause == PT_GPU_CAUSE_network;
        loading_ns += is_loading ? sums[i].ns : 0;
        all_ns += pt_gpu_is_no_cost(cause) ? 0 : sums[i].ns;
    }
    pt_metrics_set(&profile->metrics, scope, "gpu.idle.loading_percent",
                   all_ns > 0 ? pt_real(100 * (double)loading_ns / (double)all_ns) : pt_unknown("it was not idle"));
}

/* The metrics of the stage are those of the device that was idle longest. */
static void set_metrics(struct pt_gpu *gpu, pt_u32 stage, const struct cause_sum sums[PT_GPU_CAUSE__COUNT])
{
    struct pt_metrics *metrics = &gpu->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    for (int i = 0; i < PT_GPU_CAUSE__COUNT; i++)
        pt_metrics_set(metrics, scope, pt_gpu_causes[sums[i].cause].metric, pt_seconds(sums[i].ns));
    set_loading(gpu->profile, scope, sums);
    const struct cause_sum *top = sums;
    for (int i = 0; i < PT_GPU_CAUSE__COUNT && pt_gpu_is_no_cost(top->cause); i++)
        top = &sums[i];
    if (!top->ns)
        return;
    pt_metrics_set(metrics, scope, "gpu.idle.top_cause", pt_text(pt_gpu_causes[top->cause].label));
    pt_metrics_set(metrics, scope, "gpu.idle.top_where", pt_text(where_of(gpu->profile, top->top)));
}

static void causes_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_cause);
    pt_i64 most_ns = -1;
    for (pt_u32 i = 0; i < gpu->devices.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[i];
        struct cause_sum sums[PT_GPU_CAUSE__COUNT];
        if (device->stage != stage || !device->is_used)
            continue;
        sum_causes(gpu, i, sums);
        for (int j = 0; j < PT_GPU_CAUSE__COUNT && sums[j].ns; j++)
            add_cause(gpu, &rows, &sums[j]);
        if (device->idle_ns > most_ns)
            set_metrics(gpu, stage, sums);
        most_ns = device->idle_ns > most_ns ? device->idle_ns : most_ns;
    }
}

/* ---- places ---- */

static int by_time(const void *a, const void *b)
{
    const struct pt_gpu_place *x = *(const struct pt_gpu_place *const *)a, *y = *(const struct pt_gpu_place *const *)b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    return x < y ? -1 : x > y;
}

struct place_row {
    struct pt_value cause, gaps;
    const char *where;
    double seconds;
    pt_u32 device;
};

static const struct pt_column place_columns[] = {
    PT_COLUMN(struct place_row, cause, TEXT, "Cause"),     PT_COLUMN(struct place_row, where, TEXT, "Where"),
    PT_COLUMN(struct place_row, seconds, SECONDS, "Idle"), PT_COLUMN(struct place_row, gaps, COUNT, "Gaps"),
    PT_COLUMN(struct place_row, device, NUMBER, "GPU"),
};
static const struct pt_table_kind by_place = {PT_VIEW_gpu_idle_places, .most = MAX_PLACES, PT_COLUMNS(place_columns)};

static void places_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_place);
    const struct pt_gpu_place **sorted = pt_calloc(gpu->places.n + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < gpu->places.n; i++)
        if (gpu->places.items[i].ns > 0 && gpu->devices.items[gpu->places.items[i].device]->stage == stage)
            sorted[n++] = &gpu->places.items[i];
    qsort(sorted, n, sizeof *sorted, by_time);
    for (size_t i = 0; i < n; i++)
        if (pt_rows_have_room(&rows))
            pt_rows_add(
                &rows, &(struct place_row){
                           .cause = pt_named(pt_gpu_causes[sorted[i]->cause].id, pt_gpu_causes[sorted[i]->cause].label),
                           .where = where_of(gpu->profile, sorted[i]),
                           .seconds = (double)sorted[i]->ns / 1e9,
                           .gaps = gaps_value(sorted[i]->gaps),
                           .device = gpu->devices.items[sorted[i]->device]->number,
                       });
    free(sorted);
}

/* ---- devices and streams ---- */

struct device_row {
    pt_u32 id;
    const char *name;
    double busy_s, idle_s, window_s, kernels_s, copies_s, overlap_s, not_seen_s, only_collectives_s;
    struct pt_value busy_percent, busy_of_stage_percent, memory_bytes;
    pt_u64 kernels_calls, copies_calls, gaps;
};

static const struct pt_column device_columns[] = {
    PT_COLUMN(struct device_row, id, NUMBER, "GPU"),
    PT_COLUMN(struct device_row, name, TEXT, "Name"),
    PT_COLUMN(struct device_row, busy_s, SECONDS, "Busy"),
    PT_COLUMN(struct device_row, idle_s, SECONDS, "Idle"),
    PT_COLUMN(struct device_row, busy_percent, PERCENT, NULL),
    PT_COLUMN(struct device_row, busy_of_stage_percent, PERCENT, "Of the stage"),
    PT_COLUMN(struct device_row, window_s, SECONDS, "First to last"),
    PT_COLUMN(struct device_row, kernels_s, SECONDS, "In kernels"),
    PT_COLUMN(struct device_row, copies_s, SECONDS, "In copies"),
    PT_COLUMN(struct device_row, overlap_s, SECONDS, "Both"),
    PT_COLUMN(struct device_row, kernels_calls, COUNT, "Kernels"),
    PT_COLUMN(struct device_row, copies_calls, COUNT, "Copies"),
    PT_COLUMN(struct device_row, gaps, COUNT, "Gaps"),
    PT_COLUMN(struct device_row, not_seen_s, SECONDS, "Not seen"),
    PT_COLUMN(struct device_row, memory_bytes, BYTES, "Memory"),
    PT_COLUMN(struct device_row, only_collectives_s, SECONDS, "Only in NCCL"),
};
static const struct pt_table_kind by_device = {PT_VIEW_gpu_devices, PT_COLUMNS(device_columns)};

static void add_device(struct pt_rows *rows, const struct pt_gpu_device *device, pt_i64 wall_ns)
{
    const pt_i64 window_ns = device->is_used ? device->busy_end_ns - device->first_ns : 0;
    const pt_i64 seen_ns = window_ns - device->unseen_ns, busy_ns = seen_ns - device->idle_ns;
    const pt_i64 overlap_ns = device->kernels.total_ns + device->copies.total_ns - busy_ns;
    const double percent = 100 * (double)busy_ns;
    pt_rows_add(rows,
                &(struct device_row){
                    .id = device->number,
                    .name = pt_metrics_text(rows->metrics, device->name),
                    .busy_s = (double)busy_ns / 1e9,
                    .idle_s = (double)device->idle_ns / 1e9,
                    .busy_percent = seen_ns > 0 ? pt_real(percent / (double)seen_ns) : pt_unknown("it did nothing"),
                    .busy_of_stage_percent =
                        wall_ns > 0 ? pt_real(percent / (double)wall_ns) : pt_unknown("the stage took no time"),
                    .window_s = (double)window_ns / 1e9,
                    .kernels_s = (double)device->kernels.total_ns / 1e9,
                    .copies_s = (double)device->copies.total_ns / 1e9,
                    .overlap_s = overlap_ns > 0 ? (double)overlap_ns / 1e9 : 0,
                    .kernels_calls = device->n_kernels,
                    .copies_calls = device->n_copies + device->n_sets,
                    .gaps = device->n_gaps,
                    .not_seen_s = (double)device->unseen_ns / 1e9,
                    .memory_bytes = device->memory_bytes ? pt_integer(device->memory_bytes)
                                                         : pt_unknown("the device was not described"),
                    .only_collectives_s = (double)(device->kernels.total_ns - device->compute.total_ns) / 1e9,
                });
}

static void devices_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_device);
    for (size_t i = 0; i < gpu->devices.n; i++)
        if (gpu->devices.items[i]->stage == stage && gpu->devices.items[i]->is_used)
            add_device(&rows, gpu->devices.items[i], pt_profile_stage_wall_ns(gpu->profile, stage));
}

struct stream_row {
    const char *stream;
    pt_u32 pid, device;
    pt_u64 activities;
    double busy_s, idle_s;
    struct pt_value queue_mean, queue_max, launched_empty_percent;
};

static const struct pt_column stream_columns[] = {
    PT_COLUMN(struct stream_row, stream, TEXT, "Context/stream"),
    PT_COLUMN(struct stream_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct stream_row, activities, COUNT, "Pieces of work"),
    PT_COLUMN(struct stream_row, busy_s, SECONDS, "Busy"),
    PT_COLUMN(struct stream_row, idle_s, SECONDS, "Idle"),
    PT_COLUMN(struct stream_row, queue_mean, NUMBER, "Queue mean"),
    PT_COLUMN(struct stream_row, queue_max, COUNT, "Queue max"),
    PT_COLUMN(struct stream_row, launched_empty_percent, PERCENT, "Launched when empty"),
    PT_COLUMN(struct stream_row, device, NUMBER, "GPU"),
};
static const struct pt_table_kind by_stream = {PT_VIEW_gpu_streams, .most = 64, PT_COLUMNS(stream_columns)};

static void add_stream(struct pt_rows *rows, const struct pt_gpu_stream *stream, const struct pt_gpu_device *device)
{
    const struct pt_value none = pt_unknown("no launch was recorded");
    const double launches = (double)stream->launches;
    const pt_i64 idle_ns = stream->last_ns - stream->first_ns - stream->busy.total_ns;
    pt_rows_add(rows, &(struct stream_row){
                          .stream = pt_metrics_text(rows->metrics, stream->name),
                          .pid = stream->process->pid,
                          .activities = stream->activities,
                          .busy_s = (double)stream->busy.total_ns / 1e9,
                          .idle_s = idle_ns > 0 ? (double)idle_ns / 1e9 : 0,
                          .queue_mean = launches > 0 ? pt_real((double)stream->depth_sum / launches) : none,
                          .queue_max = launches > 0 ? pt_integer(stream->depth_most) : none,
                          .launched_empty_percent =
                              launches > 0 ? pt_real(100 * (double)stream->launched_empty / launches) : none,
                          .device = device->number,
                      });
}

static void streams_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_stream);
    for (size_t i = 0; i < gpu->streams.n; i++) {
        const struct pt_gpu_stream *stream = gpu->streams.items[i];
        const struct pt_gpu_device *device = gpu->devices.items[stream->device];
        if (device->stage == stage && stream->activities && pt_rows_have_room(&rows))
            add_stream(&rows, stream, device);
    }
}

void pt_gpu_idle_tables(struct pt_gpu *gpu, pt_u32 stage)
{
    devices_table(gpu, stage);
    causes_table(gpu, stage);
    places_table(gpu, stage);
    streams_table(gpu, stage);
}
