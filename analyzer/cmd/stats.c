/* SPDX-License-Identifier: MIT
 *
 * stats.c - Owns: `proftrace stats`: tables as strace -c has them. Threads: main only. Never: judges.
 */
#include "report/json/panel.h"
#include "report/medium.h"
#include "report/open.h"
#include "report/stats.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "cmd.h"
#include "arguments/open_run.h"

struct request {
    int by;
    bool json;
    const char *output, *stage;
    pt_u64 top;
    pt_i64 since_ns;
};

static int show(const struct request *request, const struct pt_report *report, struct pt_error *err)
{
    if (pt_report_check_stage(&report->profile, request->stage, err) < 0)
        return -1;
    const struct pt_render_options how = pt_medium_of(request->output);
    PT_AUTO(pt_doc_freep)
    struct pt_doc *doc =
        pt_stats_build(&report->profile, (enum pt_stats_by)request->by, request->stage, (size_t)request->top);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const struct pt_text_out people = {&how, &text};
    if (request->json)
        pt_json_stage_panels(doc, &text);
    for (size_t i = 0; i < doc->stages.n && !request->json; i++)
        pt_text_panels(&people, &doc->stages.items[i]->panels, doc->stages.items[i]->name);
    if (!text.n) /* no output at all looks like a crash */
        pt_str_add(&text, "Nothing of this kind was recorded.\n");
    return pt_text_file_write(request->output, &text, err);
}

int pt_cmd_stats(int argc, char **argv, struct pt_error *err)
{
    struct request request = {.top = 30, .since_ns = PT_TIME_NOT_GIVEN};
    const struct pt_opt table[] = {
        PT_OPT_CHOICE("by", 'b', &request.by, "call|file|stack|thread|size|line", "what to add up by (default: call)"),
        PT_OPT_FLAG("json", 0, &request.json, "print JSON"),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE", "write here instead of stdout"),
        PT_OPT_TEXT("stage", 's', &request.stage, "NAME", "only this stage"),
        PT_OPT_DURATION("since", 0, &request.since_ns, "D",
                        "only the last so long of it, as 10m: up to now, or its end"),
        PT_OPT_COUNT("top", 'n', &request.top, "N", "rows in each table (default: 30)"),
        PT_OPT_END,
    };
    struct pt_report report = {0};
    int result = pt_open_report(table, argc, argv, &request.since_ns, &report, err);
    if (!result)
        result = show(&request, &report, err);
    pt_report_close(&report);
    return result < 0 ? -1 : 0;
}
