/* SPDX-License-Identifier: MIT
 *
 * What the CPU profile knows about the time between recorded calls: page faults, waits that no hook sees, and the code
 * that ran.
 *
 * Threads: one. State: the profile of a stage that uses GPUs; samples in gaps by function. Never: gives code more time
 * than its samples stand for: what is left is the program's own code, somewhere.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_threads.h"
#include "cpu_view.h"
#include "gpu.h"

struct in_gaps { /* samples of a function */
    pt_u32 device, function;
    bool is_python;
    pt_u64 samples;
    double ns;
};

struct gpu_host {
    struct gpu *gpu;
    struct pt_cpu_view view;
    struct pt_cpu_threads threads;
    struct pt_cpu_wait *waits; /* by thread and time */
    size_t n_waits;
    struct {
        PT_VEC(struct in_gaps);
    } found;
    struct pt_map by_function; /* device, function, Python -> index, plus 1 */
};

static int by_thread_and_time(const void *a, const void *b)
{
    const struct pt_cpu_wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->t_ns < y->t_ns ? -1 : x->t_ns > y->t_ns;
}

struct gpu_host *gpu_host_open(struct gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    struct gpu_host *host = pt_calloc(1, sizeof *host);
    struct pt_error err = {0};
    host->gpu = gpu;
    /* A profile that cannot be read is the analysis cpu's to complain about. */
    if (!gpu->profile->stages.items[stage].run || !pt_cpu_view_open(&host->view, session->path, stage, &err)) {
        free(host);
        return NULL;
    }
    const struct pt_cpu_data *data = host->view.data;
    pt_cpu_threads_open(&host->threads, host->view.data, session->start_realtime_ns);
    host->waits = pt_calloc(data->n_waits + 1, sizeof *host->waits);
    host->n_waits = data->n_waits;
    if (data->n_waits)
        memcpy(host->waits, data->waits, data->n_waits * sizeof *host->waits);
    for (size_t i = 0; i < host->n_waits; i++)
        host->waits[i].t_ns += (pt_u64)host->threads.shift_ns;
    qsort(host->waits, host->n_waits, sizeof *host->waits, by_thread_and_time);
    return host;
}

void gpu_host_close(struct gpu_host *host)
{
    if (!host)
        return;
    pt_cpu_threads_close(&host->threads);
    pt_cpu_view_close(&host->view);
    pt_map_fini(&host->by_function);
    free(host->found.items);
    free(host->waits);
    free(host);
}

/* The innermost function that is not the kernel's. */
static pt_u32 function_of(const struct gpu_host *host, pt_u32 node)
{
    pt_u32 frame = host->view.frame_of[node];
    while (frame && host->view.frames.items[frame].parent &&
           !strcmp(host->view.functions.items[host->view.frames.items[frame].function].name, "[kernel]"))
        frame = host->view.frames.items[frame].parent;
    return host->view.frames.items[frame].function;
}

static const char *text_of(const struct gpu_host *host, pt_u32 function)
{
    const struct pt_cpu_function *f = &host->view.functions.items[function];
    char text[512];
    if (f->file)
        snprintf(text, sizeof text, "%s (%s:%u)", f->name, f->file, f->line);
    else
        snprintf(text, sizeof text, "%s", f->name);
    return gpu_text(host->gpu, text);
}

