/* SPDX-License-Identifier: MIT
 *
 * sampler.c - Owns: the samples of a run. Threads: main only; there is no other. Never: touches the traced processes
 * beyond reading /proc.
 *
 * CPU time moves: a process that was waited for leaves its time with its parent. So the time of the tree in an interval
 * is what each living process used, plus what arrived at the parents, minus what was already seen of those that
 * vanished.
 */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process_tree.h"

#define SAMPLES_MAX 8192     /* then two become one: a long run keeps its shape in bounded memory */
#define PSS_COST_FACTOR 1000 /* after a look at PSS wait 1000 times its cost: 0.1 % of one core */
#define CARRY_SCANS 2

struct pt_sampler {
    struct pt_tree tree;
    struct pt_samples samples;
    struct pt_sample last;
    size_t merged; /* samples that make one in the list */
    size_t pending;
    pt_u64 last_ns;
    pt_u64 pss_after_ns;
    pt_u64 reaped_ns;        /* of everything we waited for ourselves */
    pt_u64 reaped_before_ns; /* the same at the scan before */
    pt_i64 carry_ns;         /* vanished, not yet arrived at a parent */
    unsigned carry_age;
    pt_u64 living_ns; /* of what still ran at the last look */
    pt_u64 tick_ns;
    double known_ns[PT_RESOURCE__COUNT]; /* how long each resource was known */
};

static void forget_all(struct pt_samples *samples, struct pt_sample *last)
{
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        last->values[i] = NAN;
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        samples->summary[i] = (struct pt_resource_summary){NAN, NAN, NAN, NULL};
    samples->cpu_percent_max = NAN;
}

struct pt_sampler *pt_sampler_new(const struct pt_sampler_options *options, struct pt_error *err)
{
    (void)options;
    struct pt_sampler *sampler = calloc(1, sizeof *sampler);
    struct pt_sample *list = calloc(SAMPLES_MAX, sizeof *list);
    if (!sampler || !list || pt_tree_open(&sampler->tree, err) < 0) {
        if (!sampler || !list)
            pt_fail(err, "out of memory");
        free(sampler);
        free(list);
        return NULL;
    }
    sampler->samples.list = list;
    forget_all(&sampler->samples, &sampler->last);
    sampler->merged = 1;
    sampler->tick_ns = 1000000000u / (pt_u64)sysconf(_SC_CLK_TCK);
    return sampler;
}

void pt_sampler_begin(struct pt_sampler *sampler)
{
    pt_tree_scan(&sampler->tree);
}

void pt_sampler_free(struct pt_sampler *sampler)
{
    if (!sampler)
        return;
    pt_tree_close(&sampler->tree);
    free(sampler->samples.list);
    free(sampler);
}

static pt_u64 own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (pt_u64)now.tv_sec * 1000000000u + (pt_u64)now.tv_nsec;
}

/* ---- CPU ---- */
static pt_i64 difference(pt_u64 now, pt_u64 before)
{
    return (pt_i64)now - (pt_i64)before;
}

static pt_u64 cpu_since_last(struct pt_sampler *sampler)
{
    const struct pt_tree *tree = &sampler->tree;
    pt_i64 living_ticks = 0, arrived_ticks = 0;
    pt_u64 all_ticks = 0;
    for (size_t i = 0; i < tree->n; i++) {
        const struct pt_tree_entry *entry = &tree->entries[i];
        if (entry->kinship != PT_KIN_OURS)
            continue;
        living_ticks += difference(entry->now.own_ticks, entry->own_before);
        arrived_ticks += difference(entry->now.children_ticks, entry->children_before);
        all_ticks += entry->now.own_ticks + entry->now.children_ticks;
    }
    const pt_i64 tick_ns = (pt_i64)sampler->tick_ns;
    sampler->living_ns = all_ticks * sampler->tick_ns;
    pt_i64 moved_ns = (arrived_ticks - (pt_i64)tree->gone_ticks) * tick_ns +
                      difference(sampler->reaped_ns, sampler->reaped_before_ns) + sampler->carry_ns;
    sampler->reaped_before_ns = sampler->reaped_ns;
    /* Gone from one place and not yet seen at the other: it comes with the next scan, or never (a parent that ignores
     * SIGCHLD). */
    sampler->carry_age = moved_ns < 0 && sampler->carry_ns < 0 ? sampler->carry_age + 1 : 0;
    sampler->carry_ns = moved_ns < 0 && sampler->carry_age < CARRY_SCANS ? moved_ns : 0;
    moved_ns = moved_ns > 0 ? moved_ns : 0;
    living_ticks = living_ticks > 0 ? living_ticks : 0;
    return (pt_u64)(living_ticks * tick_ns + moved_ns);
}

