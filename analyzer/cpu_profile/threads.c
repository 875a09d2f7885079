/* SPDX-License-Identifier: MIT
 *
 * threads.c - Owns: living threads and their times. Threads: main only. Never: counts an interval whose beginning or
 * end was lost as anything but unknown.
 */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

struct pt_live_thread *pt_threads_find(const struct pt_threads *threads, pt_u32 tid)
{
    return pt_map_pointer(&threads->by_tid, tid);
}

struct pt_live_thread *pt_threads_add(struct pt_threads *threads, pt_u32 pid, pt_u32 tid, pt_u32 ppid, pt_u64 t_ns)
{
    pt_threads_end(threads, tid, t_ns);
    if (threads->n >= PT_CPU_THREADS_MAX) {
        threads->lost++;
        return NULL;
    }
    struct pt_live_thread *thread = pt_calloc(1, sizeof *thread);
    thread->shown = (struct pt_cpu_thread){.number = ++threads->n, .pid = pid, .tid = tid, .ppid = ppid};
    thread->shown.start_ns = thread->since_ns = thread->times.end_ns = t_ns;
    thread->times.thread = thread->shown.number;
    thread->is_new = thread->is_dirty = true;
    *pt_map_at(&threads->by_tid, tid) = (uintptr_t)thread;
    ++*pt_map_at(&threads->of_process, pid);
    return thread;
}

void pt_threads_rename(struct pt_live_thread *thread, const char *comm, size_t n_bytes)
{
    const size_t most = sizeof thread->shown.comm - 1;
    memset(thread->shown.comm, 0, sizeof thread->shown.comm);
    memcpy(thread->shown.comm, comm, strnlen(comm, n_bytes < most ? n_bytes : most));
    thread->is_new = true;
}

/* ---- times ---- */

/* The state it was in ends; what it was in since then is added. */
static void leave(struct pt_live_thread *thread, pt_u64 t_ns, enum pt_thread_state expected)
{
    struct pt_cpu_times *times = &thread->times;
    const pt_u64 ns = t_ns > thread->since_ns ? t_ns - thread->since_ns : 0;
    const bool was_on = thread->state == PT_THREAD_ON;
    if (was_on != (expected == PT_THREAD_ON))
        times->unknown_ns += ns; /* a record in between was lost */
    else if (was_on)
        times->on_cpu_ns += ns;
    else if (thread->state == PT_THREAD_PREEMPTED)
        times->preempted_ns += ns;
    else if (thread->state == PT_THREAD_WAITING)
        times->waiting_ns += ns;
    if (t_ns > thread->since_ns) /* records of two CPUs may come a little out of order: nothing is counted twice */
        thread->since_ns = times->end_ns = t_ns;
    thread->is_dirty = true;
}

void pt_thread_runs(struct pt_live_thread *thread, pt_u64 t_ns)
{
    if (thread->state != PT_THREAD_UNSEEN)
        return;
    thread->state = PT_THREAD_ON;
    thread->since_ns = t_ns;
}

void pt_thread_switch_in(struct pt_live_thread *thread, pt_u64 t_ns)
{
    if (thread->state == PT_THREAD_UNSEEN)
        thread->since_ns = t_ns;
    else
        leave(thread, t_ns, PT_THREAD_WAITING);
    thread->state = PT_THREAD_ON;
}

void pt_thread_switch_out(struct pt_live_thread *thread, pt_u64 t_ns, bool is_preempted)
{
    if (thread->state == PT_THREAD_UNSEEN)
        thread->since_ns = t_ns;
    else
        leave(thread, t_ns, PT_THREAD_ON);
    thread->is_off = true;
    thread->wait.t_ns = t_ns;
    thread->wait.flags =
        (is_preempted ? PT_CPU_WAIT_PREEMPTED : 0) | (thread->has_stack ? thread->wait.flags & PT_CPU_WAIT_FAULT : 0);
    thread->state = is_preempted ? PT_THREAD_PREEMPTED : PT_THREAD_WAITING;
    thread->times.blocks += !is_preempted;
    thread->times.preemptions += is_preempted;
}

/* ---- off the CPU ---- */

void pt_thread_leaves_at(struct pt_live_thread *thread, pt_u32 node, bool is_fault)
{
    thread->wait.node = node;
    thread->wait.flags = is_fault ? PT_CPU_WAIT_FAULT : 0;
    thread->has_stack = true;
    thread->wants_python = thread->is_off = false;
}

