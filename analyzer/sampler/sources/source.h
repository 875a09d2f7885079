/* SPDX-License-Identifier: MIT
 *
 * source.h - one place that samples come from: what it can give is found out once, then it is read again and again.
 *
 * open() says what it cannot give, and why, with pt_source_unknown(). look() writes the values that it knows this time;
 * all others stay unknown. The first call has no interval before it: it sets the start of totals.
 */
#ifndef PT_SAMPLER_SOURCES_SOURCE_H
#define PT_SAMPLER_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "proftrace/types.h"
#include "run_file/resources.h"

#define PT_REASON_SIZE 200

struct pt_samples;
struct pt_tree;

/* What all sources share. */
struct pt_source_host {
    const char *proc, *sys; /* "/proc" and "/sys", except in tests */
    bool no_gpu;
    struct pt_tree *tree;
    struct pt_samples *samples;
    char (*reasons)[PT_REASON_SIZE]; /* by enum pt_resource; empty = none */
};

struct pt_source_look {
    double *values;    /* by enum pt_resource */
    double interval_s; /* since the call before; 0 = this is the first */
    pt_u64 t_ns;       /* since the start */
    bool is_last;      /* the stage is over: be exact now */
    pt_u64 paid_ns;    /* CPU time that a source has accounted for by looking less often */
};

struct pt_source {
    const char *name;
    size_t state_size;                                            /* zeroed before open() */
    bool (*open)(void *state, const struct pt_source_host *host); /* false = it can give nothing and is never read */
    void (*look)(void *state, struct pt_source_look *look);
    void (*ending)(void *state, pid_t pid); /* NULL = does not care */
    void (*reaped)(void *state, pid_t pid, const struct rusage *usage);
    void (*close)(void *state); /* also after an open() that returned false */
};

#define SOURCE(name) extern const struct pt_source pt_source_##name;
#include "sources.def"
#undef SOURCE

extern const struct pt_source *const pt_sources[];
extern const size_t pt_n_sources;

/* The first reason that is given stays. */
__attribute__((format(printf, 3, 4))) void pt_source_unknown(const struct pt_source_host *host,
                                                             enum pt_resource resource, const char *format, ...);
#endif
