/* SPDX-License-Identifier: MIT
 *
 * What the CPU profile knows about the time between recorded calls: page faults, waits that no hook sees, and the code
 * that ran.
 *
 * Threads: one. State: the profile of a stage that uses GPUs; samples in gaps by function. Never: takes a
 * few samples for the whole: what they do not stand for is the program's own code, somewhere.
 */
#include "host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/cpu_samples.h"
#include "profile/stages.h"
#include "code.h"

#define ENOUGH_SAMPLED 0.5
#define KNOWN_ALONE 0x80000000u /* flag of a wait: all of its kind are known one by one */

#define LARGEST_SHIFT_NS 4000000000000000000ll
/* No device: what is found stands for nothing else. */
#define NOBODY UINT32_MAX

struct in_gaps { /* samples of a function, and waits in it that nobody saw */
    pt_u32 device, function;
    pt_u8 cause;
    double ns;
};

struct gpu_host {
    struct gpu *gpu;
    const struct pt_cpu_view *view;
    const struct pt_cpu_threads *threads;
    pt_i64 shift_ns;           /* from the profile's times to those of the run */
    struct pt_cpu_wait *waits; /* by thread and time, of node 0 without a stack */
    double *unseen;            /* by wait: for how much more than it lasted it stands */
    size_t n_waits;
    struct pt_cpu_sample *samples; /* by thread and time */
    struct {
        PT_VEC(struct in_gaps);
    } found;
    struct pt_map by_function; /* device, function, cause -> index, plus 1 */
};

static int by_thread_and_time(const void *a, const void *b)
{
    const struct pt_cpu_wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (pt_i64)x->t_ns < (pt_i64)y->t_ns ? -1 : (pt_i64)x->t_ns > (pt_i64)y->t_ns;
}

static int samples_by_thread_and_time(const void *a, const void *b)
{
    const struct pt_cpu_sample *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (pt_i64)x->t_ns < (pt_i64)y->t_ns ? -1 : (pt_i64)x->t_ns > (pt_i64)y->t_ns;
}

/* Stacks are taken of some waits only; preemptions and waits for pages are known one by one beside them. */
static void add_intervals(struct gpu_host *host, const struct pt_cpu_data *data)
{
    const size_t n_stacks = host->n_waits;
    for (size_t i = 0; i < data->n_intervals; i++) {
        const struct pt_cpu_interval *one = &data->intervals[i];
        const pt_u32 flag =
            KNOWN_ALONE | (one->kind == PT_CPU_INTERVAL_FAULT ? PT_CPU_WAIT_FAULT : PT_CPU_WAIT_PREEMPTED);
        const struct pt_cpu_wait wait = {.t_ns = one->t_ns + (pt_u64)host->shift_ns,
                                         .duration_ns = one->duration_ns,
                                         .thread = one->thread,
                                         .flags = flag};
        struct pt_cpu_wait *same = bsearch(&wait, host->waits, n_stacks, sizeof wait, by_thread_and_time);
        if (one->kind > PT_CPU_INTERVAL_FAULT)
            continue;
        if (same)
            same->flags |= flag;
        else
            host->waits[host->n_waits++] = wait;
    }
    qsort(host->waits, host->n_waits, sizeof *host->waits, by_thread_and_time);
}

