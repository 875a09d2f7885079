/* SPDX-License-Identifier: MIT
 *
 * Owns: which code waits by spinning. Threads: one. Never: takes work that a pool calls for spinning: that is in other
 * files.
 */
#include "spinning.h"

#include <string.h>

#include "facts/cpu_code.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/path.h"

enum { POOLS = 3 }; /* 0 = none */

/* These libraries do no work of their own: their threads start it, and wait for each other. Which of them: each brings
 * a pool of its own. */
static pt_u8 pool_of(const struct pt_cpu_function *function)
{
    static const char *const files[] = {"libgomp", "libiomp", "libomp"};
    static const char *const functions[] = {"blas_thread_server", "exec_blas_async_wait"};
    const char *file = function->module ? pt_base_name(function->module) : "";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strncmp(file, files[i], strlen(files[i])))
            return 1;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(function->name, functions[i]))
            return 2;
    return 0;
}

/* By frame: the pool whose runtime stands in its stack. */
static pt_u8 *pools_of_frames(const struct pt_cpu_view *view)
{
    pt_u8 *pools = pt_calloc(view->frames.n + 1, sizeof *pools);
    for (size_t i = 1; i < view->frames.n; i++) {
        const struct pt_cpu_frame *frame = &view->frames.items[i];
        const pt_u8 own = pool_of(&view->functions.items[frame->function]);
        pools[i] = own ? own : pools[frame->parent];
    }
    return pools;
}

/* By function, those that no pool is known by: it gives up the CPU to look again, as a barrier of the program's own. */
static bool *callers_of_yield(const struct pt_cpu_view *view)
{
    bool *yields = pt_calloc(view->functions.n + 1, sizeof *yields);
    for (size_t i = 1; i < view->frames.n; i++) {
        const struct pt_cpu_frame *frame = &view->frames.items[i];
        if (frame->parent && !strcmp(view->functions.items[frame->function].name, "sched_yield"))
            yields[view->frames.items[frame->parent].function] = true;
    }
    return yields;
}

/* The threads of a pool that is seldom used spin for a moment, and sleep: of the time of the process's thread with
 * most. */
#define LEAST_OF_MOST 0.1

/* Of the process with the most. */
static pt_u32 most_threads(const struct pt_cpu_data *data, const double *pool_s)
{
    struct pt_map by_process = {0}; /* process -> thread with the most, which stands for it */
    PT_AUTO(pt_freep) pt_u32 *threads = pt_calloc(data->n_threads + 1, sizeof *threads);
    pt_u32 most = 0;
    for (size_t i = 1; i < data->n_threads; i++) {
        pt_u64 *with_most = pt_map_at(&by_process, data->threads[i].pid);
        *with_most = pool_s[i] > pool_s[*with_most] ? i : *with_most;
    }
    for (size_t i = 1; i < data->n_threads; i++) {
        const pt_u64 with_most = *pt_map_at(&by_process, data->threads[i].pid);
        threads[with_most] += pool_s[i] > 0 && pool_s[i] >= LEAST_OF_MOST * pool_s[with_most];
        most = threads[with_most] > most ? threads[with_most] : most;
    }
    pt_map_fini(&by_process);
    return most;
}

void pt_spinning(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view,
                 const struct pt_path_thread *threads)
{
    const struct pt_cpu_data *data = view->data;
    PT_AUTO(pt_freep) pt_u8 *pools = pools_of_frames(view);
    PT_AUTO(pt_freep) bool *yields = callers_of_yield(view);
    PT_AUTO(pt_freep) double *pool_s = pt_calloc(POOLS * (data->n_threads + 1), sizeof *pool_s);
    double all_s = 0, main_s = 0, yielding_s = 0;
    for (size_t i = 0; i < data->n_counts; i++) {
        const struct pt_cpu_count *count = &data->counts[i];
        const double s = (double)count->samples * view->sample_s[count->thread];
        const pt_u8 pool = pools[view->frame_of[count->node]];
        pool_s[pool * (data->n_threads + 1) + count->thread] += s;
        const pt_u32 function = pt_cpu_function_at(view, count->node);
        if (!pool && (yields[function] || !strcmp(view->functions.items[function].name, "sched_yield")))
            yielding_s += s;
        if (!pool || !pool_of(&view->functions.items[function]))
            continue;
        all_s += s;
        main_s += threads[count->thread].share * s;
    }
    pt_u32 most = 0;
    for (pt_u32 pool = 1; pool < POOLS; pool++) {
        const pt_u32 n = most_threads(data, pool_s + pool * (data->n_threads + 1));
        most = n > most ? n : most;
    }
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "cpu.spinning_s", pt_real(all_s));
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "cpu.spinning_main_s", pt_real(main_s));
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "cpu.yielding_s", pt_real(yielding_s));
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "cpu.pool_threads", pt_integer(most));
}
