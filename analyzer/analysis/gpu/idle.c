/* SPDX-License-Identifier: MIT
 *
 * Gaps on GPUs and their causes: from when a device had done all it knew of until it began the next piece of work, the
 * thread that launched that piece is looked at; who it waited for is looked at, too, in whatever process it is.
 *
 * Threads: one. State: the last gaps of each device, because a record that ends later may have begun within one; a sum
 * per cause and place. Never: leaves a nanosecond of a gap without a cause: what nobody knows is unattributed.
 */
#include "idle.h"

#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "ranges.h"
#include "threads.h"

/* What the hardware takes to begin with a piece of work that nothing holds back. */
#define START_LATENCY_NS 50000
/* Shorter waits are not followed. */
#define LEAST_FOLLOWED_NS 100000
enum { MOST_DEPTH = 3, MOST_SIBLINGS = 64, MOST_PLACES_OF_GAP = 64 };

static void add_piece(struct gpu *gpu, struct gpu_device *device, const struct gpu_place *where, pt_i64 ns)
{
    const pt_u32 place = pt_gpu_place_at(gpu, where);
    const size_t first = device->gaps.items[device->gaps.n - 1].first_piece;
    gpu->places.items[place].ns += ns;
    for (size_t i = device->pieces.n; i-- > first && device->pieces.n - i <= MOST_PLACES_OF_GAP;)
        if (device->pieces.items[i].place == place) {
            device->pieces.items[i].ns += ns;
            return;
        }
    gpu->places.items[place].gaps++;
    pt_vec_push(&device->pieces, ((struct gpu_piece){place, ns}));
}

/* ---- what a thread did in a gap, and whoever it waited for ---- */

static const char passing_on[] = "passing data on"; /* a place: who waits for room in a pipe has data */

struct look {
    struct gpu *gpu;
    struct gpu_device *device;
    struct gpu_place place; /* of what is shown; from the second depth on with the first one's cause */
    const struct pt_thread *thread;
    pt_u32 depth;
};

static void show(void *context, enum gpu_cause cause, const struct gpu_span *span, pt_i64 start_ns, pt_i64 ns);

/* A thread of the same process that waited for another process just then: it takes data in for this one. */
static const struct gpu_span *sibling_waits(const struct gpu *gpu, const struct pt_thread *thread, pt_i64 start_ns,
                                            pt_i64 end_ns)
{
    const struct pt_process *process = thread->process;
    const struct gpu_span *best = NULL;
    pt_i64 best_ns = (end_ns - start_ns) / 2;
    for (pt_u32 i = 0; i < process->n_threads && i < MOST_SIBLINGS; i++) {
        const struct gpu_thread *other = pt_gpu_thread_of(gpu, &process->threads[i]);
        for (pt_u64 n = 0; n < 4 && n < other->n && other->spans && &process->threads[i] != thread; n++) {
            const struct gpu_span *span = &other->spans[(other->n - 1 - n) & (other->capacity - 1)];
            const pt_i64 from_ns = span->start_ns > start_ns ? span->start_ns : start_ns;
            const pt_i64 to_ns = span->end_ns < end_ns ? span->end_ns : end_ns;
            if (span->cause != GPU_CAUSE_data_wait || to_ns - from_ns <= best_ns)
                continue;
            best = span;
            best_ns = to_ns - from_ns;
        }
    }
    return best;
}

/* Whom a span waits for; *ret_cause: a wait for a thread that takes in data is a wait for data. */
static const struct pt_thread *waited_for(const struct look *look, const struct gpu_span *span, pt_i64 start_ns,
                                          pt_i64 ns, enum gpu_cause *ret_cause)
{
    const struct gpu *gpu = look->gpu;
    if (span->cause == GPU_CAUSE_lock && span->who)
        return pt_thread_of_tid(&gpu->facts->ids, look->thread->process, span->who, span->start_ns);
    if (span->cause == GPU_CAUSE_lock) {
        if (!(span = sibling_waits(gpu, look->thread, start_ns, start_ns + ns)))
            return NULL;
        *ret_cause = GPU_CAUSE_data_wait;
    }
    pt_u32 who = span->cause == GPU_CAUSE_child_wait ? span->who : 0;
    if (span->cause == GPU_CAUSE_data_wait)
        who = pt_gpu_writer_of(gpu, look->thread->process, span);
    return who ? pt_main_thread(gpu->profile->session->processes[who - 1]) : NULL;
}

static bool follow(struct look *look, enum gpu_cause cause, const struct gpu_span *span, pt_i64 start_ns, pt_i64 ns)
{
    if (!span || ns < LEAST_FOLLOWED_NS || look->depth >= MOST_DEPTH)
        return false;
    const struct pt_thread *target = waited_for(look, span, start_ns, ns, &cause);
    if (!target || target == look->thread)
        return false;
    struct look deeper = *look;
    deeper.thread = target;
    deeper.depth++;
    if (!look->depth)
        deeper.place.cause = (pt_u8)cause;
    pt_gpu_split_thread(look->gpu, target, start_ns, start_ns + ns, show, &deeper);
    return true;
}

