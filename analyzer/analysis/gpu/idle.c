/* SPDX-License-Identifier: MIT
 *
 * Gaps on GPUs and their causes: from when a device had finished all work until it began the next piece, the cause is
 * what the thread that launched that piece did; if it waited, what its blocker did, in whatever process that is.
 *
 * Threads: one. State: the last gaps of each device, because a record that ends later may have begun within one; a sum
 * per cause and place. Never: leaves a nanosecond of a gap without a cause: unknown time is unattributed.
 */
#include "idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/blockers.h"
#include "util/whole.h"
#include "host.h"
#include "imports.h"
#include "ranges.h"
#include "spans.h"

/* The time that the hardware takes to begin a piece of work that is ready. */
#define START_LATENCY_NS 50000
/* Of a GPU that was not used for so long, why is not kept: others go on, and memory is bounded. */
#define LONGEST_HELD_NS 3600000000000
enum { MOST_PLACES_OF_GAP = 64 };

static void add_piece(struct pt_gpu *gpu, struct pt_gpu_device *device, const struct pt_gpu_place *where, pt_i64 ns)
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
    pt_vec_push(&device->pieces, ((struct pt_gpu_piece){place, ns}));
}

/* ---- what a thread did in a gap, and whoever it waited for ---- */

struct gap_walk {
    struct pt_chain chain; /* first */
    struct pt_gpu *gpu;
    struct pt_gpu_device *device;
    struct pt_gpu_place place; /* of what is shown; from the second thread of the chain on with the first one's cause */
};

static void add_walked(struct gap_walk *walk, enum pt_gpu_cause cause, const char *text, pt_u32 holder_tid, pt_i64 ns)
{
    const bool is_first = walk->chain.n == 1;
    struct pt_gpu_place place = walk->place;
    place.process = walk->chain.threads[walk->chain.n - 1]->process;
    place.tid = walk->chain.threads[walk->chain.n - 1]->tid;
    place.text = text;
    place.holder_tid = holder_tid;
    *(is_first ? &place.cause : &place.inner) = (pt_u8)cause;
    add_piece(walk->gpu, walk->device, &place, ns);
}

static void show_host(void *context, enum pt_gpu_cause cause, const char *text, pt_i64 ns)
{
    add_walked(context, cause, text, 0, ns);
}

/* Of time between calls, without a profile, how much the thread did not compute by its own clock: it waited for a CPU,
 * or where no hook sees it. */
static pt_i64 not_computed_ns(const struct gap_walk *walk, const struct pt_thread *thread, pt_i64 ns)
{
    const struct pt_facts *facts = walk->gpu->facts;
    const struct pt_thread_clock *clock = &facts->counts.threads[pt_thread_number(&facts->ids, thread)].clock;
    if (pt_facts_cpu_thread(facts, thread) || !(clock->between_ns > 0))
        return 0;
    return pt_whole_signed((double)ns * fmax(1 - clock->computing_ns / clock->between_ns, 0));
}

/* Between calls: what the CPU profile does not know is the program's own code, in the range that was open then. */
static void show_own_code_in(struct gap_walk *walk, const char *range, pt_i64 start_ns, pt_i64 ns)
{
    const bool is_first = walk->chain.n == 1;
    struct pt_gpu_host *host = walk->gpu->hosts[walk->device->stage];
    const struct pt_gpu_stretch stretch = {walk->chain.threads[walk->chain.n - 1], start_ns, start_ns + ns};
    const struct pt_gpu_viewer viewer = {show_host, walk};
    if (host && is_first)
        ns = pt_gpu_host_split(host, walk->place.device, stretch, viewer);
    else if (host)
        ns = pt_gpu_host_waits(host, stretch, viewer);
    const pt_i64 unknown_ns = not_computed_ns(walk, stretch.thread, ns);
    if (unknown_ns)
        add_walked(walk, PT_GPU_CAUSE_unattributed,
                   "waiting for a CPU, or not recorded: proftrace run tells them apart", 0, unknown_ns);
    if (ns > unknown_ns)
        add_walked(walk, PT_GPU_CAUSE_host_code, is_first ? range : NULL, 0, ns - unknown_ns);
}

static void show_own_code(struct gap_walk *walk, pt_i64 start_ns, pt_i64 end_ns)
{
    for (pt_i64 from_ns; end_ns > start_ns; end_ns = from_ns) {
        const char *range = pt_gpu_range_before(walk->gpu, walk->chain.threads[walk->chain.n - 1], end_ns, &from_ns);
        from_ns = from_ns < start_ns ? start_ns : from_ns;
        show_own_code_in(walk, range, from_ns, end_ns - from_ns);
    }
}