/* ---- memory ---- */
static double pss_of_all(struct pt_sampler *sampler, pt_u64 t_ns)
{
    if (t_ns < sampler->pss_after_ns)
        return NAN;
    const pt_u64 start = own_cpu_ns();
    const struct pt_tree *tree = &sampler->tree;
    double sum = 0;
    for (size_t i = 0; i < tree->n; i++) {
        const struct pt_tree_entry *entry = &tree->entries[i];
        pt_u64 bytes = 0;
        if (entry->kinship != PT_KIN_OURS || entry->now.rss_bytes == 0)
            continue;
        if (!pt_process_pss_bytes(entry->pid, &bytes) && entry->now.state != 'Z') {
            sum = NAN; /* another user's process, or gone since: a sum without it would be too small */
            break;
        }
        sum += (double)bytes;
    }
    sampler->pss_after_ns = t_ns + (own_cpu_ns() - start) * PSS_COST_FACTOR;
    return sum;
}

/* ---- the list ---- */
static double merged_value(enum pt_merge merge, double value, double other, size_t weight)
{
    if (isnan(value) || isnan(other))
        return isnan(value) ? other : value;
    switch (merge) {
    case PT_MERGE_MEAN:
        return value + (other - value) / (double)(weight + 1);
    case PT_MERGE_MAX:
        return fmax(value, other);
    case PT_MERGE_TOTAL:
        break;
    }
    return other;
}

/* `weight` samples are in `into` already. */
static void merge_samples(struct pt_sample *into, const struct pt_sample *other, size_t weight)
{
    into->t_ns = other->t_ns;
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        into->values[i] = merged_value(pt_resources[i].merge, into->values[i], other->values[i], weight);
}

static void halve(struct pt_sampler *sampler)
{
    struct pt_samples *samples = &sampler->samples;
    for (size_t i = 0; i < samples->n / 2; i++) {
        samples->list[i] = samples->list[2 * i];
        merge_samples(&samples->list[i], &samples->list[2 * i + 1], 1);
    }
    samples->n /= 2;
    sampler->merged *= 2;
}

static void keep(struct pt_sampler *sampler, const struct pt_sample *sample)
{
    struct pt_samples *samples = &sampler->samples;
    if (sampler->pending && sampler->pending < sampler->merged) {
        merge_samples(&samples->list[samples->n - 1], sample, sampler->pending++);
        return;
    }
    if (samples->n == SAMPLES_MAX)
        halve(sampler);
    samples->list[samples->n++] = *sample;
    sampler->pending = 1;
}

