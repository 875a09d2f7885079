/* SPDX-License-Identifier: MIT
 *
 * What the CPU profile knows about the time between recorded calls: page faults, waits without a recorded call, and the
 * code that ran.
 *
 * Threads: one. State: the profile of a stage that uses GPUs; samples in gaps by place. Never: extrapolates a few
 * samples to the whole gap: the time that they do not represent is the program's own code, without a place.
 */
#include "host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/cpu_code.h"
#include "facts/python/frames.h"
#include "util/text/path.h"
#include "util/text/utf8.h"
#include "util/whole.h"

#define ENOUGH_SAMPLED 0.5
enum { MOST_PLACES_OF_GAP = 64 }; /* that are looked through for one that is there already */

/* No device: what is found is not extrapolated. */
#define NO_DEVICE UINT32_MAX

struct in_gaps {      /* samples of a place, and unrecorded waits in it */
    const char *text; /* NULL = unknown */
    pt_u32 device, function;
    pt_u8 cause;
    double ns;
};

struct pt_gpu_host {
    struct pt_gpu *gpu;
    const struct pt_cpu_view *view;
    const struct pt_cpu_timeline *cpu;
    struct pt_cpu_unrecorded **unrecorded; /* by thread; NULL = not computed yet */
    struct {
        PT_VEC(struct in_gaps);
    } found;
    struct pt_map by_place; /* device, cause, text, module -> index, plus 1 */
    struct pt_map texts;    /* of a node -> the address of its text, plus 1 */
};

struct pt_gpu_host *pt_gpu_host_open(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(gpu->facts, stage);
    if (!cpu->data)
        return NULL;
    struct pt_gpu_host *host = pt_calloc(1, sizeof *host);
    host->gpu = gpu;
    host->view = &gpu->facts->views[stage];
    host->cpu = cpu;
    host->unrecorded = pt_calloc(cpu->data->n_threads, sizeof *host->unrecorded);
    return host;
}

void pt_gpu_host_close(struct pt_gpu_host *host)
{
    if (!host)
        return;
    for (size_t i = 0; i < host->cpu->data->n_threads; i++)
        free(host->unrecorded[i]);
    free(host->unrecorded);
    pt_map_fini(&host->by_place);
    pt_map_fini(&host->texts);
    free(host->found.items);
    free(host);
}

/* Which waits get a stack is chance: a wait with a stack also represents the thread's other waits of its length.
 * Preemptions and waits for pages are recorded one by one, unless there are too many. */
static double unseen_of(struct pt_gpu_host *host, pt_u32 thread, const struct pt_cpu_state *wait)
{
    const pt_u32 class = pt_cpu_wait_class((pt_u64)(wait->end_ns - wait->start_ns));
    if (wait->flags & PT_CPU_PREEMPTED || !(wait->flags & PT_CPU_HAS_STACK))
        return 0;
    if (!host->unrecorded[thread]) {
        host->unrecorded[thread] = pt_calloc(1, sizeof *host->unrecorded[thread]);
        pt_cpu_unrecorded(host->cpu, thread, host->unrecorded[thread]);
    }
    const struct pt_cpu_unrecorded *unrecorded = host->unrecorded[thread];
    const double fault_ns = unrecorded->fault_ns[class];
    return wait->flags & PT_CPU_IS_EXACT ? fault_ns / unrecorded->fault_with_stack_ns[class]
           : unrecorded->with_stack_ns[class] > 0
               ? (unrecorded->all_ns[class] - fault_ns) / unrecorded->with_stack_ns[class]
               : 0;
}

static const char *text_of(const struct pt_gpu_host *host, pt_u32 function)
{
    const struct pt_cpu_function *f = &host->view->functions.items[function];
    char text[512];
    if (!*f->name)
        return NULL;
    if (f->file)
        snprintf(text, sizeof text, "%s (%s:%u)", f->name, f->file, f->line);
    else
        snprintf(text, sizeof text, "%s", f->name);
    pt_utf8_trim(text, sizeof text);
    return pt_gpu_text(host->gpu, text);
}

/* With more functions of Python below it, the line does not tell what is done: it starts a trainer, or calls a model.
 */
#define LEAST_DEPTH 3

