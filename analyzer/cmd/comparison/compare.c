/* SPDX-License-Identifier: MIT
 *
 * compare.c - Owns: `proftrace compare`. Threads: main only. Never: fails because a run is worse: `check` is the gate.
 */
#include "compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/front_svg.h"
#include "report/medium.h"
#include "report/run_document.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "util/mem.h"
#include "cmd/arguments/options.h"
#include "cmd/cmd.h"
#include "forms.h"

enum { FORMAT_SVG = PT_FORM__COUNT };

struct request {
    const char *stage, *quality, *cost, *output;
    int format;
};

static void render_text(const struct pt_doc *doc, const char *output, struct pt_str *out)
{
    const struct pt_render_options how = pt_medium_of(output);
    const struct pt_text_out people = {&how, out};
    for (size_t i = 0; i < doc->stages.n; i++)
        pt_text_panels(&people, &doc->stages.items[i]->panels, doc->stages.items[i]->name);
    pt_text_notes(&people, doc);
    if (!doc->verdict)
        return;
    PT_AUTO(pt_str_fini) struct pt_str front = {0};
    pt_str_char(out, '\n');
    pt_text_clean(&front, doc->verdict);
    pt_text_wrapped(&people, pt_str_text(&front), 0);
    pt_str_char(out, '\n');
}

static int render(const struct request *request, const struct pt_comparison *comparison, struct pt_str *out,
                  struct pt_error *err)
{
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    if (request->format == FORMAT_SVG)
        return pt_front_svg(comparison, out, err);
    pt_comparison_document(comparison, doc);
    if (request->format == PT_FORM_TEXT)
        render_text(doc, request->output, out);
    else
        pt_form_panels((enum pt_form)request->format, doc, out);
    return 0;
}

/* "small=runs/1" is runs/1 with the name "small", unless a run has that very name. */
static const char *path_of(const char *argument, char **ret_name)
{
    const char *equals = strchr(argument, '=');
    if (!equals || equals == argument || access(argument, F_OK) == 0) {
        *ret_name = pt_asprintf("%s", argument);
        return argument;
    }
    *ret_name = pt_asprintf("%.*s", (int)(equals - argument), argument);
    return equals + 1;
}

static int compare(const struct request *request, const struct pt_arguments *args, char **names, cJSON **documents,
                   struct pt_error *err)
{
    PT_AUTO(pt_comparison_fini) struct pt_comparison comparison = pt_comparison_new(request->quality);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    for (int i = 0; i < args->n; i++) {
        documents[i] = pt_run_document(path_of(args->values[i], &names[i]), err);
        if (!documents[i] || pt_comparison_add(&comparison, names[i], documents[i], request->stage, err) < 0)
            return -1;
    }
    if (pt_comparison_front(&comparison, request->quality, request->cost, err) < 0 ||
        render(request, &comparison, &text, err) < 0)
        return -1;
    return pt_text_file_write(request->output, &text, err);
}

int pt_cmd_compare(int argc, char **argv, struct pt_error *err)
{
    struct request request = {0};
    const struct pt_opt table[] = {
        PT_OPT_TEXT("stage", 's', &request.stage, "NAME", "only this stage of each run"),
        PT_OPT_TEXT("quality", 0, &request.quality, "KEY",
                    "what is to be had, a quality metric (default: the first that two runs have)"),
        PT_OPT_TEXT("cost", 0, &request.cost, "KEY",
                    "what it costs: wall_s (default), cpu_s, memory_mb, gpu_memory_mb, flops_per_step"),
        PT_OPT_CHOICE("format", 'f', &request.format, "text|json|md|html|svg",
                      "form of the table; svg: quality against cost (default: text)"),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE", "write here instead of stdout"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 2, .max = -1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    char **names = pt_calloc((size_t)args.n, sizeof *names);
    cJSON **documents = pt_calloc((size_t)args.n, sizeof *documents);
    const int result = compare(&request, &args, names, documents, err);
    for (int i = 0; i < args.n; i++) {
        free(names[i]);
        cJSON_Delete(documents[i]);
    }
    free(names);
    free(documents);
    return result;
}
