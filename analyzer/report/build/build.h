/* SPDX-License-Identifier: MIT
 *
 * build.h - from what is known about a run to the document of its report.
 */
#ifndef PT_REPORT_BUILD_BUILD_H
#define PT_REPORT_BUILD_BUILD_H

#include "report/doc/doc.h"
#include "rules/rule.h"

struct pt_report_options {
    const char *stage; /* only this one; NULL = all */
    size_t top;        /* rows in each table that people read */
};

struct pt_doc *pt_report_build(const struct pt_profile *profile, const struct pt_findings *findings,
                               const struct pt_report_options *options);

/* The parts, each in build_<part>.c. */
struct pt_build {
    const struct pt_profile *profile;
    const struct pt_findings *findings;
    const struct pt_report_options *options;
    struct pt_doc *doc;
};

bool pt_build_wants_stage(const struct pt_build *b, pt_u32 stage);
void pt_build_stages(const struct pt_build *b);
void pt_build_stage_details(const struct pt_build *b);
/* Where the time of each thread of a stage went: report.json's list, and for people the busiest few. */
void pt_build_threads(const struct pt_build *b, struct pt_node *item, pt_u32 stage);
void pt_build_thread_details(const struct pt_build *b, pt_u32 stage, const char *label);
void pt_build_resources(const struct pt_build *b, struct pt_node *item, pt_u32 stage);
void pt_build_resource_table(const struct pt_build *b);
/* Nothing when there is neither a sample nor a reason. */
void pt_build_flame(const struct pt_build *b, pt_u32 stage, const char *label);
/* report.json's object about the GPUs of a stage; nothing when it uses none. */
void pt_build_gpu(const struct pt_build *b, struct pt_node *item, pt_u32 stage);
void pt_build_gpu_details(const struct pt_build *b, pt_u32 stage);
void pt_build_gpu_bars(const struct pt_build *b);
void pt_build_gpu_memory(const struct pt_build *b, struct pt_node *gpu, pt_u32 stage);
void pt_build_gpu_charts(const struct pt_build *b);
void pt_build_charts(const struct pt_build *b);
void pt_build_quality(const struct pt_build *b);
void pt_build_failures(const struct pt_build *b);
void pt_build_findings(const struct pt_build *b);
void pt_build_processes(const struct pt_build *b);
void pt_build_trace_quality(const struct pt_build *b);

/* The metric of a stage as a value of the document. */
struct pt_node *pt_build_metric(const struct pt_build *b, struct pt_node *parent, const char *key, const char *label,
                                enum pt_show show, pt_u32 stage, const char *metric);
/* The same for a number of bytes that the report gives in MiB. */
struct pt_node *pt_build_mib(const struct pt_build *b, struct pt_node *parent, const char *key, const char *label,
                             pt_u32 stage, const char *metric);
/* A list of texts, secrets blotted out. */
void pt_build_arguments(const struct pt_build *b, struct pt_node *parent, const char *key, const char *const *argv,
                        int argc);
/* How a process ended: "exit 0"; NULL when no end was seen. */
const char *pt_build_exit_text(const struct pt_build *b, const struct pt_process *process);
/* Programs that could not be traced, each once. */
struct pt_untraced_program {
    const char *path, *reason, *stage; /* stage: NULL = the parent's */
    const struct pt_process *parent;   /* NULL = the launcher saw it */
};
struct pt_untraced_list {
    PT_VEC(struct pt_untraced_program);
};
void pt_build_untraced(const struct pt_build *b, struct pt_untraced_list *ret_list);

#endif
