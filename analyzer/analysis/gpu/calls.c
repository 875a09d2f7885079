/* SPDX-License-Identifier: MIT
 *
 * CUDA calls of the host: which thread made the call that a piece of work belongs to, and what the calls cost.
 *
 * Threads: one. State: per process a table of its last launches, by correlation; a sum per function. Never: joins by
 * time: work without a correlation that is known belongs to no call.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "overlaps.h"
#include "ranges.h"

enum { FEWEST_SLOTS = 1024 };

static struct pt_gpu_call *slot_of(const struct pt_gpu_process *process, pt_u32 correlation)
{
    return &process->calls[correlation & (process->n_slots - 1)];
}

/* Correlation ids are consecutive: the table has the last ones. */
static void make_room(struct pt_gpu *gpu, struct pt_gpu_process *process)
{
    const pt_u32 n = process->n_slots ? process->n_slots * 4 : FEWEST_SLOTS;
    if (process->n_slots &&
        (process->n_calls < process->n_slots || n > PT_GPU_MOST_CALLS || gpu->n_calls + n > PT_GPU_ALL_CALLS))
        return;
    struct pt_gpu_process old = *process;
    process->calls = pt_malloc(n * sizeof *process->calls);
    memset(process->calls, 0, n * sizeof *process->calls); /* slots are read first: of calloc each page faults twice */
    process->n_slots = n;
    gpu->n_calls += n - old.n_slots;
    for (pt_u32 i = 0; i < old.n_slots; i++)
        if (old.calls[i].correlation)
            *slot_of(process, old.calls[i].correlation) = old.calls[i];
    free(old.calls);
}

const struct pt_gpu_call *pt_gpu_call_find(const struct pt_gpu *gpu, const struct pt_process *process,
                                           pt_u32 correlation)
{
    const struct pt_gpu_process *own = gpu->processes[process->index];
    if (!own || !own->n_slots || !correlation)
        return NULL;
    const struct pt_gpu_call *call = slot_of(own, correlation);
    return call->correlation == correlation ? call : NULL;
}

void pt_gpu_sum_add(struct pt_gpu *gpu, struct pt_gpu_summed of, pt_i64 duration_ns, bool is_error)
{
    pt_u64 key = pt_hash_pair((uintptr_t)of.name, (pt_u64)of.stage << 40 | (pt_u64)of.what << 32 | of.kind);
    if (gpu->sums.n >= PT_GPU_MOST_SUMS && !pt_map_find(&gpu->by_sum, key)) {
        of.name = "(others)";
        of.kind = 0;
        key = pt_hash_pair((uintptr_t)of.name, (pt_u64)of.stage << 40 | (pt_u64)of.what << 32);
    }
    pt_u64 *slot = pt_map_at(&gpu->by_sum, key);
    if (!*slot) {
        struct pt_gpu_sum *sum = pt_calloc(1, sizeof *sum);
        sum->of = of;
        pt_vec_push(&gpu->sums, sum);
        *slot = gpu->sums.n;
    }
    struct pt_gpu_sum *sum = gpu->sums.items[*slot - 1];
    pt_histogram_add(&sum->durations, (pt_u64)duration_ns);
    sum->errors += is_error;
}

/* ---- values that are read back: tensor.item(), float(tensor), print ---- */

enum {
    MOST_CALLS_BETWEEN = 4,   /* of a copy and the wait for it; PyTorch makes none */
    MOST_DISPATCH_NS = 50000, /* what PyTorch does before it copies a value takes 10 to 20 us */
};

void pt_gpu_call_reads_value(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 correlation)
{
    struct pt_gpu_process *own = pt_gpu_process_of(gpu, process);
    if (pt_gpu_call_find(gpu, process, correlation))
        slot_of(own, correlation)->reads_value = true;
}

/* The copy is done before the thread that waits for it goes on: its record has come, and was joined to its call (into
 * pageable memory: when that call ended). What it costs before the first step is done it costs once. */
static void count_value(struct pt_gpu *gpu, const struct pt_process *process, const struct pt_gpu_call *wait)
{
    struct pt_gpu_process *own = pt_gpu_process_of(gpu, process);
    for (pt_u32 back = 1; back <= MOST_CALLS_BETWEEN && back < wait->correlation; back++) {
        struct pt_gpu_call *copy = slot_of(own, wait->correlation - back);
        if (copy->correlation != wait->correlation - back || !copy->reads_value || copy->thread != wait->thread)
            continue;
        copy->reads_value = false; /* counted */
        own->n_values++;
        own->values_ns += own->has_made_step ? wait->end_ns - copy->start_ns + copy->before_start_ns : 0;
        return;
    }
}

static pt_i64 since_last_call_ns(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, e->thread);
    const pt_i64 ns = thread->call_end_ns ? e->start_ns - thread->call_end_ns : MOST_DISPATCH_NS;
    thread->call_end_ns = pt_event_end_ns(e);
    return ns < 0 ? 0 : ns < MOST_DISPATCH_NS ? ns : MOST_DISPATCH_NS;
}

/* Memory is allocated over and over where something was freed before: what is kept until the end, and freed then, is no
 * churn. Which release an allocation would have made needless is not known: all before it count, so that no gain is
 * larger than what they took. */