/* "train.py:88 update_metrics", the program's own line, as all findings name places; NULL = it has none. A function of
 * PyTorch or NumPy was named that each part of a training calls. */
static const char *own_line_of(const struct pt_gpu_host *host, pt_u32 node)
{
    struct pt_stack_frame frames[PT_STACK_FRAMES];
    char text[512];
    const pt_u32 n = pt_cpu_stack(host->view, host->view->frame_of[node], frames);
    const struct pt_stack_frame *own = pt_python_own_frame(frames, n), *inner = NULL;
    if (!own || !own->file || pt_python_is_library_frame(own))
        return NULL;
    pt_u32 depth = 0;
    for (const struct pt_stack_frame *frame = own; frame-- > frames;)
        if (pt_python_is_library_frame(frame)) {
            inner = frame;
            depth++;
        }
    const int length = snprintf(text, sizeof text, "%s:%u %s", pt_telling_name(own->file), own->line, own->function);
    if (depth >= LEAST_DEPTH && length > 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, " > %s:%u %s", pt_telling_name(inner->file), inner->line,
                 inner->function);
    pt_utf8_trim(text, sizeof text);
    return pt_gpu_text(host->gpu, text);
}

static bool is_frozen(const struct pt_cpu_function *function)
{
    return function->file && !strncmp(function->file, "<frozen ", 8);
}

/* Code that lies in the interpreter itself (importlib) is nobody's to look into: whose module it works for is. */
static pt_u32 function_at(const struct pt_cpu_view *view, pt_u32 node)
{
    const pt_u32 here = pt_cpu_function_at(view, node);
    if (!is_frozen(&view->functions.items[here]))
        return here;
    for (pt_u32 frame = view->frame_of[node]; frame; frame = view->frames.items[frame].parent) {
        const pt_u32 function = view->frames.items[frame].function;
        const struct pt_cpu_function *of = &view->functions.items[function];
        if (of->file && of->code == PT_CODE_SCRIPT && !is_frozen(of))
            return function;
    }
    return here;
}

/* Which function touched a page tells what the page is of; our own code is where it is, whoever called it. */
static bool has_own_line(enum pt_gpu_cause cause)
{
    return cause == PT_GPU_CAUSE_python || cause == PT_GPU_CAUSE_native || cause == PT_GPU_CAUSE_heap ||
           cause == PT_GPU_CAUSE_off_cpu;
}

static const char *place_of(struct pt_gpu_host *host, pt_u32 node, enum pt_gpu_cause cause)
{
    if (!has_own_line(cause))
        return text_of(host, function_at(host->view, node));
    pt_u64 *slot = pt_map_at(&host->texts, node);
    if (!*slot) {
        const char *own = own_line_of(host, node);
        *slot = (uintptr_t)(own ? own : text_of(host, function_at(host->view, node))) + 1;
    }
    return (const char *)(uintptr_t)(*slot - 1);
}

/* A record that comes later may show that the device was busy in the gap: then it is taken back. */
static void note_find(struct pt_gpu_device *device, size_t place, double ns)
{
    const size_t first = device->gaps.items[device->gaps.n - 1].first_find;
    for (size_t i = device->finds.n; i-- > first && device->finds.n - i <= MOST_PLACES_OF_GAP;)
        if (device->finds.items[i].place == place) {
            device->finds.items[i].ns += ns;
            return;
        }
    pt_vec_push(&device->finds, ((struct pt_gpu_find){place, ns}));
}

void pt_gpu_host_take_back(struct pt_gpu *gpu, struct pt_gpu_device *device)
{
    const size_t first = device->gaps.items[device->gaps.n - 1].first_find;
    struct pt_gpu_host *host = gpu->hosts[device->stage];
    for (; device->finds.n > first; device->finds.n--) {
        const struct pt_gpu_find *find = &device->finds.items[device->finds.n - 1];
        host->found.items[find->place].ns -= find->ns;
    }
}

