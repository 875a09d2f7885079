/* SPDX-License-Identifier: MIT
 *
 * grade_report.c - Owns: the search for a run's grade report among the files that its traces name. Threads: main only.
 * Never: fails a run: a report that is not found is unknown, with the reason.
 *
 * It runs after the pass over the events and before the reports, so that no event is read twice.
 */
#include "grade_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/layers.h"
#include "report/untraced.h"
#include "run_file/write.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"

static void add_reason(struct pt_str *out)
{
    if (out->n)
        pt_str_add(out, "; ");
}

static void add_untraced(const struct pt_profile *profile, struct pt_str *out)
{
    struct pt_untraced_list programs = {0};
    pt_untraced_list(profile->session, profile->run, NULL, &programs);
    if (programs.n) {
        const struct pt_untraced_program *first = &programs.items[0];
        add_reason(out);
        pt_str_add(out, first->path);
        if (first->stage)
            pt_str_printf(out, " of stage '%s'", first->stage);
        pt_str_printf(out, " is not traced (%s)", first->reason ? first->reason : "nobody noted why");
        if (programs.n > 1)
            pt_str_printf(out, programs.n == 2 ? ", nor is %zu other" : ", nor are %zu others", programs.n - 1);
    }
    free(programs.items);
}

static pt_u32 n_without_files(const struct pt_session *session)
{
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        n += (session->processes[i]->layers_off & 1u << PT_LAYER_IO) != 0;
    return n;
}

/* Why a stage may have written a file of which the traces say nothing. */
static void list_unseen(const struct pt_profile *profile, pt_u64 left_out, struct pt_str *out)
{
    const struct pt_session *session = profile->session;
    const pt_u64 lost = session->quality.overwritten + session->quality.dropped + session->quality.corrupt_events;
    if (!session->n_processes)
        pt_str_add(out, "nothing was traced");
    add_untraced(profile, out);
    if (n_without_files(session)) {
        add_reason(out);
        const bool is_one = n_without_files(session) == 1;
        pt_str_printf(out, "%u process%s did not record %s file calls", n_without_files(session), is_one ? "" : "es",
                      is_one ? "its" : "their");
    }
    if (left_out) {
        add_reason(out);
        pt_str_printf(out, "%s older file%s left out", pt_fmt_count(left_out).text, left_out == 1 ? " was" : "s were");
    }
    if (lost) {
        add_reason(out);
        pt_str_printf(out, "%s event%s lost", pt_fmt_count(lost).text, lost == 1 ? " was" : "s were");
    }
}

static void put_into_record(const struct pt_runner_request *request, const struct pt_quality_metrics *quality,
                            struct pt_run_info *info)
{
    struct pt_run_pipeline *pipeline = &info->pipeline;
    struct pt_error err = {0};
    for (size_t i = 0; i < quality->n && i < pipeline->n_quality; i++) { /* both as the configuration has them */
        pipeline->quality[i].value = quality->items[i].value;
        pipeline->quality[i].reason = quality->items[i].reason;
    }
    pipeline->quality_read_from = quality->file;
    struct pt_run_info exact = *info; /* which was read through floating point */
    exact.start_realtime_ns = request->dir->start_realtime_ns;
    exact.start_monotonic_ns = request->dir->start_monotonic_ns;
    if (pt_run_info_write(request->dir->fd, request->dir->shown, &exact, &err) < 0) {
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_sanitize_terminal(&text, err.text);
        fprintf(stderr, "proftrace: %s\n", pt_str_text(&text));
    }
}

void pt_grade_report_find(const struct pt_runner_request *request, struct pt_report *report,
                          struct pt_runner_result *result, struct pt_quality_metrics *ret_quality)
{
    const struct pt_table *table = pt_metrics_find_table(&report->profile.metrics, pt_scope_run(), "io.written_json");
    const size_t n = table ? table->n_rows : 0;
    PT_AUTO(pt_str_fini) struct pt_str unseen = {0};
    PT_AUTO(pt_freep) const char **paths = pt_calloc(n, sizeof *paths);
    for (size_t i = 0; i < n; i++)
        paths[i] = pt_table_cell(table, i, "path").text;
    list_unseen(&report->profile, table ? table->rows_left_out : 0, &unseen);
    const struct pt_written_files written = {paths, n, unseen.n ? pt_str_text(&unseen) : NULL};
    pt_quality_search(request->config, request->dir->start_realtime_ns, &written, ret_quality);
    pt_runner_judge(result, ret_quality);
    if (report->run.info)
        put_into_record(request, ret_quality, report->run.info);
}
