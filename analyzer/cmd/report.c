/* SPDX-License-Identifier: MIT
 *
 * report.c - Owns: `proftrace report`. Threads: main only. Never: prints anything but the report to stdout.
 */
#include "report/medium.h"
#include "report/write.h"
#include "util/auto.h"
#include "cmd.h"
#include "open_run.h"

struct request {
    const char *run, *output, *stage;
    int format;
    pt_u64 top;
};

static int show(const struct request *request, struct pt_report *report, struct pt_error *err)
{
    if (pt_report_check_stage(&report->profile, request->stage, err) < 0)
        return -1;
    const struct pt_report_options options = {.stage = request->stage, .top = (size_t)request->top};
    const struct pt_render_options how = pt_medium_of(request->output);
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_report_build(&report->profile, &report->findings, &options);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_renderers[request->format].render(doc, &how, &text);
    return pt_report_write_text(request->output, &text, err);
}

int pt_cmd_report(int argc, char **argv, struct pt_error *err)
{
    struct request request = {.top = 10};
    const struct pt_opt table[] = {
        PT_OPT_CHOICE("format", 'f', &request.format, "text|json|md|html", "form of the report (default: text)"),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE", "write here instead of stdout"),
        PT_OPT_TEXT("stage", 's', &request.stage, "NAME", "only this stage"),
        PT_OPT_COUNT("top", 'n', &request.top, "N", "rows in each table (default: 10)"),
        PT_OPT_END,
    };
    struct pt_report report = {0};
    int result = pt_open_report(table, argc, argv, &report, err);
    if (!result)
        result = show(&request, &report, err);
    pt_report_close(&report);
    return result < 0 ? -1 : 0;
}
