/* SPDX-License-Identifier: MIT
 *
 * diff.c - Owns: `proftrace diff`. Threads: main only. Never: fails because one run was slower; `check` does that.
 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/run_document.h"
#include "report/medium.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "diff/selection.h"
#include "serve/runs.h"
#include "util/auto.h"
#include "util/mem.h"
#include "cmd/cmd.h"
#include "cmd/arguments/options.h"
#include "forms.h"

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
    pt_text_notes(&people, doc);
    for (size_t i = 0; i < doc->stages.n; i++) {
        const struct pt_panels behind_why = {.items = doc->stages.items[i]->panels.items + 1,
                                             .n = doc->stages.items[i]->panels.n - 1};
        pt_text_panels(&people, &behind_why, doc->stages.items[i]->name);
    }
}

static void render(const struct request *request, const struct pt_doc *doc, struct pt_str *out)
{
    const enum pt_form form = request->is_json ? PT_FORM_JSON
                              : request->is_md ? PT_FORM_MD
                                               : (enum pt_form)request->format;
    if (form == PT_FORM_TEXT)
        render_text(doc, request->output, out);
    else
        pt_form_panels(form, doc, out);
}

/* A directory that has runs and is none. */
static cJSON *document_of_tree(const char *path, struct pt_error *err)
{
    PT_AUTO(pt_kept_heads_fini) struct pt_kept_heads kept = {0};
    struct pt_listed_runs runs = pt_runs_list(path, &kept);
    cJSON *tree = runs.n ? cJSON_CreateObject() : NULL;
    for (size_t i = 0; tree && i < runs.n; i++) {
        PT_AUTO(pt_freep) char *run = pt_asprintf("%s/%s", path, runs.items[i].name);
        PT_AUTO(pt_run_document_freep) cJSON *document = pt_run_document(run, err);
        if (document) {
            pt_tree_add(tree, runs.items[i].name, document);
            continue;
        }
        cJSON_Delete(tree);
        tree = NULL;
    }
    pt_runs_free(&runs);
    return tree;
}

static cJSON *document_of(const struct pt_selection *selection, struct pt_error *err)
{
    struct pt_error no_tree = {0};
    cJSON *tree = pt_is_run(selection->path) ? NULL : document_of_tree(selection->path, &no_tree);
    if (tree && selection->epoch >= 0) {
        cJSON_Delete(tree);
        pt_fail_code(err, 2, "%s is a directory of runs: name one of them, as %s/RUN@%ld", selection->path,
                     selection->path, selection->epoch);
        return NULL;
    }
    if (tree)
        return tree;
    if (no_tree.text[0]) { /* there are runs, and one cannot be read */
        *err = no_tree;
        return NULL;
    }
    PT_AUTO(pt_run_document_freep) cJSON *whole = pt_run_document(selection->path, err);
    if (!whole || selection->epoch >= 0)
        return whole ? pt_epoch_document(whole, selection, err) : NULL;
    cJSON *document = whole;
    whole = NULL;
    return document;
}

static int compare(const struct request *request, struct pt_selection of[2], char **names, struct pt_error *err)
{
    if ((of[0].epoch < 0) != (of[1].epoch < 0))
        return pt_fail_code(err, 2, "an epoch can be compared with an epoch only: %s",
                            of[0].epoch < 0 ? names[0] : names[1]);
    PT_AUTO(pt_run_document_freep) cJSON *a = document_of(&of[0], err);
    PT_AUTO(pt_run_document_freep) cJSON *b = a ? document_of(&of[1], err) : NULL;
    if (!b)
        return -1;
    const bool are_epochs = of[0].epoch >= 0; /* the one stage that each has */
    const struct pt_diff_run runs[2] = {{names[0], are_epochs ? NULL : of[0].stage, a},
                                        {names[1], are_epochs ? NULL : of[1].stage, b}};
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_diff_build(&runs[0], &runs[1], err);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (!doc)
        return -1;
    render(request, doc, &text);
    return pt_text_file_write(request->output, &text, err);
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
    struct pt_selection of[2] = {pt_selection_of(args.values[0]), pt_selection_of(args.values[1])};
    const int result = compare(&request, of, args.values, err);
    pt_selection_fini(&of[0]);
    pt_selection_fini(&of[1]);
    return result;
}
