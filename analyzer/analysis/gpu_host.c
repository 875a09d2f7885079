/* SPDX-License-Identifier: MIT
 *
 * What the CPU profile knows about the time between recorded calls: page faults, waits that no hook sees, and the code
 * that ran.
 *
 * Threads: one. State: the profile of a stage that uses GPUs; samples in gaps by function. Never: takes a
 * few samples for the whole: what they do not stand for is the program's own code, somewhere.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_threads.h"
#include "cpu_view.h"
#include "gpu.h"

#define ENOUGH_SAMPLED 0.5

struct in_gaps { /* samples of a function */
    pt_u32 device, function;
    pt_u8 cause;
    pt_u64 samples;
    double ns;
};

struct gpu_host {
    struct gpu *gpu;
    struct pt_cpu_view view;
    struct pt_cpu_threads threads;
    struct pt_cpu_wait *waits; /* by thread and time */
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

/* Copies on the run's clock, in order. */
static void sort_all(struct gpu_host *host, const struct pt_cpu_data *data)
{
    host->waits = pt_calloc(data->n_waits + 1, sizeof *host->waits);
    host->samples = pt_calloc(data->n_samples + 1, sizeof *host->samples);
    host->n_waits = data->n_waits;
    for (size_t i = 0; i < data->n_waits; i++) {
        host->waits[i] = data->waits[i];
        host->waits[i].t_ns += (pt_u64)host->threads.shift_ns;
    }
    for (size_t i = 0; i < data->n_samples; i++) {
        host->samples[i] = data->samples[i];
        host->samples[i].t_ns += (pt_u64)host->threads.shift_ns;
    }
    qsort(host->waits, data->n_waits, sizeof *host->waits, by_thread_and_time);
    qsort(host->samples, data->n_samples, sizeof *host->samples, samples_by_thread_and_time);
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
    pt_cpu_threads_open(&host->threads, host->view.data, session->start_realtime_ns);
    sort_all(host, host->view.data);
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
    free(host->samples);
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

/* Below libc and the kernel lies a function of ours that is no hook: the trace was being written. */
static bool is_tracing(const struct gpu_host *host, pt_u32 node)
{
    for (pt_u32 frame = host->view.frame_of[node]; frame; frame = host->view.frames.items[frame].parent) {
        const struct pt_cpu_function *f = &host->view.functions.items[host->view.frames.items[frame].function];
        const char *module = f->module ? pt_base_name(f->module) : "";
        if (!strncmp(module, "libproftrace", 12))
            return !strncmp(f->name, "pt_", 3);
        if (*module && strncmp(module, "libc.so", 7) != 0 && *module != '[')
            return false;
    }
    return false;
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
             is_tracing(host, wait->node)          ? GPU_CAUSE_tracing
             : wait->flags & PT_CPU_WAIT_PREEMPTED ? GPU_CAUSE_runnable /* it makes no system call then either */
             : wait->flags & PT_CPU_WAIT_FAULT     ? GPU_CAUSE_page_in
                                                   : GPU_CAUSE_off_cpu,
             &span, from_ns, to_ns - from_ns);
        shown_ns += to_ns - from_ns;
        start_ns = to_ns;
    }
    return shown_ns;
}

/* The allocator's own functions: what a heap of many small blocks costs has no calls that are timed. */
static bool is_allocator(const char *name)
{
    static const char *const names[] = {"malloc",       "free",     "calloc",       "realloc",
                                        "cfree",        "memalign", "operator new", "operator delete",
                                        "sysmalloc",    "systrim",  "malloc_trim",  "malloc_consolidate",
                                        "unlink_chunk", "mmap",     "munmap",       "madvise",
                                        "brk",          "sbrk"};
    static const char *const families[] = {"_int_malloc",   "_int_free",   "_int_realloc",  "_int_memalign", "tcache_",
                                           "__libc_malloc", "__libc_free", "__libc_calloc", "__libc_realloc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])) && (!name[strlen(names[i])] || name[strlen(names[i])] == '('))
            return true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strncmp(name, families[i], strlen(families[i])))
            return true;
    return false;
}