/* A wait for a thread that waits for data is a wait for data; so is one for requests that another thread of the run
 * sends. */
static enum pt_gpu_cause cause_of_wait(const struct gap_walk *walk, const struct pt_piece *wait,
                                       const struct pt_thread *into)
{
    const enum pt_gpu_cause cause = pt_gpu_span_cause(wait->span);
    const struct pt_thread_timeline *timeline = pt_facts_timeline(walk->gpu->facts, into);
    const bool takes_data = cause == PT_GPU_CAUSE_lock &&
                            pt_thread_timeline_part_ns(timeline, PT_PART_data_wait, wait->start_ns, wait->end_ns) * 2 >
                                wait->end_ns - wait->start_ns;
    return takes_data || cause == PT_GPU_CAUSE_idle ? PT_GPU_CAUSE_data_wait : cause;
}

static pt_u32 holder_of(const struct gap_walk *walk, const struct pt_span *span)
{
    const bool is_known = span->part == PT_PART_lock && span->blocker_kind == PT_BLOCKER_THREAD;
    return is_known ? pt_thread_of_number(&walk->gpu->facts->ids, span->blocker)->tid : 0;
}

static void show(struct pt_chain *chain, const struct pt_piece *piece, const struct pt_thread *into)
{
    struct gap_walk *walk = (struct gap_walk *)chain;
    const struct pt_span *span = piece->span ? piece->span : piece->then;
    const struct pt_process *process = chain->threads[chain->n - 1]->process;
    const pt_i64 ns = piece->end_ns - piece->start_ns;
    if (into)
        walk->place.cause = chain->n == 1 ? (pt_u8)cause_of_wait(walk, piece, into) : walk->place.cause;
    else if (piece->is_forgotten)
        add_walked(walk, PT_GPU_CAUSE_unattributed, NULL, 0, ns);
    else if (!span)
        show_own_code(walk, piece->start_ns, piece->end_ns);
    else
        add_walked(walk, pt_gpu_span_cause(span), pt_gpu_span_text(walk->gpu, process, span), holder_of(walk, span),
                   ns);
}

/* ---- one gap ---- */

struct gap_view {
    struct pt_gpu *gpu;
    struct pt_gpu_device *device;
    pt_u32 index; /* of the device */
    const struct pt_gpu_activity *work;
    const struct pt_gpu_call *call;
};

