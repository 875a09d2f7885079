/* SPDX-License-Identifier: MIT
 *
 * blocked.c - Owns: stacks of waiting threads, read from outside. Threads: main only. Never: stops, signals or traces a
 * thread; uses a stack for a wait if the thread may have run in between.
 */
#include "blocked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/process_stat.h"
#include "util/small_file.h"
#include "python/merge.h"
#include "code_bytes.h"
#include "unwind.h"

#define STACK_BYTES 16384u
#define PLACES_MAX 65536u
#define LISTED_MAX 4096u /* the others get their turn when they leave the CPU the next time */

struct place {
    char text[256]; /* as the kernel prints it */
    struct pt_syscall in;
};

static bool read_place(const struct pt_live_thread *thread, struct place *ret_place)
{
    pt_small_file_peek(ret_place->text, sizeof ret_place->text, "/proc/%u/task/%u/syscall", thread->shown.pid,
                       thread->shown.tid);
    return pt_syscall_parse(ret_place->text, &ret_place->in);
}

/* The two bytes before are no `syscall`. */
bool pt_blocked_is_fault(const struct pt_image *image, pt_u32 pid, pt_u64 pc)
{
    pt_u8 code[2];
    return pt_code_bytes(image, pid, pc - sizeof code, code, sizeof code) && !(code[0] == 0x0f && code[1] == 0x05);
}

bool pt_blocked_misses_page(struct pt_blocked *blocked, const struct pt_image *image, pt_u32 pid, pt_u64 pc)
{
    const pt_u64 key = (pt_u64)pid * 0x9e3779b97f4a7c15u ^ pc;
    const pt_u64 *known = pt_map_find(&blocked->is_fault, key);
    if (known)
        return *known == 2;
    if (blocked->is_fault.n >= PLACES_MAX)
        pt_map_fini(&blocked->is_fault); /* most are of processes that are gone */
    const bool is_fault = pt_blocked_is_fault(image, pid, pc);
    *pt_map_at(&blocked->is_fault, key) = is_fault ? 2 : 1;
    return is_fault;
}

/* A debugger, job control or a limiter of CPU time stops programs anywhere. */
static bool is_stopped(const struct pt_live_thread *thread)
{
    struct pt_process_stat stat;
    return pt_process_stat_of_thread((pid_t)thread->shown.pid, (pid_t)thread->shown.tid, &stat) &&
           (stat.state == 'T' || stat.state == 't');
}

/* That it was at the same place before and after says that the stack is whole; whether it is still the same wait, the
 * records will say that are on their way: pt_threads_end_wait. */
static void sample_thread(struct pt_blocked *blocked, const struct pt_blocked_context *with,
                          struct pt_live_thread *thread)
{
    struct place before, after;
    struct pt_unwound stack;
    if (!read_place(thread, &before))
        return;
    struct iovec to = {blocked->stack, STACK_BYTES}, from = {(void *)(uintptr_t)before.in.sp, STACK_BYTES};
    const ssize_t n = process_vm_readv((pid_t)thread->shown.pid, &to, 1, &from, 1, 0);
    const struct pt_python_stack *python =
        with->pythons ? pt_pythons_stack_now(with->pythons, thread->shown.pid, thread->shown.tid) : NULL;
    if (n <= 0 || !read_place(thread, &after) || strcmp(before.text, after.text) != 0)
        return;
    /* The kernel does not give rbp. Where it is needed (code without tables or with frame pointers) the walk ends,
     * unless the thread left the CPU at this very place before. */
    pt_u64 regs[PT_REG__COUNT] = {[PT_REG_RSP] = before.in.sp, [PT_REG_RIP] = before.in.pc};
    if (thread->left_at.sp == before.in.sp && thread->left_at.pc == before.in.pc)
        regs[PT_REG_RBP] = thread->left_at.rbp;
    const struct pt_perf_sample sample = {before.in.pc, regs, blocked->stack, (pt_u64)n};
    const struct pt_image *image = pt_images_of(with->images, thread->shown.pid);
    pt_unwind(with->modules, image, thread->shown.pid, &sample, &stack);
    if (python)
        pt_python_merge(with->modules, python, &stack);
    const bool is_fault =
        before.in.call < 0 && !is_stopped(thread) && pt_blocked_is_fault(image, thread->shown.pid, before.in.pc);
    thread->misses_page |=
        is_fault && !thread->has_stack; /* of its own wait the kernel knew: this may be the next one */
    pt_thread_waits_at(thread, pt_stack_tree_add(with->stacks, &stack, false), is_fault,
                       pt_monotonic_ns() - with->begin_ns);
}

void pt_blocked_leaves(struct pt_blocked *blocked, struct pt_live_thread *thread)
{
    if (thread->is_listed || blocked->n >= LISTED_MAX || !(pt_thread_waits_unseen(thread) || thread->misses_page))
        return;
    thread->is_listed = true;
    pt_vec_push(blocked, thread->shown.tid);
}

static bool waits(const struct pt_live_thread *thread)
{
    return pt_thread_waits_unseen(thread) || thread->misses_page;
}

/* Of those that are listed, those that want no more than Python, or the others. */
static void sample_listed(struct pt_blocked *blocked, const struct pt_blocked_context *with, bool want_python)
{
    const pt_u64 t_ns = pt_monotonic_ns() - with->begin_ns;
    size_t kept = 0;
    bool can_afford = true;
    for (size_t i = 0; i < blocked->n; i++) {
        const pt_u32 tid = blocked->items[i];
        struct pt_live_thread *thread = pt_threads_find(with->threads, tid);
        if (!thread)
            continue;
        thread->is_listed = waits(thread);
        if (!thread->is_listed)
            continue;
        can_afford = can_afford && (thread->wants_python != want_python ||
                                    pt_threads_can_afford(with->threads, &blocked->paid_ns, t_ns));
        if (thread->wants_python != want_python || !can_afford) {
            blocked->items[kept++] = tid;
            continue;
        }
        thread->is_listed = false;
        thread->misses_page = thread->misses_page && !is_stopped(thread);
        if (pt_thread_waits_unseen(thread))
            sample_thread(blocked, with, thread);
    }
    blocked->n = kept;
}

static bool is_any_without_stack(const struct pt_blocked *blocked, const struct pt_threads *threads)
{
    for (size_t i = 0; i < blocked->n; i++) {
        const struct pt_live_thread *thread = pt_threads_find(threads, blocked->items[i]);
        if (thread && waits(thread) && !thread->wants_python)
            return true;
    }
    return false;
}

bool pt_blocked_sample(struct pt_blocked *blocked, const struct pt_blocked_context *with)
{
    const bool is_urgent = is_any_without_stack(blocked, with->threads);
    if (blocked->n && !blocked->stack)
        blocked->stack = pt_malloc(STACK_BYTES);
    sample_listed(blocked, with, false);
    sample_listed(blocked, with, true);
    return is_urgent;
}

void pt_blocked_fini(struct pt_blocked *blocked)
{
    free(blocked->items);
    free(blocked->stack);
    pt_map_fini(&blocked->is_fault);
}