static void add_found(struct pt_gpu_host *host, pt_u32 device, enum pt_gpu_cause cause, pt_u32 node, double ns)
{
    const pt_u32 function = function_at(host->view, node);
    const char *text = place_of(host, node, cause), *module = host->view->functions.items[function].module;
    const pt_u64 what = pt_hash_pair((pt_u64)device << 8 | cause, (uintptr_t)text);
    pt_u64 *slot = pt_map_at(&host->by_place, pt_hash_pair(what, (uintptr_t)module));
    if (!*slot) {
        pt_vec_push(&host->found, ((struct in_gaps){text, device, function, (pt_u8)cause, 0}));
        *slot = host->found.n;
    }
    host->found.items[*slot - 1].ns += ns;
    note_find(host->gpu->devices.items[device], *slot - 1, ns);
}

static enum pt_gpu_cause cause_of_wait(const struct pt_gpu_host *host, const struct pt_cpu_state *wait)
{
    /* Another took its CPU, wherever that happened: in our code, too, that is no work of ours. */
    return wait->flags & PT_CPU_PREEMPTED              ? PT_GPU_CAUSE_runnable
           : pt_cpu_is_tracing(host->view, wait->node) ? PT_GPU_CAUSE_tracing
           : wait->flags & PT_CPU_FAULT                ? PT_GPU_CAUSE_page_in
                                                       : PT_GPU_CAUSE_off_cpu;
}

static pt_i64 show_waits(struct pt_gpu_host *host, pt_u32 device, pt_u32 thread, struct pt_gpu_stretch stretch,
                         struct pt_gpu_viewer viewer)
{
    const struct pt_cpu_state *states;
    const size_t n = pt_cpu_states(host->cpu, thread, stretch.start_ns, stretch.end_ns, &states);
    pt_i64 shown_ns = 0, at_ns = stretch.start_ns;
    for (size_t i = 0; i < n; i++) {
        const pt_i64 from_ns = states[i].start_ns > at_ns ? states[i].start_ns : at_ns;
        const pt_i64 to_ns = states[i].end_ns < stretch.end_ns ? states[i].end_ns : stretch.end_ns;
        if (states[i].flags & PT_CPU_RAN || to_ns <= from_ns)
            continue;
        const enum pt_gpu_cause cause = cause_of_wait(host, &states[i]);
        const double unseen = device == NO_DEVICE ? 0 : unseen_of(host, thread, &states[i]);
        viewer.show(viewer.context, cause, place_of(host, states[i].node, cause), to_ns - from_ns);
        if (unseen > 0)
            add_found(host, device, cause, states[i].node, unseen * (double)(to_ns - from_ns));
        shown_ns += to_ns - from_ns;
        at_ns = to_ns;
    }
    return shown_ns;
}

static enum pt_gpu_cause cause_of_code(const struct pt_cpu_view *view, pt_u32 node)
{
    return pt_cpu_is_tracing(view, node)      ? PT_GPU_CAUSE_tracing
           : pt_cpu_is_page_fault(view, node) ? PT_GPU_CAUSE_page_in
           : pt_cpu_allocates(view, node)     ? PT_GPU_CAUSE_heap
           : pt_cpu_runs_python(view, node)   ? PT_GPU_CAUSE_python
                                              : PT_GPU_CAUSE_native;
}

static void count_samples(struct pt_gpu_host *host, pt_u32 device, pt_u32 thread, struct pt_gpu_stretch stretch)
{
    const struct pt_cpu_state *states;
    const size_t n = pt_cpu_states(host->cpu, thread, stretch.start_ns, stretch.end_ns - 1, &states);
    for (size_t i = 0; i < n; i++) {
        const pt_u32 node = states[i].node;
        if (states[i].flags & PT_CPU_RAN)
            add_found(host, device, cause_of_code(host->view, node), node, host->view->sample_s[thread] * 1e9);
    }
}

/* Its number in the CPU profile that is looked at; 0 = it is in none, or in that of another stage. */
static pt_u32 thread_in_profile(const struct pt_gpu_host *host, const struct pt_thread *thread)
{
    const pt_u32 stage = pt_gpu_stage_of(host->gpu, thread->process);
    return pt_facts_cpu(host->gpu->facts, stage) == host->cpu ? pt_facts_cpu_thread(host->gpu->facts, thread) : 0;
}

