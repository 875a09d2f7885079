/* SPDX-License-Identifier: MIT
 *
 * Owns: the threads of a CPU profile by tid, and their samples in order. Threads: one fills it, any may look. Never:
 * takes a thread for another one that had its tid before.
 */
#include "cpu_samples.h"

#include <stdlib.h>

#include "util/mem.h"

#define LARGEST_SHIFT_NS 4000000000000000000ll

static int by_time(const void *a, const void *b)
{
    const struct pt_cpu_moment *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void put(struct pt_cpu_threads *threads, pt_u32 thread, pt_u64 t_ns, pt_u64 ns, pt_u32 node)
{
    const pt_i64 start_ns = (pt_i64)t_ns + threads->shift_ns;
    threads->moments[threads->first[thread + 1]++] = (struct pt_cpu_moment){start_ns, start_ns + (pt_i64)ns, node};
}

static void sort_moments(struct pt_cpu_threads *threads)
{
    const struct pt_cpu_data *data = threads->data;
    threads->moments = pt_malloc((data->n_samples + data->n_waits + 1) * sizeof *threads->moments);
    threads->first = pt_calloc(data->n_threads + 2, sizeof *threads->first);
    for (size_t i = 0; i < data->n_samples; i++)
        threads->first[data->samples[i].thread + 2]++;
    for (size_t i = 0; i < data->n_waits; i++)
        threads->first[data->waits[i].thread + 2]++;
    for (size_t i = 2; i < data->n_threads + 2; i++)
        threads->first[i] += threads->first[i - 1];
    /* first[i + 1] is where the next one of thread i goes: at the end it is where thread i + 1 begins. */
    for (size_t i = 0; i < data->n_samples; i++)
        put(threads, data->samples[i].thread, data->samples[i].t_ns, 0, data->samples[i].node);
    for (size_t i = 0; i < data->n_waits; i++)
        put(threads, data->waits[i].thread, data->waits[i].t_ns, data->waits[i].duration_ns, data->waits[i].node);
    for (size_t i = 0; i < data->n_threads; i++)
        if (threads->first[i + 1] - threads->first[i] > 1)
            qsort(threads->moments + threads->first[i], threads->first[i + 1] - threads->first[i],
                  sizeof *threads->moments, by_time);
}

void pt_cpu_threads_open(struct pt_cpu_threads *threads, struct pt_cpu_data *data, pt_u64 start_realtime_ns)
{
    *threads = (struct pt_cpu_threads){.data = data};
    if (!data)
        return;
    /* Runs start at an instant of real time, and so do profiles. A file may claim any: sums must not overflow. */
    const pt_i64 shift_ns = (pt_i64)(data->header.begin_realtime_ns - start_realtime_ns);
    threads->shift_ns = shift_ns > LARGEST_SHIFT_NS || shift_ns < -LARGEST_SHIFT_NS ? 0 : shift_ns;
    threads->before = pt_calloc(data->n_threads, sizeof *threads->before);
    for (pt_u32 i = 1; i < data->n_threads; i++) {
        pt_u64 *last = pt_map_at(&threads->by_tid, data->threads[i].tid);
        threads->before[i] = (pt_u32)*last;
        *last = i;
    }
    sort_moments(threads);
}

void pt_cpu_threads_close(struct pt_cpu_threads *threads)
{
    pt_map_fini(&threads->by_tid);
    free(threads->before);
    free(threads->moments);
    free(threads->first);
    *threads = (struct pt_cpu_threads){0};
}

pt_u32 pt_cpu_threads_find(const struct pt_cpu_threads *threads, pt_u32 tid, pt_i64 at_ns)
{
    const pt_u64 *last = pt_map_find(&threads->by_tid, tid);
    pt_u32 thread = last ? (pt_u32)*last : 0;
    while (thread && (pt_i64)threads->data->threads[thread].start_ns + threads->shift_ns > at_ns &&
           threads->before[thread])
        thread = threads->before[thread];
    return thread;
}

const char *pt_cpu_threads_name(const struct pt_cpu_threads *threads, pt_u32 tid, pt_i64 at_ns)
{
    const pt_u32 thread = pt_cpu_threads_find(threads, tid, at_ns);
    return thread && threads->data->threads[thread].comm[0] ? threads->data->threads[thread].comm : NULL;
}

size_t pt_cpu_threads_moments(const struct pt_cpu_threads *threads, pt_u32 thread, pt_i64 from_ns, pt_i64 until_ns,
                              const struct pt_cpu_moment **ret_first)
{
    if (!thread)
        return 0;
    size_t low = threads->first[thread], high = threads->first[thread + 1];
    const size_t end = high;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (threads->moments[middle].t_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    /* A thread is in one place at a time: only the one before can reach into it. */
    low -= low > threads->first[thread] && threads->moments[low - 1].end_ns > from_ns;
    *ret_first = threads->moments + low;
    for (high = low; high < end && threads->moments[high].t_ns <= until_ns; high++)
        ;
    return high - low;
}

const char *pt_thread_label(struct pt_profile *profile, pt_u32 stage, const struct pt_thread *thread)
{
    const char *name = profile->cpu ? pt_cpu_threads_name(&profile->cpu[stage], thread->tid, thread->end_ns) : NULL;
    const char *main_one = thread->tid == thread->process->pid ? "main " : "";
    return name ? pt_metrics_format(&profile->metrics, "%s (%sthread %u)", name, main_one, thread->tid)
                : pt_metrics_format(&profile->metrics, "%sthread %u", main_one, thread->tid);
}
