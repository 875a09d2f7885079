/* SPDX-License-Identifier: MIT
 *
 * sampler.c - Owns: the samples of a stage, made from the values of the sources. Threads: main only; there is no other.
 * Never: depends on where a value comes from.
 */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>

#include "run_file/thin.h"
#include "sampler/sources/source.h"
#include "util/clock.h"
#include "util/mem.h"
#include "process_tree.h"

#define SAMPLES_FIRST 64 /* room for so many at first */
#define SOURCES_MAX 16

struct pt_sampler {
    struct pt_tree tree;
    struct pt_samples samples;
    struct pt_sample last;
    size_t capacity; /* of the lists of samples */
    size_t merged;   /* samples that make one in the list */
    size_t pending;
    pt_u64 last_ns;
    pt_u64 begin_ns;                     /* monotonic */
    double known_ns[PT_RESOURCE__COUNT]; /* how long each resource was known */
    char reasons[PT_RESOURCE__COUNT][PT_REASON_SIZE];
    struct pt_source_host host;
    void *states[SOURCES_MAX];    /* by pt_sources; NULL = it could not be allocated */
    bool is_serving[SOURCES_MAX]; /* open() said so */
};

static void forget(double *values)
{
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        values[i] = NAN;
}

static void open_sources(struct pt_sampler *sampler, const struct pt_sampler_options *options)
{
    sampler->host = (struct pt_source_host){
        .proc = options->proc ? options->proc : "/proc",
        .sys = options->sys ? options->sys : "/sys",
        .no_gpu = options->no_gpu,
        .tree = &sampler->tree,
        .samples = &sampler->samples,
        .reasons = sampler->reasons,
    };
    for (size_t i = 0; i < pt_n_sources; i++) {
        sampler->states[i] = pt_calloc(1, pt_sources[i]->state_size);
        sampler->is_serving[i] = pt_sources[i]->open(sampler->states[i], &sampler->host);
    }
}

struct pt_sampler *pt_sampler_new(const struct pt_sampler_options *options, struct pt_error *err)
{
    struct pt_sampler *sampler = pt_calloc(1, sizeof *sampler);
    if (pt_tree_open(&sampler->tree, err) < 0) {
        free(sampler);
        return NULL;
    }
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        sampler->samples.resources[i] = (struct pt_run_resource){.max = NAN, .mean = NAN, .last = NAN};
    sampler->samples.cpu_percent_max = NAN;
    forget(sampler->last.values);
    sampler->merged = 1;
    open_sources(sampler, options);
    return sampler;
}

void pt_sampler_stop(struct pt_sampler *sampler)
{
    for (size_t i = 0; i < pt_n_sources; i++) {
        if (!sampler->states[i])
            continue;
        pt_sources[i]->close(sampler->states[i]);
        free(sampler->states[i]);
        sampler->states[i] = NULL;
        sampler->is_serving[i] = false;
    }
    pt_tree_close(&sampler->tree);
}

void pt_sampler_free(struct pt_sampler *sampler)
{
    if (!sampler)
        return;
    pt_sampler_stop(sampler);
    free(sampler->samples.t_s);
    for (size_t r = 0; r < PT_RESOURCE__COUNT; r++)
        free(sampler->samples.resources[r].samples);
    free(sampler);
}

/* ---- asking the sources ---- */

static void look(struct pt_sampler *sampler, struct pt_source_look *request)
{
    forget(request->values);
    for (size_t i = 0; i < pt_n_sources; i++)
        if (sampler->is_serving[i])
            pt_sources[i]->look(sampler->states[i], request);
}

void pt_sampler_begin(struct pt_sampler *sampler)
{
    double values[PT_RESOURCE__COUNT];
    look(sampler, &(struct pt_source_look){.values = values});
    sampler->begin_ns = pt_monotonic_ns();
}

void pt_sampler_ending(struct pt_sampler *sampler, pid_t pid)
{
    for (size_t i = 0; i < pt_n_sources; i++)
        if (sampler->is_serving[i] && pt_sources[i]->ending)
            pt_sources[i]->ending(sampler->states[i], pid);
}

void pt_sampler_reaped(struct pt_sampler *sampler, pid_t pid, const struct rusage *usage)
{
    for (size_t i = 0; i < pt_n_sources; i++)
        if (sampler->is_serving[i] && pt_sources[i]->reaped)
            pt_sources[i]->reaped(sampler->states[i], pid, usage);
}

/* ---- the list ---- */

static void halve(struct pt_sampler *sampler)
{
    struct pt_samples *samples = &sampler->samples;
    samples->n = pt_run_halve(samples->t_s, samples->resources, samples->n);
    sampler->merged *= 2;
}

