/* SPDX-License-Identifier: MIT
 *
 * records.c - Owns: the meaning of each record of the kernel. Threads: main only. State: none of its own. Never: counts
 * a process that is no descendant of the command.
 */
#include <string.h>

#include "python/merge.h"
#include "util/clock.h"
#include "intervals.h"
#include "records.h"
#include "unwind.h"

/* Processes that the launcher starts for itself are recorded, too, if they call execve; only the command's
 * descendants count. If records were lost, that of the fork may be among them. */
static struct pt_live_thread *thread_of(struct pt_cpu_profile *profile, pt_u32 pid, pt_u32 tid, pt_u64 t_ns)
{
    struct pt_live_thread *thread = pt_threads_find(&profile->threads, tid);
    if (!thread && profile->totals.lost_records && tid)
        thread = pt_threads_add(&profile->threads, pid, tid, 0, t_ns);
    return thread;
}

static pt_u32 u32_at(const struct pt_perf_record *record, pt_u32 offset)
{
    pt_u32 value = 0;
    if (offset + sizeof value <= record->body_bytes)
        memcpy(&value, record->body + offset, sizeof value);
    return value;
}

static pt_u64 u64_at(const struct pt_perf_record *record, pt_u32 offset)
{
    pt_u64 value = 0;
    if (offset + sizeof value <= record->body_bytes)
        memcpy(&value, record->body + offset, sizeof value);
    return value;
}

/* pid, ppid, tid, ptid, time */
static void take_fork(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    const pt_u32 pid = u32_at(record, 0), ppid = u32_at(record, 4), tid = u32_at(record, 8), ptid = u32_at(record, 12);
    const pt_u64 t_ns = pt_profile_since(profile, record->t_ns);
    const struct pt_live_thread *parent = thread_of(profile, ppid, ptid, t_ns);
    if (!parent)
        return;
    char comm[PT_CPU_COMM_BYTES];
    memcpy(comm, parent->shown.comm, sizeof comm);
    struct pt_live_thread *child = pt_threads_add(&profile->threads, pid, tid, ppid, t_ns);
    if (!child) /* one too many: nobody would hear of its end, and what it has would stay for good */
        return;
    pt_threads_rename(child, comm, sizeof comm);
    child->state = PT_THREAD_PREEMPTED; /* it could run from now on */
    if (pid == ppid)
        return;
    pt_images_fork(&profile->images, ppid, pid);
    pt_pythons_fork(&profile->pythons, ppid, pid);
}

static void take_exit(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    const pt_u32 pid = u32_at(record, 0), tid = u32_at(record, 8);
    const struct pt_jit_maps_to to = pt_profile_jit_maps_to(profile);
    if (pid == tid)
        pt_jit_maps_copy(&profile->jit_maps, &to, pt_threads_find(&profile->threads, tid));
    if (!pt_threads_end(&profile->threads, tid, pt_profile_since(profile, record->t_ns)))
        return;
    pt_images_end(&profile->images, pid);
    pt_pythons_end(&profile->pythons, pid);
}

/* pid, tid, comm */
static void take_comm(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    const pt_u32 pid = u32_at(record, 0), tid = u32_at(record, 4);
    const pt_u64 t_ns = pt_profile_since(profile, record->t_ns);
    const bool is_exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
    struct pt_live_thread *thread = is_exec ? pt_threads_exec(&profile->threads, pid) : NULL;
    thread = thread ? thread : thread_of(profile, pid, tid, t_ns);
    if (!thread)
        return;
    if (record->body_bytes > 8)
        pt_threads_rename(thread, (const char *)record->body + 8, record->body_bytes - 8);
    if (!is_exec)
        return;
    if (tid == profile->root && thread->state == PT_THREAD_UNSEEN)
        thread->shown.start_ns = t_ns;
    pt_images_exec(&profile->images, pid);
    pt_pythons_exec(&profile->pythons, pid, record->t_ns);
    pt_thread_runs(thread, t_ns);
}

/* pid, tid, address, length, offset, device, inode and its generation, protection, flags, name */
static void take_mmap(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    enum { DEVICE_AT = 32, INODE_AT = 40, GENERATION_AT = 48, NAME_AT = 64 };
    const pt_u32 pid = u32_at(record, 0), tid = u32_at(record, 4);
    if (record->body_bytes <= NAME_AT || !thread_of(profile, pid, tid, pt_profile_since(profile, record->t_ns)))
        return;
    const char *name = (const char *)record->body + NAME_AT;
    if (!memchr(name, 0, record->body_bytes - NAME_AT))
        return;
    struct pt_mapping mapping = {u64_at(record, 8), u64_at(record, 8) + u64_at(record, 16), u64_at(record, 24), NULL};
    mapping.module =
        pt_code_module_of_file(&profile->modules, strncmp(name, "//", 2) ? name : "", u64_at(record, DEVICE_AT),
                               u64_at(record, INODE_AT), u64_at(record, GENERATION_AT));
    pt_image_map(pt_images_of(&profile->images, pid), &mapping);
}