/* ---- the whole stage ---- */
static void summarize(struct pt_sampler *sampler, const struct pt_sample *sample)
{
    struct pt_samples *samples = &sampler->samples;
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++) {
        struct pt_resource_summary *summary = &samples->summary[i];
        const double value = sample->values[i];
        if (isnan(value))
            continue;
        const double ns = (double)(sample->t_ns - sampler->last_ns);
        const double before_ns = sampler->known_ns[i];
        summary->mean = before_ns > 0 ? summary->mean + (value - summary->mean) * ns / (before_ns + ns) : value;
        sampler->known_ns[i] += ns;
        summary->max = fmax(summary->max, value); /* fmax ignores a NAN */
        summary->last = value;
    }
    if (sample->values[PT_RESOURCE_rss_bytes] > (double)samples->rss_max_bytes)
        samples->rss_max_bytes = (pt_u64)sample->values[PT_RESOURCE_rss_bytes];
    samples->cpu_percent_max = samples->summary[PT_RESOURCE_cpu_percent].max;
    samples->living = (pt_u32)sample->values[PT_RESOURCE_processes];
}

static void look_at_tree(struct pt_sampler *sampler, pt_u64 t_ns, double *values)
{
    pt_tree_scan(&sampler->tree);
    values[PT_RESOURCE_cpu_percent] = 100.0 * (double)cpu_since_last(sampler) / (double)(t_ns - sampler->last_ns);
    double rss_bytes = 0, threads = 0, processes = 0;
    for (size_t i = 0; i < sampler->tree.n; i++) {
        const struct pt_tree_entry *entry = &sampler->tree.entries[i];
        if (entry->kinship != PT_KIN_OURS || entry->now.state == 'Z')
            continue;
        rss_bytes += (double)entry->now.rss_bytes;
        threads += entry->now.threads;
        processes++;
    }
    values[PT_RESOURCE_rss_bytes] = rss_bytes;
    values[PT_RESOURCE_threads] = threads;
    values[PT_RESOURCE_processes] = processes;
}

pt_u64 pt_sampler_take(struct pt_sampler *sampler, pt_u64 t_ns)
{
    if (t_ns <= sampler->last_ns)
        return 0;
    const pt_u64 start = own_cpu_ns();
    struct pt_sample sample = {.t_ns = t_ns};
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        sample.values[i] = NAN;
    look_at_tree(sampler, t_ns, sample.values);
    const pt_u64 cost_ns = own_cpu_ns() - start;
    sample.values[PT_RESOURCE_pss_bytes] = pss_of_all(sampler, t_ns);
    summarize(sampler, &sample);
    sampler->last_ns = t_ns;
    sampler->last = sample;
    keep(sampler, &sample);
    return cost_ns;
}

void pt_sampler_ending(struct pt_sampler *sampler, pid_t pid)
{
    (void)sampler;
    (void)pid;
}

const struct pt_sample *pt_sampler_last(const struct pt_sampler *sampler)
{
    return &sampler->last;
}

struct pt_tree *pt_sampler_tree(struct pt_sampler *sampler)
{
    return &sampler->tree;
}

void pt_sampler_reaped(struct pt_sampler *sampler, pid_t pid, const struct rusage *usage)
{
    const struct pt_tree_entry *entry = pt_tree_find(&sampler->tree, pid);
    if (entry && entry->kinship == PT_KIN_FOREIGN)
        return; /* a child of whatever became us by exec */
    const pt_u64 seconds = (pt_u64)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec);
    const pt_u64 micros = (pt_u64)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    sampler->reaped_ns += seconds * 1000000000u + micros * 1000u;
    const pt_u64 rss_bytes = (pt_u64)usage->ru_maxrss * 1024;
    if (rss_bytes > sampler->samples.rss_max_bytes)
        sampler->samples.rss_max_bytes = rss_bytes;
}

const struct pt_samples *pt_sampler_samples(struct pt_sampler *sampler)
{
    struct pt_tree *tree = &sampler->tree;
    struct pt_samples *samples = &sampler->samples;
    pt_tree_scan(tree);
    (void)cpu_since_last(sampler);
    samples->living = 0;
    for (size_t i = 0; i < tree->n; i++)
        samples->living += tree->entries[i].kinship == PT_KIN_OURS && tree->entries[i].now.state != 'Z';
    samples->cpu_ns = sampler->reaped_ns + sampler->living_ns;
    return samples;
}