/* However many threads wait: most of what this costs is the unwinding. */
bool pt_threads_can_afford(const struct pt_threads *threads, pt_u64 *paid_ns, pt_u64 t_ns)
{
    enum { PER_S = 100, PER_S_LATER = 5, MOST = 100 };
    const bool is_late = threads->n_waits >= PT_CPU_WAITS_MAX / 2;
    const pt_u64 period_ns = 1000000000u / (is_late ? PER_S_LATER : PER_S);
    if (*paid_ns + MOST * period_ns < t_ns)
        *paid_ns = t_ns - MOST * period_ns;
    if (*paid_ns + period_ns > t_ns)
        return false;
    *paid_ns += period_ns;
    return true;
}

bool pt_thread_waits_unseen(const struct pt_live_thread *thread)
{
    return thread->is_off && thread->state == PT_THREAD_WAITING && (!thread->has_stack || thread->wants_python);
}

void pt_thread_waits_at(struct pt_live_thread *thread, pt_u32 node, bool is_fault, pt_u64 looked_ns)
{
    thread->is_of_kernel = thread->has_stack;
    thread->of_kernel = (struct pt_wait_place){thread->wait.node, thread->wait.flags};
    thread->wait.node = node;
    thread->wait.flags |= is_fault ? PT_CPU_WAIT_FAULT : 0;
    thread->has_stack = true;
    thread->wants_python = false;
    thread->looked_ns = looked_ns;
}

void pt_threads_end_wait(struct pt_threads *threads, struct pt_live_thread *thread, pt_u64 t_ns)
{
    struct pt_cpu_wait *wait = &thread->wait;
    if (!thread->is_off)
        return;
    if (t_ns < thread->looked_ns && thread->has_stack) { /* that was another wait */
        thread->has_stack = thread->is_of_kernel;
        wait->node = thread->of_kernel.node;
        wait->flags = thread->of_kernel.flags;
        thread->looked_ns = 0;
    }
    wait->thread = thread->shown.number;
    wait->duration_ns = t_ns > wait->t_ns ? t_ns - wait->t_ns : 0;
    if (wait->flags & PT_CPU_WAIT_PREEMPTED)
        thread->sums.preempted_ns += wait->duration_ns;
    else
        thread->sums.blocked_ns[pt_cpu_wait_class(wait->duration_ns)] += wait->duration_ns;
    if (thread->has_stack && threads->n_waits < PT_CPU_WAITS_MAX) {
        pt_chunk_add(&threads->waits, wait, sizeof *wait);
        threads->n_waits++;
    }
    thread->has_stack = thread->is_of_kernel = thread->wants_python = thread->is_off = thread->misses_page = false;
}

void pt_threads_end_waits(struct pt_threads *threads, pt_u64 t_ns)
{
    for (size_t i = 0; i < threads->by_tid.n; i++) {
        struct pt_live_thread *thread = (struct pt_live_thread *)(uintptr_t)threads->by_tid.entries[i].value;
        if (thread)
            pt_threads_end_wait(threads, thread, t_ns);
    }
}

/* ---- the file ---- */

static void add_sums(struct pt_threads *threads, struct pt_live_thread *thread)
{
    pt_u64 ns = thread->sums.preempted_ns;
    for (int i = 0; i < PT_CPU_WAIT_CLASSES; i++)
        ns += thread->sums.blocked_ns[i];
    thread->sums.thread = thread->shown.number;
    if (ns)
        pt_chunk_add(&threads->sums, &thread->sums, sizeof thread->sums);
}

static size_t collect(struct pt_threads *threads, struct pt_live_thread *thread)
{
    const size_t before = threads->times.n + threads->shown.n + threads->sums.n;
    if (thread->is_new)
        pt_chunk_add(&threads->shown, &thread->shown, sizeof thread->shown);
    if (thread->is_dirty) {
        pt_chunk_add(&threads->times, &thread->times, sizeof thread->times);
        add_sums(threads, thread);
        if (thread->kernel.kernel_on_ns)
            pt_chunk_add(&threads->kernel, &thread->kernel, sizeof thread->kernel);
        if (thread->faults.faults || thread->faults.waits_ns)
            pt_chunk_add(&threads->intervals.sums, &thread->faults, sizeof thread->faults);
    }
    thread->is_new = thread->is_dirty = false;
    return threads->times.n + threads->shown.n + threads->sums.n - before;
}