static void add_plain(const struct gap_view *view, enum pt_gpu_cause cause, const char *text, pt_i64 ns)
{
    const struct pt_gpu_place place = {.device = view->index,
                                       .cause = (pt_u8)cause,
                                       .inner = PT_GPU_CAUSE__COUNT,
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
    add_plain(view, is_latency ? PT_GPU_CAUSE_launch : PT_GPU_CAUSE_dependency,
              is_latency || !name ? view->call->name : name, ns);
}

static void split_work(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    struct gap_walk walk = {.chain = {.facts = view->gpu->facts, .show = show},
                            .gpu = view->gpu,
                            .device = view->device,
                            .place = {.device = view->index, .inner = PT_GPU_CAUSE__COUNT}};
    if (end_ns > start_ns)
        pt_chain_split(&walk.chain, view->call->thread, start_ns, end_ns);
}

/* Before the call: an import is one cause, whatever it read, waited for or computed. */
static void split_called(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    struct pt_gpu_imported import;
    while (pt_gpu_imports_last(view->gpu, view->call->thread, start_ns, end_ns, &import)) {
        split_work(view, import.end_ns, end_ns);
        add_plain(view, PT_GPU_CAUSE_importing, import.module, import.end_ns - import.start_ns);
        end_ns = import.start_ns;
    }
    split_work(view, start_ns, end_ns);
}

/* Split [start, end), in which the device was observed all the time. */
static void split_observed(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    const struct pt_gpu_call *call = view->call;
    if (!call) {
        add_plain(view, PT_GPU_CAUSE_unattributed, pt_gpu_own_text(view->gpu, "the launch was not recorded"),
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
        add_plain(view, PT_GPU_CAUSE_host_code, pt_gpu_own_text(view->gpu, "a thread that made no other call"),
                  end_ns - start_ns);
        return;
    }
    split_called(view, start_ns, end_ns);
}

struct stretch {
    pt_i64 start_ns, end_ns;
};

/* Of `within`, the part that ends last in which nothing of a process was seen; it replaces one that ends before. */
static void take_unseen(const struct pt_gpu *gpu, const struct pt_process *process, struct stretch within,
                        struct stretch *last)
{
    const struct pt_gpu_process *own = gpu->processes[process->index];
    const pt_u32 n = own ? own->n_yields + (own->yielded_ns >= 0) : 0; /* the last one may go on */
    for (pt_u32 i = 0; i < n; i++) {
        const bool goes_on = i == own->n_yields;
        pt_i64 from_ns = goes_on ? own->yielded_ns : own->yields[i].start_ns;
        pt_i64 to_ns = goes_on ? process->end_ns : own->yields[i].end_ns;
        from_ns = from_ns > within.start_ns ? from_ns : within.start_ns;
        to_ns = to_ns < within.end_ns ? to_ns : within.end_ns;
        if (to_ns > from_ns && (to_ns > last->end_ns || (to_ns == last->end_ns && from_ns < last->start_ns)))
            *last = (struct stretch){from_ns, to_ns};
    }
}

/* While a program has CUPTI for itself it is unknown whether a device is idle that it uses, whoever else works there:
 * returns how long that was. */
static pt_i64 split_gap(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    pt_i64 unseen_ns = 0;
    while (end_ns > start_ns) {
        struct stretch last = {start_ns, start_ns};
        take_unseen(view->gpu, view->work->process, (struct stretch){start_ns, end_ns}, &last);
        for (size_t i = 0; i < view->device->users.n; i++)
            take_unseen(view->gpu, view->device->users.items[i], (struct stretch){start_ns, end_ns}, &last);
        if (end_ns > last.end_ns)
            split_observed(view, last.end_ns, end_ns);
        unseen_ns += last.end_ns - last.start_ns;
        end_ns = last.start_ns;
    }
    return unseen_ns;
}

static pt_i64 length_ns(const struct pt_gpu_gap *gap)
{
    return gap->end_ns - gap->start_ns - gap->unseen_ns - gap->no_cost_ns;
}

static void count_gap(struct pt_gpu_device *device, const struct pt_gpu_gap *gap, int sign)
{
    const pt_i64 idle_ns = gap->end_ns - gap->start_ns - gap->unseen_ns;
    struct pt_gpu_gaps *gaps = gap->is_at_start ? &device->at_start : &device->later;
    device->idle_ns += sign * idle_ns;
    device->unseen_ns += sign * gap->unseen_ns;
    device->n_gaps += (pt_u64)(idle_ns ? sign : 0);
    gaps->all_ns += sign * length_ns(gap);
    if (length_ns(gap) < PT_GPU_LARGE_GAP_NS)
        return;
    gaps->n_large += (pt_u64)sign;
    gaps->large_ns += sign * length_ns(gap);
}

/* A gap that no record can shorten any more. */
static void settle(struct pt_gpu_device *device, const struct pt_gpu_gap *gap)
{
    if (length_ns(gap) <= device->longest_ns)
        return;
    device->longest_ns = length_ns(gap);
    device->longest_at_ns = gap->start_ns;
}

void pt_gpu_idle_end(struct pt_gpu *gpu)
{
    for (size_t i = 0; i < gpu->devices.n; i++)
        for (size_t j = 0; j < gpu->devices.items[i]->gaps.n; j++)
            settle(gpu->devices.items[i], &gpu->devices.items[i]->gaps.items[j]);
}

/* Gaps so old that nothing that still runs can have begun in them. */
static void forget_old(struct pt_gpu_device *device)
{
    if (device->gaps.n < PT_GPU_MOST_GAPS)
        return;
    const size_t n = device->gaps.n / 2;
    const size_t pieces = device->gaps.items[n].first_piece, finds = device->gaps.items[n].first_find;
    for (size_t i = 0; i < n; i++)
        settle(device, &device->gaps.items[i]);
    device->gaps.n -= n;
    device->pieces.n -= pieces;
    device->finds.n -= finds;
    memmove(device->gaps.items, device->gaps.items + n, device->gaps.n * sizeof *device->gaps.items);
    if (pieces)
        memmove(device->pieces.items, device->pieces.items + pieces, device->pieces.n * sizeof *device->pieces.items);
    if (finds)
        memmove(device->finds.items, device->finds.items + finds, device->finds.n * sizeof *device->finds.items);
    for (size_t i = 0; i < device->gaps.n; i++) {
        device->gaps.items[i].first_piece -= pieces;
        device->gaps.items[i].first_find -= finds;
    }
}

static void count_causes(struct pt_gpu *gpu, struct pt_gpu_device *device, int sign)
{
    bool has[PT_GPU_CAUSE__COUNT] = {false};
    for (size_t i = device->gaps.items[device->gaps.n - 1].first_piece; i < device->pieces.n; i++)
        has[gpu->places.items[device->pieces.items[i].place].cause] = true;
    for (int cause = 0; cause < PT_GPU_CAUSE__COUNT; cause++)
        device->gaps_of[cause] += has[cause] ? (pt_u64)sign : 0;
}

/* In the last gap. */
static pt_i64 no_cost_in(const struct pt_gpu *gpu, const struct pt_gpu_device *device)
{
    pt_i64 ns = 0;
    for (size_t i = device->gaps.items[device->gaps.n - 1].first_piece; i < device->pieces.n; i++)
        if (pt_gpu_is_no_cost((enum pt_gpu_cause)gpu->places.items[device->pieces.items[i].place].cause))
            ns += device->pieces.items[i].ns;
    return ns;
}

static void take_back(struct pt_gpu *gpu, struct pt_gpu_device *device)
{
    count_causes(gpu, device, -1);
    pt_gpu_host_take_back(gpu, device);
    const struct pt_gpu_gap *gap = &device->gaps.items[--device->gaps.n];
    count_gap(device, gap, -1);
    for (; device->pieces.n > gap->first_piece; device->pieces.n--) {
        const struct pt_gpu_piece *piece = &device->pieces.items[device->pieces.n - 1];
        gpu->places.items[piece->place].ns -= piece->ns;
        gpu->places.items[piece->place].gaps--;
    }
}

static void add_gap(const struct gap_view *view, pt_i64 start_ns, pt_i64 end_ns)
{
    struct pt_gpu_device *device = view->device;
    forget_old(device);
    pt_vec_push(
        &device->gaps,
        ((struct pt_gpu_gap){
            .start_ns = start_ns, .end_ns = end_ns, .first_piece = device->pieces.n, .first_find = device->finds.n}));
    const pt_i64 unseen_ns = split_gap(view, start_ns, end_ns);
    struct pt_gpu_gap *gap = &device->gaps.items[device->gaps.n - 1];
    gap->unseen_ns = unseen_ns;
    gap->no_cost_ns = no_cost_in(view->gpu, device);
    gap->is_at_start = !pt_gpu_process_of(view->gpu, view->work->process)->has_made_step;
    count_gap(device, gap, 1);
    count_causes(view->gpu, device, 1);
}

static bool may_go_on(const struct pt_gpu *gpu, const struct pt_gpu_device *device)
{
    return device->is_used && gpu->busy_end_ns - device->busy_end_ns < LONGEST_HELD_NS &&
           gpu->profile->stages.items[device->stage].end_ns >= gpu->now_ns;
}

/* What threads did since then is kept: the gap of a device begins where its work ended, however long others work on. It
 * changes where that device works again, or will not. */
static void hold_threads(struct pt_gpu *gpu, pt_u32 index)
{
    const struct pt_gpu_device *device = gpu->devices.items[index], *idlest = gpu->devices.items[gpu->idlest];
    if (device->busy_end_ns > gpu->busy_end_ns)
        gpu->busy_end_ns = device->busy_end_ns;
    if (gpu->idlest == index || !may_go_on(gpu, idlest) || device->busy_end_ns < idlest->busy_end_ns) {
        gpu->idlest = index;
        for (pt_u32 i = 0; i < gpu->devices.n; i++)
            if (may_go_on(gpu, gpu->devices.items[i]) &&
                gpu->devices.items[i]->busy_end_ns < gpu->devices.items[gpu->idlest]->busy_end_ns)
                gpu->idlest = i;
    }
    gpu->facts->timelines.held_since_ns = gpu->devices.items[gpu->idlest]->busy_end_ns;
}

/* Records come in the order of their ends: this one may have begun before gaps that were found already. */
void pt_gpu_idle_work(struct pt_gpu *gpu, pt_u32 index, const struct pt_gpu_activity *work,
                      const struct pt_gpu_call *call)
{
    struct pt_gpu_device *device = gpu->devices.items[index];
    const struct gap_view view = {gpu, device, index, work, call};
    if (!device->is_used) {
        device->is_used = true;
        device->first_ns = work->start_ns;
        device->busy_end_ns = work->end_ns;
        hold_threads(gpu, index);
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
    hold_threads(gpu, index);
}