pt_i64 pt_gpu_host_split(struct pt_gpu_host *host, pt_u32 device, struct pt_gpu_stretch stretch,
                         struct pt_gpu_viewer viewer)
{
    const pt_u32 thread = thread_in_profile(host, stretch.thread);
    const pt_i64 ns = stretch.end_ns - stretch.start_ns;
    if (!thread)
        return ns;
    count_samples(host, device, thread, stretch);
    return ns - show_waits(host, device, thread, stretch, viewer);
}

pt_i64 pt_gpu_host_waits(struct pt_gpu_host *host, struct pt_gpu_stretch stretch, struct pt_gpu_viewer viewer)
{
    const pt_u32 thread = thread_in_profile(host, stretch.thread);
    const pt_i64 shown_ns = thread ? show_waits(host, NO_DEVICE, thread, stretch, viewer) : 0;
    return stretch.end_ns - stretch.start_ns - shown_ns;
}

/* ---- sharing ---- */

static bool is_own_code(const struct pt_gpu_place *place, pt_u32 device)
{
    return place->device == device && place->cause == PT_GPU_CAUSE_host_code && place->ns > 0;
}

struct module_sum {
    double faults_ns, all_ns;
    size_t code; /* where most of its code ran; index + 1 */
};
struct module_sums {
    PT_VEC(struct module_sum);
};

static struct module_sum *sum_of_module(const struct pt_gpu_host *host, struct pt_map *map, struct module_sums *sums,
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
static void forget_interrupts(struct pt_gpu_host *host, pt_u32 device)
{
    enum { LEAST_SHARE = 5 };
    struct module_sums sums = {0};
    struct pt_map by_module = {0};
    for (size_t i = 0; i < host->found.n; i++) {
        const struct in_gaps *found = &host->found.items[i];
        const bool is_fault = found->cause == PT_GPU_CAUSE_page_in;
        if (found->device != device ||
            (!is_fault && found->cause != PT_GPU_CAUSE_python && found->cause != PT_GPU_CAUSE_native))
            continue;
        struct module_sum *sum = sum_of_module(host, &by_module, &sums, found);
        sum->faults_ns += is_fault ? found->ns : 0;
        sum->all_ns += found->ns;
        if (!is_fault && (!sum->code || found->ns > host->found.items[sum->code - 1].ns))
            sum->code = i + 1;
    }
    for (size_t i = 0; i < host->found.n; i++) {
        struct in_gaps *found = &host->found.items[i];
        if (found->device != device || found->cause != PT_GPU_CAUSE_page_in)
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

static void take_from_own_code(struct pt_gpu *gpu, pt_u32 device, pt_i64 all_ns, pt_i64 taken_ns)
{
    pt_i64 left_ns = taken_ns;
    for (size_t i = 0; i < gpu->places.n; i++) {
        struct pt_gpu_place *place = &gpu->places.items[i];
        if (!is_own_code(place, device))
            continue;
        pt_i64 ns = pt_whole_signed(ceil((double)place->ns * (double)taken_ns / (double)all_ns));
        ns = ns > left_ns ? left_ns : ns;
        ns = ns > place->ns ? place->ns : ns;
        place->ns -= ns;
        left_ns -= ns;
    }
}

void pt_gpu_host_share(struct pt_gpu *gpu, pt_u32 device)
{
    struct pt_gpu_host *host = gpu->hosts[gpu->devices.items[device]->stage];
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
    /* Recorded waits are subtracted already: if samples cover most of the rest, they represent all of it. */
    const double scale = sampled_ns >= ENOUGH_SAMPLED * (double)own_ns ? (double)own_ns / sampled_ns : 1;
    for (size_t i = 0; i < host->found.n; i++) {
        const struct in_gaps *found = &host->found.items[i];
        pt_i64 ns = found->device == device ? pt_whole_signed(found->ns * scale) : 0;
        ns = ns > own_ns - taken_ns ? own_ns - taken_ns : ns;
        if (ns <= 0)
            continue;
        const struct pt_gpu_place place = {
            .device = device, .cause = found->cause, .inner = PT_GPU_CAUSE__COUNT, .text = found->text};
        const pt_u32 index = pt_gpu_place_at(gpu, &place); /* may move the places */
        gpu->places.items[index].ns += ns;
        taken_ns += ns;
    }
    take_from_own_code(gpu, device, own_ns, taken_ns);
}
