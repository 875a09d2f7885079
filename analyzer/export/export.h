/* SPDX-License-Identifier: MIT
 *
 * export.h - a run in the format of another tool.
 *
 * A format is one row in exporters.def and one function `pt_export_<name>` that pulls the session's events and writes
 * them to a sink. It never holds the trace in memory, and it reports exactly what it wrote: tests compare the summary
 * with what a real viewer found in the file.
 */
#ifndef PT_EXPORT_EXPORT_H
#define PT_EXPORT_EXPORT_H

#include <stdbool.h>

#include "export/out/sink.h"
#include "merge/feed.h"
#include "model/session.h"

struct pt_export_options {
    /* Slices are cut to [from_ns, until_ns); min_duration_ns leaves out shorter calls, but never processes and ranges.
     */
    struct pt_filter filter;
    pt_i64 since_ns;  /* figures of the report are of so much of the end of the run; 0 = of all of it */
    pt_u64 max_bytes; /* folders: of each file, before compression; 0 = any */
    bool off_cpu;     /* stacks: of threads that wait, with the reason, instead of those that run */
};

/* What is in the file. */
struct pt_export_summary {
    pt_u64 slices, instants, counters, flows; /* flows: pairs */
    pt_u64 processes, tracks;
    pt_u64 moved;    /* slices that overlapped another one of their thread: shown on a track of their own */
    pt_u64 left_out; /* slices without room on any track, values that are not numbers */
    char note[200];  /* what the user should know; "" = nothing */
};

typedef int pt_export_file(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                           struct pt_export_summary *ret_summary, struct pt_error *err);
/* Makes the folder where it is not there; leaves no file when it fails. */
typedef int pt_export_folder(struct pt_session *session, const struct pt_export_options *options,
                             const struct pt_out_place *place, struct pt_export_summary *ret_summary,
                             struct pt_sink_result *ret_result, struct pt_error *err);

struct pt_exporter {
    const char *name;
    const char *file_name; /* in the run directory, when no other name is given */
    const char *doc;
    pt_u64 warn_bytes, refuse_bytes; /* before compression; 0 = any size will do */
    bool has_stacks;                 /* of threads that run, or with off_cpu of those that wait */
    bool has_figures;                /* of whole stages: neither one process nor a part of the time can be chosen */
    /* One of the two; the other is NULL. */
    pt_export_file *write;
    pt_export_folder *write_folder;
};

extern const struct pt_exporter pt_exporters[];
extern const pt_u32 pt_n_exporters;
/* NULL when there is none of that name. */
const struct pt_exporter *pt_exporter_find(const char *name);

#define EXPORTER(name, file_name, warn_mb, refuse_mb, doc) pt_export_file pt_export_##name;
#define EXPORTER_STACKS EXPORTER
#define EXPORTER_FIGURES EXPORTER
#define EXPORTER_FOLDER(name, file_name, doc) pt_export_folder pt_export_##name;
#include "exporters.def"
#undef EXPORTER
#undef EXPORTER_STACKS
#undef EXPORTER_FIGURES
#undef EXPORTER_FOLDER

#endif