/* Which stacks are taken is chance: a wait stands for the thread's others of its length, too. */
static void weigh_waits(struct gpu_host *host, const struct pt_cpu_data *data)
{
    host->unseen = pt_calloc(host->n_waits + 1, sizeof *host->unseen);
    for (size_t first = 0, end = 0; first < host->n_waits; first = end) {
        double with_stack_ns[PT_CPU_WAIT_CLASSES] = {0}, rest_ns[PT_CPU_WAIT_CLASSES];
        const struct pt_cpu_wait_sums *sums = &data->wait_sums[host->waits[first].thread];
        for (int i = 0; i < PT_CPU_WAIT_CLASSES; i++)
            rest_ns[i] = (double)sums->blocked_ns[i];
        for (; end < host->n_waits && host->waits[end].thread == host->waits[first].thread; end++) {
            const struct pt_cpu_wait *wait = &host->waits[end];
            const pt_u32 class = pt_cpu_wait_class(wait->duration_ns);
            if (wait->flags & PT_CPU_WAIT_PREEMPTED)
                continue;
            rest_ns[class] -= (double)wait->duration_ns;
            with_stack_ns[class] += wait->flags & KNOWN_ALONE ? 0 : (double)wait->duration_ns;
        }
        for (size_t i = first; i < end; i++) {
            const pt_u32 class = pt_cpu_wait_class(host->waits[i].duration_ns);
            if (!(host->waits[i].flags & (PT_CPU_WAIT_PREEMPTED | KNOWN_ALONE)) && rest_ns[class] > 0)
                host->unseen[i] = rest_ns[class] / with_stack_ns[class];
        }
    }
}

/* Copies on the run's clock, in order. */
static void sort_all(struct gpu_host *host, const struct pt_cpu_data *data)
{
    host->waits = pt_calloc(data->n_waits + data->n_intervals + 1, sizeof *host->waits);
    host->samples = pt_calloc(data->n_samples + 1, sizeof *host->samples);
    host->n_waits = data->n_waits;
    for (size_t i = 0; i < data->n_waits; i++) {
        host->waits[i] = data->waits[i];
        host->waits[i].t_ns += (pt_u64)host->shift_ns;
    }
    for (size_t i = 0; i < data->n_samples; i++) {
        host->samples[i] = data->samples[i];
        host->samples[i].t_ns += (pt_u64)host->shift_ns;
    }
    qsort(host->waits, data->n_waits, sizeof *host->waits, by_thread_and_time);
    qsort(host->samples, data->n_samples, sizeof *host->samples, samples_by_thread_and_time);
    add_intervals(host, data);
    weigh_waits(host, data);
}

/* By the clock that both have: between two readings of different ones anything may happen. A file may claim any time.
 */
static pt_i64 shift_of(const struct gpu_host *host, const struct pt_process *root)
{
    pt_i64 shift_ns;
    if (!root || !root->start_monotonic_ns ||
        __builtin_add_overflow(root->start_ns,
                               (pt_i64)(host->view->data->header.begin_monotonic_ns - root->start_monotonic_ns),
                               &shift_ns) ||
        shift_ns > LARGEST_SHIFT_NS || shift_ns < -LARGEST_SHIFT_NS)
        return host->threads->shift_ns;
    return shift_ns;
}

struct gpu_host *pt_gpu_host_open(struct gpu *gpu, pt_u32 stage)
{
    if (!gpu->profile->cpu[stage].data)
        return NULL;
    struct gpu_host *host = pt_calloc(1, sizeof *host);
    host->gpu = gpu;
    host->view = &gpu->profile->cpu_views[stage];
    host->threads = &gpu->profile->cpu[stage];
    host->shift_ns = shift_of(host, gpu->profile->stages.items[stage].root);
    sort_all(host, host->view->data);
    return host;
}

void pt_gpu_host_close(struct gpu_host *host)
{
    if (!host)
        return;
    pt_map_fini(&host->by_function);
    free(host->found.items);
    free(host->waits);
    free(host->unseen);
    free(host->samples);
    free(host);
}

static const char *text_of(const struct gpu_host *host, pt_u32 function)
{
    const struct pt_cpu_function *f = &host->view->functions.items[function];
    char text[512];
    if (!*f->name)
        return NULL;
    if (f->file)
        snprintf(text, sizeof text, "%s (%s:%u)", f->name, f->file, f->line);
    else
        snprintf(text, sizeof text, "%s", f->name);
    return pt_gpu_text(host->gpu, text);
}

static void add_found(struct gpu_host *host, pt_u32 device, enum gpu_cause cause, pt_u32 function, double ns)
{
    pt_u64 *slot = pt_map_at(&host->by_function, (pt_u64)device << 40 | (pt_u64)function << 8 | cause);
    if (!*slot) {
        pt_vec_push(&host->found, ((struct in_gaps){.device = device, .function = function, .cause = (pt_u8)cause}));
        *slot = host->found.n;
    }
    host->found.items[*slot - 1].ns += ns;
}

