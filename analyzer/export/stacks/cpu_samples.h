/* SPDX-License-Identifier: MIT
 *
 * cpu_samples.h - the CPU samples of a run, stage by stage, for formats that show stacks.
 */
#ifndef PT_EXPORT_STACKS_CPU_SAMPLES_H
#define PT_EXPORT_STACKS_CPU_SAMPLES_H

#include "export/export.h"
#include "facts/cpu_names.h"

/* A sample, or a wait whose stack was taken. */
struct pt_shown_sample {
    pt_u64 t_ns; /* of the run */
    pt_u32 thread, node;
    double s;           /* the time that it represents */
    const char *reason; /* why it waited; NULL = it ran */
};

/* The selected samples of one stage, thread by thread and in the order of time. */
struct pt_cpu_samples {
    const char *stage;
    struct pt_cpu_view *view;
    const struct pt_shown_sample *samples;
    size_t n;
    void *context; /* of the caller */
    void (*show)(const struct pt_cpu_samples *samples);
};

/* Calls `show` for each stage that has a profile. Fails when there is none at all. With off_cpu it reads all events, to
 * know why threads waited. */
int pt_cpu_samples_each(struct pt_session *session, const struct pt_export_options *options, void *context,
                        void (*show)(const struct pt_cpu_samples *samples), struct pt_export_summary *summary,
                        struct pt_error *err);

/* All threads of the stages that have a profile, with the names that they gave themselves and when the run had them. */
void pt_cpu_threads_each(struct pt_session *session, const struct pt_export_options *options, void *context,
                         void (*show)(void *context, const struct pt_cpu_thread *thread, pt_i64 start_ns));

#endif