static void count_churn(struct pt_gpu_process *process, pt_u32 class, pt_i64 duration_ns)
{
    if (class == PT_CUDA_FREE) {
        process->n_freed++;
        process->freed_ns += duration_ns;
    } else if (class == PT_CUDA_ALLOC && process->n_freed) {
        process->n_freed--;
        process->n_churned++;
        process->churn_ns += process->freed_ns + duration_ns;
        process->freed_ns = 0;
    }
}

static void remember(struct pt_gpu *gpu, const struct pt_event *e, const char *name)
{
    const struct pt_ev_cuda_call *call = pt_event_as(e, cuda_call);
    struct pt_gpu_process *process = pt_gpu_process_of(gpu, e->process);
    if (!call->correlation)
        return;
    make_room(gpu, process);
    struct pt_gpu_call *slot = slot_of(process, call->correlation);
    const bool is_inner = slot->correlation == call->correlation && slot->start_ns <= e->start_ns;
    if (is_inner)
        return;
    process->n_calls++;
    *slot = (struct pt_gpu_call){
        .start_ns = e->start_ns,
        .end_ns = pt_event_end_ns(e),
        .thread = e->thread->tid < PT_DEVICE_TID ? e->thread : NULL,
        .name = name,
        .correlation = call->correlation,
        .node = pt_gpu_node_of(gpu, e->thread),
        .overlapping = pt_gpu_overlaps_of(gpu, e->thread),
        .helped = pt_gpu_node_helped(gpu, e->thread),
        .step = process->step,
        .is_before_steps = !process->has_made_step,
        .moves_model = pt_gpu_thread_of(gpu, e->thread)->model_depth,
        .class = (pt_u8)e->tag,
        .before_start_ns = since_last_call_ns(gpu, e),
    };
    if (slot->moves_model && process->moved_models.n < PT_GPU_MOST_MODELS)
        *pt_map_at(&process->moved_models, pt_gpu_thread_of(gpu, e->thread)->model) = 1;
    if (e->tag == PT_CUDA_SYNC)
        count_value(gpu, e->process, slot);
}

/* Without CUPTI wrappers see the calls, unless the program calls the driver, or a runtime that is linked in. */
static void count_unseen(struct pt_gpu *gpu, const struct pt_event *e, pt_u32 stage)
{
    const struct pt_gpu_process *process = pt_gpu_process_of(gpu, e->process);
    const bool starts_work = e->desc->kind == PT_KIND_cuda_launch || e->desc->kind == PT_KIND_cuda_transfer ||
                             (e->desc->kind == PT_KIND_cuda_call && e->tag == PT_CUDA_GRAPH_LAUNCH);
    if (process->yielded_ns >= 0 && starts_work && e->result >= 0)
        gpu->stages[stage].unseen_work++;
}

/* What wrappers see: calls without the work that they started. */
static void wrapped(struct pt_gpu *gpu, const struct pt_event *e, pt_u32 stage)
{
    const char *name = NULL;
    if (e->desc->kind == PT_KIND_cuda_launch)
        name = pt_gpu_string(gpu, e->process, pt_event_as(e, cuda_launch)->name, false);
    else if (e->desc->kind == PT_KIND_cuda_transfer)
        name = pt_gpu_string(gpu, e->process, pt_event_as(e, cuda_transfer)->name, false);
    else
        name = e->tag & 1 ? "release of memory" : "allocation of memory";
    pt_gpu_sum_add(gpu,
                   (struct pt_gpu_summed){stage, PT_GPU_SUM_WRAPPED, name ? name : "(unknown kernel)", e->desc->kind},
                   e->duration_ns, e->result < 0);
}

static void add_waiting(struct pt_gpu_waiting *waiting, const struct pt_event *e)
{
    waiting->ns += e->duration_ns;
    waiting->copies += e->tag == PT_CUDA_COPY;
    waiting->sets += e->tag == PT_CUDA_SET;
}

/* Of the calls that copy or set and wait for it, those that may be made once. */
static void count_waiting(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_process *process = pt_gpu_process_of(gpu, e->process);
    if (!process->has_made_step)
        add_waiting(&process->before_steps, e);
    if (pt_gpu_thread_of(gpu, e->thread)->model_depth)
        add_waiting(&process->of_models, e);
}

void pt_gpu_calls_event(struct pt_gpu *gpu, const struct pt_event *e)
{
    const pt_u32 stage = pt_gpu_stage_of(gpu, e->process);
    count_unseen(gpu, e, stage);
    if (e->desc->kind != PT_KIND_cuda_call) {
        wrapped(gpu, e, stage);
        return;
    }
    const char *name = pt_gpu_string(gpu, e->process, pt_event_as(e, cuda_call)->name, false);
    const pt_u32 class = e->tag > 0 && e->tag < PT_CUDA_CLASS__COUNT ? (pt_u32)e->tag : PT_CUDA_OTHER;
    pt_gpu_sum_add(gpu, (struct pt_gpu_summed){stage, PT_GPU_SUM_CALL, name ? name : "(unknown)", class},
                   e->duration_ns, e->result < 0);
    gpu->stages[stage].class_calls[class]++;
    gpu->stages[stage].class_ns[class] += e->duration_ns;
    if (class == PT_CUDA_COPY || class == PT_CUDA_SET)
        count_waiting(gpu, e);
    count_churn(pt_gpu_process_of(gpu, e->process), class, e->duration_ns);
    remember(gpu, e, name);
}
