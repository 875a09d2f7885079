/* SPDX-License-Identifier: MIT
 *
 * ticks.c - Owns: nothing. Threads: main only. State: none of its own. Never: looks at more threads than is cheap.
 */
#include "ticks.h"

#include "python/merge.h"
#include "schedstat.h"

enum { THREADS_MOST = 64, SAMPLES_MOST = 8 };

static void look_at(struct pt_cpu_profile *profile, struct pt_live_thread *thread, pt_u64 period_ns, pt_u64 t_ns)
{
    struct pt_unwound stack = {.is_cut = true};
    const bool is_known = thread->stood_for_ns != 0;
    const pt_u64 used_ns = thread->times.on_cpu_ns - thread->stood_for_ns;
    if (is_known && used_ns < period_ns)
        return;
    thread->stood_for_ns = thread->times.on_cpu_ns;
    const struct pt_python_stack *python =
        is_known ? pt_pythons_stack_now(&profile->pythons, thread->shown.pid, thread->shown.tid) : NULL;
    if (!python)
        return;
    pt_python_merge(&profile->modules, python, &stack);
    const pt_u32 node = pt_stack_tree_add(&profile->stacks, &stack, false);
    for (pt_u64 i = 0; i < used_ns / period_ns && i < SAMPLES_MOST; i++)
        pt_profile_add_sample(profile, thread, t_ns, node);
    thread->stood_for_ns -= used_ns % period_ns;
}

/* Without records nobody else says so. Those that are gone would be looked at instead of the living. */
static void process_is_gone(struct pt_cpu_profile *profile, pt_u32 pid, pt_u64 t_ns)
{
    pt_threads_end_process(&profile->threads, pid, t_ns);
    pt_pythons_end(&profile->pythons, pid);
}

static void tick_process(struct pt_cpu_profile *profile, struct pt_python_process *process, pt_u32 pid,
                         pt_u64 period_ns, pt_u64 now_ns, int *left)
{
    const pt_u64 t_ns = pt_profile_since(profile, now_ns);
    const struct pt_map *threads = pt_python_threads(process, now_ns);
    for (size_t j = 0; threads && j < threads->n && *left; j++) {
        const pt_u32 tid = (pt_u32)threads->entries[j].key;
        struct pt_live_thread *thread = pt_threads_find(&profile->threads, tid);
        if (!thread && threads->entries[j].value)
            thread = pt_threads_add(&profile->threads, pid, tid, 0, t_ns);
        if (!thread)
            continue;
        --*left;
        if (pt_thread_read_schedstat(thread, t_ns)) {
            look_at(profile, thread, period_ns, t_ns);
        } else if (tid == pid) {
            process_is_gone(profile, pid, t_ns);
            return;
        }
        threads = &process->threads;
    }
}

void pt_profile_tick(struct pt_cpu_profile *profile, pt_u64 period_ns, pt_u64 now_ns)
{
    const struct pt_map *all = &profile->threads.by_tid;
    int left = THREADS_MOST;
    for (size_t n = all->n; n && left; n--) {
        profile->next_ticked = profile->next_ticked < all->n ? profile->next_ticked : 0;
        const struct pt_map_entry *entry = &all->entries[profile->next_ticked++];
        const struct pt_live_thread *first = (const struct pt_live_thread *)(uintptr_t)entry->value;
        const pt_u32 pid = (pt_u32)entry->key;
        struct pt_python_process *process =
            first && first->shown.pid == pid ? pt_pythons_process(&profile->pythons, pid, now_ns) : NULL;
        if (process)
            tick_process(profile, process, pid, period_ns, now_ns, &left);
    }
}