static void make_room(struct pt_sampler *sampler)
{
    struct pt_samples *samples = &sampler->samples;
    if (samples->n < sampler->capacity)
        return;
    sampler->capacity = sampler->capacity ? sampler->capacity * 2 : SAMPLES_FIRST;
    samples->t_s = pt_realloc(samples->t_s, sampler->capacity * sizeof *samples->t_s);
    for (size_t r = 0; r < PT_RESOURCE__COUNT; r++)
        samples->resources[r].samples =
            pt_realloc(samples->resources[r].samples, sampler->capacity * sizeof *samples->t_s);
}

static void keep(struct pt_sampler *sampler, const struct pt_sample *sample)
{
    struct pt_samples *samples = &sampler->samples;
    const bool is_merged = sampler->pending && sampler->pending < sampler->merged;
    if (!is_merged && samples->n == PT_RUN_STAGE_SAMPLES)
        halve(sampler);
    if (!is_merged) {
        make_room(sampler);
        samples->n++;
        sampler->pending = 0;
    }
    const size_t at = samples->n - 1;
    samples->t_s[at] = (double)sample->t_ns / 1e9;
    for (size_t r = 0; r < PT_RESOURCE__COUNT; r++) {
        double *value = &samples->resources[r].samples[at];
        *value = is_merged ? pt_run_merged(pt_resources[r].merge, *value, sample->values[r], sampler->pending)
                           : sample->values[r];
    }
    sampler->pending++;
}

/* ---- the whole stage ---- */

static bool is_total(size_t resource)
{
    return pt_resources[resource].merge == PT_MERGE_TOTAL;
}

static void summarize(struct pt_sampler *sampler, const struct pt_sample *sample)
{
    struct pt_samples *samples = &sampler->samples;
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++) {
        struct pt_run_resource *resource = &samples->resources[i];
        const double value = sample->values[i];
        if (isnan(value))
            continue;
        const double ns = (double)(sample->t_ns - sampler->last_ns);
        const double before_ns = sampler->known_ns[i];
        if (!is_total(i))
            resource->mean = before_ns > 0 ? resource->mean + (value - resource->mean) * ns / (before_ns + ns) : value;
        sampler->known_ns[i] += ns;
        resource->max = fmax(resource->max, value); /* fmax ignores a NAN */
        resource->last = value;
    }
    samples->cpu_percent_max = samples->resources[PT_RESOURCE_cpu_percent].max;
}

/* Totals never decrease: a process may end where none of ours waits for it, and its numbers disappear with it. */
static void keep_totals_rising(struct pt_sampler *sampler, double *values)
{
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        if (is_total(i) && values[i] < sampler->samples.resources[i].last)
            values[i] = sampler->samples.resources[i].last;
}

pt_u64 pt_sampler_take(struct pt_sampler *sampler, pt_u64 t_ns)
{
    if (t_ns <= sampler->last_ns)
        return 0;
    const pt_u64 start = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct pt_sample *sample = &sampler->last;
    sample->t_ns = t_ns;
    struct pt_source_look request = {
        .values = sample->values, .interval_s = (double)(t_ns - sampler->last_ns) / 1e9, .t_ns = t_ns};
    look(sampler, &request);
    keep_totals_rising(sampler, sample->values);
    summarize(sampler, sample);
    sampler->last_ns = t_ns;
    keep(sampler, sample);
    const pt_u64 cost_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
    return cost_ns > request.paid_ns ? cost_ns - request.paid_ns : 0;
}

const struct pt_sample *pt_sampler_last(const struct pt_sampler *sampler)
{
    return &sampler->last;
}

struct pt_tree *pt_sampler_tree(struct pt_sampler *sampler)
{
    return &sampler->tree;
}

/* Levels come from the samples; totals are known until the end, also without a sample. */
static void finish_totals(struct pt_sampler *sampler)
{
    double values[PT_RESOURCE__COUNT];
    const pt_u64 t_ns = pt_monotonic_ns() - sampler->begin_ns;
    const pt_u64 passed_ns = t_ns > sampler->last_ns ? t_ns - sampler->last_ns : 1;
    look(sampler, &(struct pt_source_look){
                      .values = values, .interval_s = (double)passed_ns / 1e9, .t_ns = t_ns, .is_last = true});
    keep_totals_rising(sampler, values);
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++)
        if (is_total(i) && !isnan(values[i]))
            sampler->samples.resources[i].max = sampler->samples.resources[i].last = values[i];
}

const struct pt_samples *pt_sampler_so_far(struct pt_sampler *sampler)
{
    struct pt_samples *samples = &sampler->samples;
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++) {
        struct pt_run_resource *resource = &samples->resources[i];
        resource->reason = NULL; /* the reason of an earlier sample may not be true any more */
        if (sampler->reasons[i][0])
            resource->reason = sampler->reasons[i];
        else if (isnan(resource->last))
            resource->reason = samples->n ? "it could not be read" : "the stage ended before the first sample";
    }
    return samples;
}

const struct pt_samples *pt_sampler_samples(struct pt_sampler *sampler)
{
    finish_totals(sampler);
    return pt_sampler_so_far(sampler);
}