/* Between calls: what the CPU profile does not know is the program's own code, in the range that was open then. */
static void show_own_code_in(struct look *look, const char *range, pt_i64 start_ns, pt_i64 ns)
{
    struct gpu_host *host = look->gpu->hosts[look->device->stage];
    const struct gpu_stretch stretch = {look->thread, start_ns, start_ns + ns};
    const struct gpu_viewer viewer = {show, look};
    if (host && !look->depth)
        ns = pt_gpu_host_part(host, look->place.device, stretch, viewer);
    else if (host)
        ns = pt_gpu_host_waits(host, stretch, viewer);
    if (!ns)
        return;
    struct gpu_place place = look->place;
    place.process = look->thread->process;
    place.tid = look->thread->tid;
    *(look->depth ? &place.inner : &place.cause) = GPU_CAUSE_host_code;
    place.text = look->depth ? NULL : range;
    add_piece(look->gpu, look->device, &place, ns);
}

static void show_own_code(struct look *look, pt_i64 start_ns, pt_i64 ns)
{
    for (pt_i64 end_ns = start_ns + ns, from_ns; end_ns > start_ns; end_ns = from_ns) {
        const char *range = pt_gpu_range_before(look->gpu, look->thread, end_ns, &from_ns);
        from_ns = from_ns < start_ns ? start_ns : from_ns;
        show_own_code_in(look, range, from_ns, end_ns - from_ns);
    }
}

static void show(void *context, enum gpu_cause cause, const struct gpu_span *span, pt_i64 start_ns, pt_i64 ns)
{
    struct look *look = context;
    if (cause == GPU_CAUSE_host_code) {
        show_own_code(look, start_ns, ns);
        return;
    }
    if (follow(look, cause, span, start_ns, ns))
        return;
    struct gpu_place place = look->place;
    place.process = look->thread->process;
    place.tid = look->thread->tid;
    place.text = span && span->is_write ? passing_on : !span || cause == GPU_CAUSE_data_wait ? NULL : span->text;
    place.who = span && cause == GPU_CAUSE_lock ? span->who : 0;
    *(look->depth ? &place.inner : &place.cause) = (pt_u8)cause;
    add_piece(look->gpu, look->device, &place, ns);
}

/* ---- one gap ---- */

struct gap_view {
    struct gpu *gpu;
    struct gpu_device *device;
    pt_u32 index; /* of the device */
    const struct gpu_activity *work;
    const struct gpu_call *call;
};

static void add_plain(const struct gap_view *view, enum gpu_cause cause, const char *text, pt_i64 ns)
{
    const struct gpu_place place = {.device = view->index,
                                    .cause = (pt_u8)cause,
                                    .inner = GPU_CAUSE__COUNT,
                                    .process = view->work->process,
                                    .tid = view->call && view->call->thread ? view->call->thread->tid : 0,
                                    .text = text};
    if (ns > 0)
        add_piece(view->gpu, view->device, &place, ns);
}

/* The call had been made, and still nothing began. */
static void split_queued(const struct gap_view *view, pt_i64 ns)
{
    const bool is_latency = ns <= START_LATENCY_NS;
    const char *name = pt_gpu_string(view->gpu, view->work->process, view->work->name, false);
    add_plain(view, is_latency ? GPU_CAUSE_launch : GPU_CAUSE_dependency, is_latency || !name ? view->call->name : name,
              ns);
}

/* [start, end): all of it while the device's records were taken. */
static void split_seen(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    const struct gpu_call *call = view->call;
    if (!call) {
        add_plain(view, GPU_CAUSE_unattributed, pt_gpu_text(view->gpu, "the launch was not recorded"),
                  end_ns - start_ns);
        return;
    }
    const pt_i64 called_ns = call->end_ns < start_ns ? start_ns : call->end_ns;
    if (called_ns < end_ns) {
        split_queued(view, end_ns - called_ns);
        end_ns = called_ns;
    }
    if (end_ns <= start_ns)
        return;
    if (!call->thread) {
        add_plain(view, GPU_CAUSE_host_code, pt_gpu_text(view->gpu, "a thread that made no other call"),
                  end_ns - start_ns);
        return;
    }
    struct look look = {.gpu = view->gpu,
                        .device = view->device,
                        .place = {.device = view->index, .inner = GPU_CAUSE__COUNT},
                        .thread = call->thread};
    pt_gpu_split_thread(view->gpu, call->thread, start_ns, end_ns, show, &look);
}

/* While the program had CUPTI for itself nobody knows whether the device was idle: returns how long that was. */
static pt_i64 split_gap(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    const struct gpu_process *process = view->gpu->processes[view->work->process->index];
    pt_i64 unseen_ns = 0;
    for (pt_u32 i = process ? process->n_yields : 0; i-- > 0 && end_ns > start_ns;) {
        const pt_i64 from_ns = process->yields[i].start_ns > start_ns ? process->yields[i].start_ns : start_ns;
        const pt_i64 to_ns = process->yields[i].end_ns < end_ns ? process->yields[i].end_ns : end_ns;
        if (to_ns <= from_ns)
            continue;
        if (end_ns > to_ns)
            split_seen(view, to_ns, end_ns);
        unseen_ns += to_ns - from_ns;
        end_ns = from_ns;
    }
    if (end_ns > start_ns)
        split_seen(view, start_ns, end_ns);
    return unseen_ns;
}

