/* SPDX-License-Identifier: MIT
 *
 * report.c - Owns: `proftrace report`. Threads: main only. Never: prints anything but the report to stdout.
 */
#include "report/medium.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/build/build.h"
#include "report/open.h"
#include "report/source.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "cmd.h"
#include "arguments/open_run.h"

#define NOT_GIVEN UINT64_MAX

enum { TOP = 10 };

struct request {
    const char *run, *output, *stage, *source;
    int format;
    pt_u64 top, finding;
    pt_i64 since_ns;
    bool is_full;
};

/* The page that was written with the run; NULL = none. */
static const char *page_of(const struct pt_session *session, struct pt_str *path)
{
    pt_str_printf(path, "%s/report.html", session->path);
    return access(pt_str_text(path), R_OK) ? NULL : pt_str_text(path);
}

/* Commands that the report prints need the name of the run, unless it is the latest, which is their default. */
static bool is_latest(const struct pt_session *session)
{
    PT_AUTO(pt_freep) char *latest = pt_session_directory(NULL, NULL);
    PT_AUTO(pt_freep) char *a = latest ? realpath(latest, NULL) : NULL;
    PT_AUTO(pt_freep) char *b = realpath(session->path, NULL);
    return a && b && !strcmp(a, b);
}

static int check_finding(const struct request *request, const struct pt_doc *doc, struct pt_error *err)
{
    const size_t n = doc->findings.n + doc->observations.n;
    if (request->finding == NOT_GIVEN)
        return 0;
    if (pt_renderers[request->format].render != pt_render_text)
        return pt_fail_code(err, 2, "--finding shows one finding as text; as %s the report has all of them",
                            pt_renderers[request->format].name);
    if (request->finding && pt_doc_finding(doc, request->finding))
        return 0;
    if (!n)
        return pt_fail_code(err, 2, "the report has no findings");
    return pt_fail_code(err, 2, "there is no finding %llu; the report has %zu", (unsigned long long)request->finding,
                        n);
}

static int check_top(const struct request *request, struct pt_error *err)
{
    if (request->top == NOT_GIVEN)
        return 0;
    if (request->source)
        return pt_fail_code(err, 2, "--top cuts tables, and --source shows a file: leave one of them out");
    if (pt_renderers[request->format].render == pt_render_json)
        return pt_fail_code(err, 2,
                            "--top cuts the tables for people; those of %s say in `_left_out` how many rows they lack",
                            pt_renderers[request->format].name);
    if (request->finding != NOT_GIVEN)
        return pt_fail_code(err, 2, "--top cuts tables, and --finding shows a finding: leave one of them out");
    if (pt_renderers[request->format].render == pt_render_text && !request->is_full)
        return pt_fail_code(err, 2,
                            "--top cuts tables, and the report of one screen has none: add --full for all of them, or "
                            "--format md or html");
    return 0;
}

static int show(const struct request *request, struct pt_report *report, struct pt_error *err)
{
    if (pt_report_check_stage(&report->profile, request->stage, err) < 0)
        return -1;
    const struct pt_report_options options = {.stage = request->stage,
                                              .top = request->top == NOT_GIVEN ? TOP : (size_t)request->top};
    const struct pt_session *session = pt_run_session(&report->run);
    PT_AUTO(pt_str_fini) struct pt_str page = {0};
    struct pt_render_options how = pt_medium_of(request->output);
    how.is_full = request->is_full;
    how.finding = request->finding == NOT_GIVEN ? 0 : (pt_u32)request->finding;
    how.run_argument = is_latest(session) ? NULL : session->path;
    how.stage = request->stage;
    how.since_ns = request->since_ns;
    how.page = page_of(session, &page);
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_report_build(&report->profile, &report->findings, &options);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (check_finding(request, doc, err) < 0)
        return -1;
    pt_renderers[request->format].render(doc, &how, &text);
    return pt_text_file_write(request->output, &text, err);
}

static int show_source(const struct request *request, const struct pt_report *report, struct pt_error *err)
{
    const bool is_page = pt_renderers[request->format].render == pt_render_html;
    if (!is_page && pt_renderers[request->format].render != pt_render_text)
        return pt_fail_code(err, 2, "--source shows a file as text or html, not as %s",
                            pt_renderers[request->format].name);
    if (request->finding != NOT_GIVEN)
        return pt_fail_code(err, 2, "--source shows a file, and --finding a finding: leave one of them out");
    if (pt_report_check_stage(&report->profile, request->stage, err) < 0)
        return -1;
    PT_AUTO(pt_doc_freep)
    struct pt_doc *doc = pt_source_build(&report->profile, request->stage, request->source, err);
    if (!doc)
        return -1;
    enum { LEAST_WIDTH = 140 }; /* or nothing is left of the text of the file */
    struct pt_render_options how = pt_medium_of(request->output);
    how.width = how.width && how.width < LEAST_WIDTH ? LEAST_WIDTH : how.width;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const struct pt_text_out people = {&how, &text};
    if (is_page)
        pt_render_html_panels(doc, &text);
    for (size_t i = 0; !is_page && i < doc->stages.n; i++)
        pt_text_panels(&people, &doc->stages.items[i]->panels, doc->stages.items[i]->name);
    return pt_text_file_write(request->output, &text, err);
}

/* "text|json|md|html", from renderers.def; the text begins with a "|". */
static const char formats[] =
#define RENDERER(name, file_name) "|" #name
#include "report/renderers.def"
#undef RENDERER
    ;

int pt_cmd_report(int argc, char **argv, struct pt_error *err)
{
    struct request request = {.top = NOT_GIVEN, .finding = NOT_GIVEN, .since_ns = PT_TIME_NOT_GIVEN};
    const struct pt_opt table[] = {
        PT_OPT_CHOICE("format", 'f', &request.format, formats + 1, "form of the report (default: text)"),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE", "write here instead of stdout"),
        PT_OPT_TEXT("stage", 's', &request.stage, "NAME", "only this stage"),
        PT_OPT_DURATION("since", 0, &request.since_ns, "D",
                        "only the last so long of it, as 10m: up to now, or its end"),
        PT_OPT_FLAG("full", 0, &request.is_full, "text: all tables, not one screen"),
        PT_OPT_COUNT("finding", 0, &request.finding, "N", "text: this finding with its evidence and stacks"),
        PT_OPT_TEXT("source", 0, &request.source, "FILE", "text, html: this file of Python, with what its lines cost"),
        PT_OPT_COUNT("top", 'n', &request.top, "N", "text with --full, md, html: rows in each table (default: 10)"),
        PT_OPT_END,
    };
    struct pt_report report = {0};
    int result = pt_open_report(table, argc, argv, &request.since_ns, &report, err);
    if (!result)
        result = check_top(&request, err);
    if (!result)
        result = request.source ? show_source(&request, &report, err) : show(&request, &report, err);
    pt_report_close(&report);
    return result < 0 ? -1 : 0;
}