static enum gpu_cause cause_of_wait(const struct gpu_host *host, const struct pt_cpu_wait *wait)
{
    return pt_gpu_code_is_tracing(host->view, wait->node) ? GPU_CAUSE_tracing
           : wait->flags & PT_CPU_WAIT_PREEMPTED          ? GPU_CAUSE_runnable /* it makes no system call then either */
           : wait->flags & PT_CPU_WAIT_FAULT              ? GPU_CAUSE_page_in
                                                          : GPU_CAUSE_off_cpu;
}

static pt_i64 show_waits(struct gpu_host *host, pt_u32 device, pt_u32 thread, struct gpu_stretch stretch,
                         struct gpu_viewer viewer)
{
    size_t low = 0, high = host->n_waits;
    pt_i64 shown_ns = 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct pt_cpu_wait *wait = &host->waits[middle];
        if (wait->thread < thread ||
            (wait->thread == thread && (pt_i64)(wait->t_ns + wait->duration_ns) <= stretch.start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < host->n_waits && host->waits[low].thread == thread; low++) {
        const struct pt_cpu_wait *wait = &host->waits[low];
        const pt_i64 from_ns = (pt_i64)wait->t_ns > stretch.start_ns ? (pt_i64)wait->t_ns : stretch.start_ns;
        const pt_i64 until_ns = (pt_i64)(wait->t_ns + wait->duration_ns);
        const pt_i64 to_ns = until_ns < stretch.end_ns ? until_ns : stretch.end_ns;
        if (from_ns >= stretch.end_ns)
            break;
        if (to_ns <= from_ns)
            continue;
        const pt_u32 function = pt_cpu_view_function(host->view, wait->node);
        const enum gpu_cause cause = cause_of_wait(host, wait);
        const struct gpu_span span = {.text = text_of(host, function)};
        viewer.show(viewer.context, cause, &span, from_ns, to_ns - from_ns);
        if (host->unseen[low] > 0 && device != NOBODY)
            add_found(host, device, cause, function, host->unseen[low] * (double)(to_ns - from_ns));
        shown_ns += to_ns - from_ns;
        stretch.start_ns = to_ns;
    }
    return shown_ns;
}

static void count_samples(struct gpu_host *host, pt_u32 device, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns)
{
    const size_t n = host->view->data->n_samples;
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct pt_cpu_sample *sample = &host->samples[middle];
        if (sample->thread < thread || (sample->thread == thread && (pt_i64)sample->t_ns < start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && host->samples[low].thread == thread && (pt_i64)host->samples[low].t_ns < end_ns; low++) {
        const pt_u32 node = host->samples[low].node, function = pt_cpu_view_function(host->view, node);
        add_found(host, device, pt_gpu_code_cause(host->view, node, function), function,
                  host->view->sample_s[thread] * 1e9);
    }
}

pt_i64 pt_gpu_host_part(struct gpu_host *host, pt_u32 device, struct gpu_stretch stretch, struct gpu_viewer viewer)
{
    const pt_u32 thread = pt_cpu_threads_find(host->threads, stretch.tid, stretch.start_ns);
    const pt_i64 ns = stretch.end_ns - stretch.start_ns;
    if (!thread)
        return ns;
    count_samples(host, device, thread, stretch.start_ns, stretch.end_ns);
    return ns - show_waits(host, device, thread, stretch, viewer);
}

pt_i64 pt_gpu_host_waits(struct gpu_host *host, struct gpu_stretch stretch, struct gpu_viewer viewer)
{
    const pt_u32 thread = pt_cpu_threads_find(host->threads, stretch.tid, stretch.start_ns);
    const pt_i64 shown_ns = thread ? show_waits(host, NOBODY, thread, stretch, viewer) : 0;
    return stretch.end_ns - stretch.start_ns - shown_ns;
}

/* ---- sharing ---- */

static bool is_own_code(const struct gpu_place *place, pt_u32 device)
{
    return place->device == device && place->cause == GPU_CAUSE_host_code && place->ns > 0;
}

struct module_sum {
    double faults_ns, all_ns;
    size_t code; /* where most of its code ran; index + 1 */
};
struct module_sums {
    PT_VEC(struct module_sum);
};

static struct module_sum *sum_of_module(const struct gpu_host *host, struct pt_map *map, struct module_sums *sums,
                                        const struct in_gaps *found)
{
    pt_u64 *slot = pt_map_at(map, (uintptr_t)host->view->functions.items[found->function].module);
    if (!*slot) {
        pt_vec_push(sums, (struct module_sum){0});
        *slot = sums->n;
    }
    return &sums->items[*slot - 1];
}

/* The kernel is entered from a module's code by interrupts, too: a few samples there are no page faults. */
static void forget_interrupts(struct gpu_host *host, pt_u32 device)
{
    enum { LEAST_SHARE = 5 };
    struct module_sums sums = {0};
    struct pt_map by_module = {0};
    for (size_t i = 0; i < host->found.n; i++) {
        const struct in_gaps *found = &host->found.items[i];
        const bool is_fault = found->cause == GPU_CAUSE_page_in;
        if (found->device != device ||
            (!is_fault && found->cause != GPU_CAUSE_python && found->cause != GPU_CAUSE_native))
            continue;
        struct module_sum *sum = sum_of_module(host, &by_module, &sums, found);
        sum->faults_ns += is_fault ? found->ns : 0;
        sum->all_ns += found->ns;
        if (!is_fault && (!sum->code || found->ns > host->found.items[sum->code - 1].ns))
            sum->code = i + 1;
    }
    for (size_t i = 0; i < host->found.n; i++) {
        struct in_gaps *found = &host->found.items[i];
        if (found->device != device || found->cause != GPU_CAUSE_page_in)
            continue;
        const struct module_sum *sum = sum_of_module(host, &by_module, &sums, found);
        if (!sum->code || sum->faults_ns * LEAST_SHARE >= sum->all_ns)
            continue;
        host->found.items[sum->code - 1].ns += found->ns;
        found->ns = 0;
    }
    pt_map_fini(&by_module);
    free(sums.items);
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

void pt_gpu_host_share(struct gpu *gpu, pt_u32 device)
{
    struct gpu_host *host = gpu->hosts[gpu->devices.items[device]->stage];
    pt_i64 own_ns = 0, taken_ns = 0;
    double sampled_ns = 0;
    for (size_t i = 0; i < gpu->places.n; i++)
        own_ns += is_own_code(&gpu->places.items[i], device) ? gpu->places.items[i].ns : 0;
    if (host)
        forget_interrupts(host, device);
    for (size_t i = 0; host && i < host->found.n; i++)
        sampled_ns += host->found.items[i].device == device ? host->found.items[i].ns : 0;
    if (sampled_ns <= 0 || own_ns <= 0)
        return;
    /* Waits that the profile has are taken off already: what covers most of the rest stands for all of it. */
    const double scale = sampled_ns >= ENOUGH_SAMPLED * (double)own_ns ? (double)own_ns / sampled_ns : 1;
    for (size_t i = 0; i < host->found.n; i++) {
        const struct in_gaps *found = &host->found.items[i];
        pt_i64 ns = found->device == device ? (pt_i64)(found->ns * scale) : 0;
        ns = ns > own_ns - taken_ns ? own_ns - taken_ns : ns;
        if (ns <= 0)
            continue;
        const struct gpu_place place = {
            .device = device, .cause = found->cause, .inner = GPU_CAUSE__COUNT, .text = text_of(host, found->function)};
        const pt_u32 index = pt_gpu_place_at(gpu, &place); /* may move the places */
        gpu->places.items[index].ns += ns;
        taken_ns += ns;
    }
    take_from_own_code(gpu, device, own_ns, taken_ns);
}