static void take_switch(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    const pt_u64 t_ns = pt_profile_since(profile, record->t_ns);
    struct pt_live_thread *thread = thread_of(profile, record->pid, record->tid, t_ns);
    if (!thread)
        return;
    if (record->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        pt_intervals_switch_out(thread, t_ns);
        pt_thread_switch_out(thread, t_ns, record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
        thread->misses_page = thread->state == PT_THREAD_WAITING && thread->has_left_at &&
                              pt_blocked_misses_page(&profile->blocked, pt_images_of(&profile->images, record->pid),
                                                     record->pid, thread->left_at.pc);
        thread->has_left_at = false;
        pt_blocked_leaves(&profile->blocked, thread);
        return;
    }
    pt_intervals_switch_in(&profile->threads.intervals, thread, t_ns);
    pt_threads_end_wait(&profile->threads, thread, t_ns);
    pt_thread_switch_in(thread, t_ns);
}

static void take_fault(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    const pt_u64 t_ns = pt_profile_since(profile, record->t_ns);
    struct pt_live_thread *thread = thread_of(profile, record->pid, record->tid, t_ns);
    if (!thread)
        return;
    pt_thread_runs(thread, t_ns);
    pt_intervals_fault(&profile->threads.intervals, thread, t_ns);
}

/* ---- stacks of threads that leave the CPU ---- */

static void take_leaving(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    struct pt_perf_sample sample;
    struct pt_unwound stack;
    const pt_u64 t_ns = pt_profile_since(profile, record->t_ns);
    struct pt_live_thread *thread = thread_of(profile, record->pid, record->tid, t_ns);
    if (!thread || !pt_perf_sample_read(record, &sample) || !sample.regs)
        return;
    thread->left_at = (struct pt_left_at){sample.regs[PT_REG_RSP], sample.regs[PT_REG_RIP], sample.regs[PT_REG_RBP]};
    thread->has_left_at = true;
    if (!pt_threads_can_afford(&profile->threads, &profile->leaving_paid_ns, t_ns))
        return;
    pt_thread_runs(thread, t_ns);
    const struct pt_image *image = pt_images_of(&profile->images, record->pid);
    pt_unwind(&profile->modules, image, record->pid, &sample, &stack);
    pt_thread_leaves_at(thread, pt_stack_tree_add(&profile->stacks, &stack, false),
                        pt_blocked_is_fault(image, record->pid, sample.regs[PT_REG_RIP]));
    thread->wants_python = pt_pythons_process(&profile->pythons, record->pid, pt_monotonic_ns()) != NULL;
}

/* ---- stacks of threads on the CPU ---- */

static void keep_sample(struct pt_cpu_profile *profile, const struct pt_cpu_sample *sample)
{
    if (profile->totals.samples++ < PT_CPU_SAMPLES_MAX)
        pt_chunk_add(&profile->samples, sample, sizeof *sample);
    else
        ++*pt_map_at(&profile->counts, (pt_u64)sample->thread << 32 | sample->node);
}

void pt_profile_add_sample(struct pt_cpu_profile *profile, struct pt_live_thread *thread, pt_u64 t_ns, pt_u32 node)
{
    thread->times.samples++;
    thread->is_dirty = true;
    keep_sample(profile, &(struct pt_cpu_sample){t_ns, thread->shown.number, node});
}

static void take_sample(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    struct pt_perf_sample sample;
    struct pt_unwound stack;
    const pt_u64 t_ns = pt_profile_since(profile, record->t_ns);
    struct pt_live_thread *thread = thread_of(profile, record->pid, record->tid, t_ns);
    if (!thread || !pt_perf_sample_read(record, &sample))
        return;
    pt_thread_runs(thread, t_ns);
    pt_unwind(&profile->modules, pt_images_of(&profile->images, record->pid), record->pid, &sample, &stack);
    pt_jit_maps_note(&profile->jit_maps, &profile->modules, record->pid, &stack);
    const struct pt_python_stack *python = pt_pythons_stack_at(&profile->pythons, record->tid, record->t_ns);
    if (python)
        pt_python_merge(&profile->modules, python, &stack);
    const bool in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    profile->totals.cut_stacks += stack.is_cut;
    pt_profile_add_sample(profile, thread, t_ns, pt_stack_tree_add(&profile->stacks, &stack, in_kernel));
}

void pt_profile_take(struct pt_cpu_profile *profile, const struct pt_perf_record *record)
{
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        (record->kind == PT_PERF_SWITCHES ? take_leaving
         : record->kind == PT_PERF_FAULTS ? take_fault
                                          : take_sample)(profile, record);
        break;
    case PERF_RECORD_SWITCH:
        take_switch(profile, record);
        break;
    case PERF_RECORD_MMAP2:
        take_mmap(profile, record);
        break;
    case PERF_RECORD_FORK:
        take_fork(profile, record);
        break;
    case PERF_RECORD_EXIT:
        take_exit(profile, record);
        break;
    case PERF_RECORD_COMM:
        take_comm(profile, record);
        break;
    case PERF_RECORD_LOST:                 /* id, how many */
        if (record->kind == PT_PERF_CLOCK) /* the other rings may be full */
            profile->totals.lost_records += u64_at(record, 8);
        break;
    default:
        break;
    }
}