bool pt_threads_end(struct pt_threads *threads, pt_u32 tid, pt_u64 t_ns)
{
    struct pt_live_thread *thread = pt_threads_find(threads, tid);
    if (!thread)
        return false;
    const bool is_last = !--*pt_map_at(&threads->of_process, thread->shown.pid);
    pt_threads_end_wait(threads, thread, t_ns);
    if (thread->state != PT_THREAD_UNSEEN)
        leave(thread, t_ns, thread->state);
    thread->times.end_ns = t_ns;
    thread->times.flags |= PT_CPU_THREAD_ENDED;
    thread->is_dirty = true;
    collect(threads, thread);
    const struct pt_cpu_on_cpu on_cpu = {thread->shown.number, 0, thread->kernel_on_ns};
    if (on_cpu.on_cpu_ns)
        pt_chunk_add(&threads->on_cpu, &on_cpu, sizeof on_cpu);
    free(thread);
    *pt_map_at(&threads->by_tid, tid) = 0;
    return is_last;
}

void pt_threads_end_process(struct pt_threads *threads, pt_u32 pid, pt_u64 t_ns)
{
    const uint64_t *living = pt_map_find(&threads->of_process, pid);
    for (size_t i = 0; living && *living && i < threads->by_tid.n; i++) {
        const struct pt_live_thread *thread = (struct pt_live_thread *)(uintptr_t)threads->by_tid.entries[i].value;
        if (thread && thread->shown.pid == pid)
            pt_threads_end(threads, thread->shown.tid, t_ns);
    }
}

struct pt_live_thread *pt_threads_exec(struct pt_threads *threads, pt_u32 pid)
{
    struct pt_live_thread *thread = pt_threads_find(threads, pid);
    const uint64_t *living = pt_map_find(&threads->of_process, pid);
    for (size_t i = 0; !thread && living && *living && i < threads->by_tid.n; i++) {
        struct pt_live_thread *other = (struct pt_live_thread *)(uintptr_t)threads->by_tid.entries[i].value;
        if (!other || other->shown.pid != pid)
            continue;
        threads->by_tid.entries[i].value = 0;
        *pt_map_at(&threads->by_tid, pid) = (uintptr_t)other;
        other->shown.tid = pid;
        other->is_listed = false; /* under its number of before */
        other->is_new = true;
        thread = other;
    }
    return thread;
}

size_t pt_threads_collect(struct pt_threads *threads, pt_u64 t_ns)
{
    size_t bytes = 0;
    for (size_t i = 0; i < threads->by_tid.n; i++) {
        struct pt_live_thread *thread = (struct pt_live_thread *)(uintptr_t)threads->by_tid.entries[i].value;
        if (!thread)
            continue;
        if (thread->state != PT_THREAD_UNSEEN && t_ns > thread->since_ns)
            leave(thread, t_ns, thread->state);
        bytes += collect(threads, thread);
    }
    return bytes;
}

/* Samples may be due for the file long before times are. */
static void collect_names(struct pt_threads *threads)
{
    for (size_t i = 0; i < threads->by_tid.n; i++) {
        struct pt_live_thread *thread = (struct pt_live_thread *)(uintptr_t)threads->by_tid.entries[i].value;
        if (!thread || !thread->is_new)
            continue;
        pt_chunk_add(&threads->shown, &thread->shown, sizeof thread->shown);
        thread->is_new = false;
    }
}

void pt_threads_write(struct pt_threads *threads, struct pt_profile_file *file)
{
    collect_names(threads);
    pt_chunk_write(&threads->shown, file, PT_CPU_CHUNK_THREADS);
    pt_chunk_write(&threads->times, file, PT_CPU_CHUNK_TIMES);
    pt_chunk_write(&threads->sums, file, PT_CPU_CHUNK_WAIT_SUMS);
    pt_chunk_write(&threads->waits, file, PT_CPU_CHUNK_WAITS);
    pt_chunk_write(&threads->intervals.items, file, PT_CPU_CHUNK_INTERVALS);
    pt_chunk_write(&threads->intervals.sums, file, PT_CPU_CHUNK_FAULT_SUMS);
    pt_chunk_write(&threads->on_cpu, file, PT_CPU_CHUNK_ON_CPU);
    pt_chunk_write(&threads->kernel, file, PT_CPU_CHUNK_KERNEL);
}

void pt_threads_fini(struct pt_threads *threads)
{
    for (size_t i = 0; i < threads->by_tid.n; i++)
        free((void *)(uintptr_t)threads->by_tid.entries[i].value);
    pt_map_fini(&threads->by_tid);
    pt_map_fini(&threads->of_process);
    free(threads->shown.items);
    free(threads->times.items);
    free(threads->waits.items);
    free(threads->sums.items);
    free(threads->on_cpu.items);
    free(threads->kernel.items);
    free(threads->intervals.items.items);
    free(threads->intervals.sums.items);
}