static pt_i64 show_waits(struct gpu_host *host, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns, gpu_show_part *show,
                         void *context)
{
    size_t low = 0, high = host->n_waits;
    pt_i64 shown_ns = 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct pt_cpu_wait *wait = &host->waits[middle];
        if (wait->thread < thread || (wait->thread == thread && (pt_i64)(wait->t_ns + wait->duration_ns) <= start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < host->n_waits && host->waits[low].thread == thread; low++) {
        const struct pt_cpu_wait *wait = &host->waits[low];
        const pt_i64 from_ns = (pt_i64)wait->t_ns > start_ns ? (pt_i64)wait->t_ns : start_ns;
        const pt_i64 until_ns = (pt_i64)(wait->t_ns + wait->duration_ns);
        const pt_i64 to_ns = until_ns < end_ns ? until_ns : end_ns;
        if (from_ns >= end_ns)
            break;
        if (to_ns <= from_ns)
            continue;
        const struct gpu_span span = {.text = text_of(host, function_of(host, wait->node))};
        show(context,
             wait->flags & PT_CPU_WAIT_FAULT       ? GPU_CAUSE_page_in
             : wait->flags & PT_CPU_WAIT_PREEMPTED ? GPU_CAUSE_runnable
                                                   : GPU_CAUSE_off_cpu,
             &span, from_ns, to_ns - from_ns);
        shown_ns += to_ns - from_ns;
        start_ns = to_ns;
    }
    return shown_ns;
}

static void count_sample(struct gpu_host *host, pt_u32 device, pt_u32 thread, pt_u32 node)
{
    const pt_u32 function = function_of(host, node);
    const bool is_python = pt_cpu_view_is_python(&host->view, node);
    pt_u64 *slot = pt_map_at(&host->by_function, (pt_u64)device << 33 | (pt_u64)function << 1 | is_python);
    if (!*slot) {
        pt_vec_push(&host->found, ((struct in_gaps){.device = device, .function = function, .is_python = is_python}));
        *slot = host->found.n;
    }
    host->found.items[*slot - 1].samples++;
    host->found.items[*slot - 1].ns += host->view.sample_s[thread] * 1e9;
}

pt_i64 gpu_host_part(struct gpu_host *host, pt_u32 device, pt_u32 tid, pt_i64 start_ns, pt_i64 end_ns,
                     gpu_show_part *show, void *context)
{
    const pt_u32 thread = pt_cpu_threads_find(&host->threads, tid, start_ns);
    if (!thread)
        return end_ns - start_ns;
    const struct pt_cpu_moment *moments;
    const size_t n = pt_cpu_threads_moments(&host->threads, thread, start_ns, end_ns - 1, &moments);
    for (size_t i = 0; i < n; i++)
        count_sample(host, device, thread, moments[i].node);
    return end_ns - start_ns - show_waits(host, thread, start_ns, end_ns, show, context);
}

/* ---- sharing ---- */

static bool is_own_code(const struct gpu_place *place, pt_u32 device)
{
    return place->device == device && place->cause == GPU_CAUSE_host_code && place->ns > 0;
}

static void take_from_own_code(struct gpu *gpu, pt_u32 device, pt_i64 all_ns, pt_i64 taken_ns)
{
    pt_i64 left_ns = taken_ns;
    for (size_t i = 0; i < gpu->places.n; i++) {
        struct gpu_place *place = &gpu->places.items[i];
        if (!is_own_code(place, device))
            continue;
        pt_i64 ns = (pt_i64)ceil((double)place->ns * (double)taken_ns / (double)all_ns);
        ns = ns > left_ns ? left_ns : ns;
        ns = ns > place->ns ? place->ns : ns;
        place->ns -= ns;
        left_ns -= ns;
    }
}

void gpu_host_share(struct gpu *gpu, pt_u32 device)
{
    const struct gpu_host *host = gpu->hosts[gpu->devices.items[device]->stage];
    pt_i64 own_ns = 0, taken_ns = 0;
    double sampled_ns = 0;
    for (size_t i = 0; i < gpu->places.n; i++)
        own_ns += is_own_code(&gpu->places.items[i], device) ? gpu->places.items[i].ns : 0;
    for (size_t i = 0; host && i < host->found.n; i++)
        sampled_ns += host->found.items[i].device == device ? host->found.items[i].ns : 0;
    if (sampled_ns <= 0 || own_ns <= 0)
        return;
    const double scale = sampled_ns > (double)own_ns ? (double)own_ns / sampled_ns : 1;
    for (size_t i = 0; i < host->found.n; i++) {
        const struct in_gaps *found = &host->found.items[i];
        pt_i64 ns = found->device == device ? (pt_i64)(found->ns * scale) : 0;
        ns = ns > own_ns - taken_ns ? own_ns - taken_ns : ns;
        if (ns <= 0)
            continue;
        const struct gpu_place place = {.device = device,
                                        .cause = found->is_python ? GPU_CAUSE_python : GPU_CAUSE_native,
                                        .inner = GPU_CAUSE__COUNT,
                                        .text = text_of(host, found->function)};
        gpu->places.items[gpu_place_at(gpu, &place)].ns += ns;
        taken_ns += ns;
    }
    take_from_own_code(gpu, device, own_ns, taken_ns);
}
