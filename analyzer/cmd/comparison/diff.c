/* SPDX-License-Identifier: MIT
 *
 * diff.c - Owns: `proftrace diff`. Threads: main only. Never: fails because one run was slower; `check` does that.
 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/run_document.h"
#include "report/json/panel.h"
#include "report/medium.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "cmd/cmd.h"
#include "cmd/arguments/options.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_MD, FORMAT_HTML };

struct request {
    bool is_json, is_md;
    int format;
    const char *output;
};

static void render_text(const struct pt_doc *doc, const char *output, struct pt_str *out)
{
    const struct pt_render_options how = pt_medium_of(output);
    const struct pt_text_out people = {&how, out};
    for (size_t i = 0; i < doc->stages.n; i++) {
        PT_AUTO(pt_str_fini) struct pt_str why = {0};
        pt_text_clean(&why, doc->stages.items[i]->panels.items[0]->texts[0]);
        pt_text_put(&people, pt_str_text(&why)); /* one line: scripts read it, too */
        pt_str_char(out, '\n');
    }
    if (!doc->stages.n)
        pt_str_printf(out, "%s\n", doc->verdict);
    for (pt_u32 i = 0; i < doc->n_notes; i++) {
        PT_AUTO(pt_str_fini) struct pt_str note = {0};
        pt_text_clean(&note, doc->notes[i]);
        pt_str_add(out, "note: ");
        pt_text_wrapped(&people, pt_str_text(&note), 6);
        pt_str_char(out, '\n');
    }
    for (size_t i = 0; i < doc->stages.n; i++) {
        const struct pt_panels behind_why = {.items = doc->stages.items[i]->panels.items + 1,
                                             .n = doc->stages.items[i]->panels.n - 1};
        pt_text_panels(&people, &behind_why, doc->stages.items[i]->name);
    }
}

static void render(const struct request *request, const struct pt_doc *doc, struct pt_str *out)
{
    switch (request->is_json ? FORMAT_JSON : request->is_md ? FORMAT_MD : (enum format)request->format) {
    case FORMAT_TEXT:
        render_text(doc, request->output, out);
        break;
    case FORMAT_JSON:
        pt_json_stage_panels(doc, out);
        break;
    case FORMAT_MD:
        pt_render_md_panels(doc, out);
        break;
    case FORMAT_HTML:
        pt_render_html_panels(doc, out);
        break;
    }
}

/* "RUN:STAGE" is a stage of a run, unless a run has that very name. */
static char *split(const char *argument, const char **ret_stage)
{
    char *path = strdup(argument), *colon = path ? strrchr(path, ':') : NULL;
    *ret_stage = NULL;
    if (colon && colon[1] && access(argument, F_OK) < 0) {
        *colon = '\0';
        *ret_stage = argument + (colon - path) + 1;
    }
    return path;
}

int pt_cmd_diff(int argc, char **argv, struct pt_error *err)
{
    struct request request = {0};
    const struct pt_opt table[] = {
        PT_OPT_CHOICE("format", 'f', &request.format, "text|json|md|html", "form of the comparison (default: text)"),
        PT_OPT_FLAG("json", 0, &request.is_json, "the same as --format json"),
        PT_OPT_FLAG("md", 0, &request.is_md, "the same as --format md"),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE", "write here instead of stdout"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 2, .max = 2};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    struct pt_diff_run runs[2] = {{.name = args.values[0]}, {.name = args.values[1]}};
    PT_AUTO(pt_freep) char *path_a = split(runs[0].name, &runs[0].stage);
    PT_AUTO(pt_freep) char *path_b = split(runs[1].name, &runs[1].stage);
    PT_AUTO(pt_run_document_freep) cJSON *a = pt_run_document(path_a, err);
    PT_AUTO(pt_run_document_freep) cJSON *b = a ? pt_run_document(path_b, err) : NULL;
    if (!b)
        return -1;
    runs[0].document = a;
    runs[1].document = b;
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_diff_build(&runs[0], &runs[1], err);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (!doc)
        return -1;
    render(&request, doc, &text);
    return pt_text_file_write(request.output, &text, err);
}
