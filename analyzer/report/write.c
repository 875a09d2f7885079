/* SPDX-License-Identifier: MIT
 *
 * Owns: writing reports to files. Threads: one. Never: leaves half a report; goes into the run directory by its name.
 */
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "report/svg/chart_file.h"
#include "report/text/full.h"
#include "util/auto.h"
#include "util/fd.h"
#include "util/new_file.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "util/text/sanitize_markdown.h"
#include "util/whole.h"
#include "github.h"
#include "medium.h"

enum { HEADLINES = 3 };

static int write_one(const struct pt_doc *doc, const struct pt_renderer *renderer, int run_fd, struct pt_error *err)
{
    const struct pt_render_options options = {.width = 100, .utf8 = true};
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    renderer->render(doc, &options, &text);
    if (pt_new_file_write(run_fd, renderer->file_name, pt_str_text(&text), text.n) < 0)
        return pt_fail(err, "cannot write %s: %s", renderer->file_name, strerror(errno));
    return 0;
}

/* Of a pipeline each names its stage: two stages may have the same trouble. */
static void add_headlines(const struct pt_profile *profile, const struct pt_findings *findings, struct pt_str *ret)
{
    for (size_t i = 0; i < findings->n && i < HEADLINES; i++) {
        const struct pt_finding *finding = &findings->items[i];
        if (i && finding->is_observation)
            break;
        pt_str_printf(ret, "  %zu. ", i + 1);
        if (finding->is_observation)
            pt_str_add(ret, "no problem found; ");
        if (pt_finding_has_time(finding))
            pt_str_printf(ret, "%s (%.0f %%)  ", pt_fmt_duration(pt_whole_signed(finding->time_s * 1e9)).text,
                          finding->time_percent);
        if (finding->gain_upper_s > 0)
            pt_str_printf(ret, "up to %s (%.0f %%)  ",
                          pt_fmt_duration(pt_whole_signed(finding->gain_upper_s * 1e9)).text,
                          finding->gain_upper_percent);
        if (profile->run && profile->run->is_pipeline && finding->stage >= 0) {
            pt_sanitize_terminal(ret, profile->stages.items[finding->stage].name);
            pt_str_add(ret, ": ");
        }
        pt_sanitize_terminal(ret, finding->title); /* a process's name may be in it */
        pt_str_char(ret, '\n');
    }
}

/* A terminal is not in the run directory: whole paths of logs. */
static void add_summary(struct pt_doc *doc, const char *run_dir, struct pt_str *ret)
{
    const struct pt_render_options medium = pt_medium_of_stderr();
    const struct pt_text_out t = {&medium, ret};
    for (size_t i = 0; i < doc->failures.n; i++)
        if (doc->failures.items[i].log)
            doc->failures.items[i].log = pt_doc_format(doc, "%s/%s", run_dir, doc->failures.items[i].log);
    pt_text_outcome(&t, doc);
}

static void add_shown(struct pt_doc *doc, const struct pt_report *report, const char *run_dir,
                      const struct pt_written *written)
{
    const double cpu_s = pt_stage_number(&report->profile, 0, "cpu.total_s");
    if (written->cpu_ns && cpu_s > 0)
        *written->cpu_ns = pt_whole(cpu_s * 1e9);
    if (written->headlines)
        add_headlines(&report->profile, &report->findings, written->headlines);
    if (written->summary)
        add_summary(doc, run_dir, written->summary);
    if (written->annotations)
        pt_github_annotations(doc, written->annotations);
}

int pt_write_open_reports(const struct pt_report *report, int run_fd, const struct pt_written *written,
                          struct pt_error *err)
{
    const struct pt_report_options options = {.top = 20};
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_report_build(&report->profile, &report->findings, &options);
    int result = 0;
    for (const struct pt_renderer *renderer = pt_renderers; renderer->name && !result; renderer++)
        if (renderer->file_name)
            result = write_one(doc, renderer, run_fd, err);
    if (!result)
        result = pt_chart_write_files(doc, run_fd, err);
    add_shown(doc, report, report->profile.session->path, written);
    return result;
}

int pt_write_reports(const char *run_dir, int run_fd, const struct pt_written *written, struct pt_error *err)
{
    struct pt_report report = {0};
    int result = pt_report_open(run_dir, &report, err);
    if (!result)
        result = pt_write_open_reports(&report, run_fd, written, err);
    pt_report_close(&report);
    return result;
}

int pt_write_first_line(int run_fd, const char *line, struct pt_error *err)
{
    enum { MOST_BYTES = 1 << 20 };
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    PT_AUTO(pt_closep) int fd = openat(run_fd, "report.md", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    pt_sanitize_markdown(&text, line);
    pt_str_add(&text, "\n\n");
    if (fd < 0 || pt_fd_read_all(fd, MOST_BYTES, &text) < 0)
        return pt_fail(err, "cannot read report.md: %s", strerror(errno));
    if (pt_new_file_write(run_fd, "report.md", pt_str_text(&text), text.n) < 0)
        return pt_fail(err, "cannot write report.md: %s", strerror(errno));
    return 0;
}
