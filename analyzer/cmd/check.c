/* SPDX-License-Identifier: MIT
 *
 * check.c - Owns: `proftrace check`. Threads: main only. Never: guesses: what cannot be compared is said, with exit
 * code 4.
 */
#include "regression/check.h"

#include <stdlib.h>
#include <string.h>

#include "regression/baseline.h"
#include "report/json/panel.h"
#include "report/medium.h"
#include "report/run_document.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "util/mem.h"
#include "arguments/options.h"
#include "cmd.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_MD, FORMAT_GITHUB };

struct request {
    const char *baseline, *stage, *output;
    int format;
    bool with_times;
};

/* A line that GitHub shows at the change; what follows is one line, without its escapes. */
static void render_github(const struct pt_doc *doc, enum pt_check_result result, struct pt_str *out)
{
    pt_str_printf(out, "::%s title=proftrace check::",
                  result == PT_CHECK_WORSE       ? "error"
                  : result == PT_CHECK_UNDECIDED ? "warning"
                                                 : "notice");
    for (const char *at = doc->verdict; *at; at++)
        if (*at == '%')
            pt_str_add(out, "%25");
        else
            pt_str_char(out, (unsigned char)*at < ' ' ? ' ' : *at);
    pt_str_char(out, '\n');
}

static void render(const struct request *request, const struct pt_doc *doc, enum pt_check_result result,
                   struct pt_str *out)
{
    const struct pt_render_options how = pt_medium_of(request->output);
    const struct pt_text_out people = {&how, out};
    switch (request->format) {
    case FORMAT_JSON:
        pt_json_stage_panels(doc, out);
        return;
    case FORMAT_GITHUB:
        render_github(doc, result, out);
        return;
    case FORMAT_MD:
        pt_render_md_panels(doc, out);
        return;
    default:
        pt_text_put(&people, doc->verdict);
        pt_str_char(out, '\n');
        for (size_t i = 0; i < doc->stages.n; i++)
            pt_text_panels(&people, &doc->stages.items[i]->panels, doc->stages.items[i]->name);
    }
}

static int check_runs(const struct request *request, struct pt_check *check, struct pt_error *err)
{
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const enum pt_check_result result = pt_check(check, doc);
    render(request, doc, result, &text);
    return pt_text_file_write(request->output, &text, err) < 0 ? -1 : (int)result;
}

int pt_cmd_check(int argc, char **argv, struct pt_error *err)
{
    struct request request = {0};
    const struct pt_opt table[] = {
        PT_OPT_TEXT("baseline", 'b', &request.baseline, "FILE", "the figures of earlier runs (proftrace baseline add)"),
        PT_OPT_TEXT("stage", 's', &request.stage, "NAME", "only this stage"),
        PT_OPT_FLAG("time", 't', &request.with_times,
                    "wall and CPU time, too: four runs on both sides, of the same machine"),
        PT_OPT_CHOICE("format", 'f', &request.format, "text|json|md|github", "form of the result (default: text)"),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE", "write here instead of stdout"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = -1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (!request.baseline)
        return pt_fail_code(err, 2, "--baseline FILE is missing; `proftrace baseline add FILE RUN` makes one");
    PT_AUTO(pt_baseline_freep) cJSON *baseline = pt_baseline_read(request.baseline, false, err);
    if (!baseline)
        return -1;
    const size_t n = args.n ? (size_t)args.n : 1;
    struct pt_check check = {.baseline = baseline, .stage = request.stage, .with_times = request.with_times};
    check.documents = pt_calloc(n, sizeof *check.documents);
    int result = 0;
    for (; check.n_documents < n && !result; check.n_documents++) {
        check.documents[check.n_documents] = pt_run_document(args.n ? args.values[check.n_documents] : NULL, err);
        result = check.documents[check.n_documents] ? 0 : -1;
    }
    if (!result)
        result = check_runs(&request, &check, err);
    for (size_t i = 0; i < check.n_documents; i++)
        cJSON_Delete(check.documents[i]);
    free(check.documents);
    return result;
}