/* The kernel was entered from code that makes no system calls, as only libc does: a page was missing. */
static bool is_page_fault(const struct gpu_host *host, pt_u32 node, pt_u32 function)
{
    const struct pt_cpu_function *from = &host->view.functions.items[function];
    const char *module = from->module ? pt_base_name(from->module) : "[";
    if (host->view.data->nodes[node].module != PT_CPU_MODULE_KERNEL || !strcmp(from->name, "[kernel]"))
        return false;
    if (!strncmp(from->name, "__mem", 5) || !strncmp(from->name, "mem", 3))
        return true;
    static const char *const callers[] = {"libc.so", "libc-", "libpthread", "ld-linux", "libproftrace", "["};
    for (size_t i = 0; i < sizeof callers / sizeof *callers; i++)
        if (!strncmp(module, callers[i], strlen(callers[i])))
            return false;
    return true;
}

static enum gpu_cause cause_of(const struct gpu_host *host, pt_u32 node, pt_u32 function)
{
    if (is_tracing(host, node))
        return GPU_CAUSE_tracing;
    if (is_page_fault(host, node, function))
        return GPU_CAUSE_page_in;
    if (is_allocator(host->view.functions.items[function].name))
        return GPU_CAUSE_heap;
    return pt_cpu_view_is_python(&host->view, node) ? GPU_CAUSE_python : GPU_CAUSE_native;
}

static void count_sample(struct gpu_host *host, pt_u32 device, pt_u32 thread, pt_u32 node)
{
    const pt_u32 function = function_of(host, node);
    const enum gpu_cause cause = cause_of(host, node, function);
    pt_u64 *slot = pt_map_at(&host->by_function, (pt_u64)device << 40 | (pt_u64)function << 8 | cause);
    if (!*slot) {
        pt_vec_push(&host->found, ((struct in_gaps){.device = device, .function = function, .cause = (pt_u8)cause}));
        *slot = host->found.n;
    }
    host->found.items[*slot - 1].samples++;
    host->found.items[*slot - 1].ns += host->view.sample_s[thread] * 1e9;
}

static void count_samples(struct gpu_host *host, pt_u32 device, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns)
{
    const size_t n = host->view.data->n_samples;
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct pt_cpu_sample *sample = &host->samples[middle];
        if (sample->thread < thread || (sample->thread == thread && (pt_i64)sample->t_ns < start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && host->samples[low].thread == thread && (pt_i64)host->samples[low].t_ns < end_ns; low++)
        count_sample(host, device, thread, host->samples[low].node);
}

pt_i64 gpu_host_part(struct gpu_host *host, pt_u32 device, pt_u32 tid, pt_i64 start_ns, pt_i64 end_ns,
                     gpu_show_part *show, void *context)
{
    const pt_u32 thread = pt_cpu_threads_find(&host->threads, tid, start_ns);
    if (!thread)
        return end_ns - start_ns;
    count_samples(host, device, thread, start_ns, end_ns);
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
    /* Waits that the profile has are taken off already: samples that cover most of the rest stand for all of it. */
    const double scale = sampled_ns >= ENOUGH_SAMPLED * (double)own_ns ? (double)own_ns / sampled_ns : 1;
    for (size_t i = 0; i < host->found.n; i++) {
        const struct in_gaps *found = &host->found.items[i];
        pt_i64 ns = found->device == device ? (pt_i64)(found->ns * scale) : 0;
        ns = ns > own_ns - taken_ns ? own_ns - taken_ns : ns;
        if (ns <= 0)
            continue;
        const struct gpu_place place = {
            .device = device, .cause = found->cause, .inner = GPU_CAUSE__COUNT, .text = text_of(host, found->function)};
        const pt_u32 index = gpu_place_at(gpu, &place); /* may move the places */
        gpu->places.items[index].ns += ns;
        taken_ns += ns;
    }
    take_from_own_code(gpu, device, own_ns, taken_ns);
}