static void count_gap(struct gpu_device *device, const struct gpu_gap *gap, int sign)
{
    const pt_i64 idle_ns = gap->end_ns - gap->start_ns - gap->unseen_ns;
    device->idle_ns += sign * idle_ns;
    device->unseen_ns += sign * gap->unseen_ns;
    device->n_gaps += (pt_u64)(idle_ns ? sign : 0);
    if (idle_ns < GPU_LARGE_GAP_NS)
        return;
    device->n_large += (pt_u64)sign;
    device->large_ns += sign * idle_ns;
}

/* A gap that no record can shorten any more. */
static void settle(struct gpu_device *device, const struct gpu_gap *gap)
{
    const pt_i64 idle_ns = gap->end_ns - gap->start_ns - gap->unseen_ns;
    if (idle_ns <= device->longest_ns)
        return;
    device->longest_ns = idle_ns;
    device->longest_at_ns = gap->start_ns;
}

void pt_gpu_idle_end(struct gpu *gpu)
{
    for (size_t i = 0; i < gpu->devices.n; i++)
        for (size_t j = 0; j < gpu->devices.items[i]->gaps.n; j++)
            settle(gpu->devices.items[i], &gpu->devices.items[i]->gaps.items[j]);
}

/* Gaps so old that nothing that still runs can have begun in them. */
static void forget_old(struct gpu_device *device)
{
    if (device->gaps.n < GPU_MOST_GAPS)
        return;
    const size_t n = device->gaps.n / 2, pieces = device->gaps.items[n].first_piece;
    for (size_t i = 0; i < n; i++)
        settle(device, &device->gaps.items[i]);
    device->gaps.n -= n;
    device->pieces.n -= pieces;
    memmove(device->gaps.items, device->gaps.items + n, device->gaps.n * sizeof *device->gaps.items);
    memmove(device->pieces.items, device->pieces.items + pieces, device->pieces.n * sizeof *device->pieces.items);
    for (size_t i = 0; i < device->gaps.n; i++)
        device->gaps.items[i].first_piece -= pieces;
}

static void count_causes(struct gpu *gpu, struct gpu_device *device, int sign)
{
    bool has[GPU_CAUSE__COUNT] = {false};
    for (size_t i = device->gaps.items[device->gaps.n - 1].first_piece; i < device->pieces.n; i++)
        has[gpu->places.items[device->pieces.items[i].place].cause] = true;
    for (int cause = 0; cause < GPU_CAUSE__COUNT; cause++)
        device->gaps_of[cause] += has[cause] ? (pt_u64)sign : 0;
}

static void take_back(struct gpu *gpu, struct gpu_device *device)
{
    count_causes(gpu, device, -1);
    const struct gpu_gap *gap = &device->gaps.items[--device->gaps.n];
    count_gap(device, gap, -1);
    for (; device->pieces.n > gap->first_piece; device->pieces.n--) {
        const struct gpu_piece *piece = &device->pieces.items[device->pieces.n - 1];
        gpu->places.items[piece->place].ns -= piece->ns;
        gpu->places.items[piece->place].gaps--;
    }
}

static void add_gap(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    struct gpu_device *device = view->device;
    forget_old(device);
    pt_vec_push(&device->gaps, ((struct gpu_gap){start_ns, end_ns, 0, device->pieces.n}));
    const pt_i64 unseen_ns = split_gap(view, start_ns, end_ns);
    struct gpu_gap *gap = &device->gaps.items[device->gaps.n - 1];
    gap->unseen_ns = unseen_ns;
    count_gap(device, gap, 1);
    count_causes(view->gpu, device, 1);
}

/* Records come by their ends: this one may have begun before gaps that were found already. */
void pt_gpu_idle_work(struct gpu *gpu, pt_u32 index, const struct gpu_activity *work, const struct gpu_call *call)
{
    struct gpu_device *device = gpu->devices.items[index];
    const struct gap_view view = {gpu, device, index, work, call};
    if (!device->is_used) {
        device->is_used = true;
        device->first_ns = work->start_ns;
        device->busy_end_ns = work->end_ns;
        return;
    }
    pt_i64 gap_ns = device->busy_end_ns;
    while (device->gaps.n && device->gaps.items[device->gaps.n - 1].end_ns > work->start_ns) {
        gap_ns = device->gaps.items[device->gaps.n - 1].start_ns;
        take_back(gpu, device);
    }
    if (work->start_ns > gap_ns)
        add_gap(&view, gap_ns, work->start_ns);
    if (work->start_ns < device->first_ns)
        device->first_ns = work->start_ns;
    if (work->end_ns > device->busy_end_ns)
        device->busy_end_ns = work->end_ns;
    if (work->end_ns > gpu->busy_end_ns)
        gpu->busy_end_ns = work->end_ns;
}
