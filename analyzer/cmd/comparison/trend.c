/* SPDX-License-Identifier: MIT
 *
 * trend.c - Owns: `proftrace trend`. Threads: main only. Never: fails on a change: it tells, `check` is the gate.
 */
#include "regression/trend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regression/baseline.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "util/nearest.h"
#include "util/vec.h"
#include "cmd/arguments/options.h"
#include "cmd/cmd.h"
#include "forms.h"

/* A figure that no run has has not changed either: a typing mistake must not look like that. */
static int check_figure(const struct pt_trend *trend, const char *file, struct pt_error *err)
{
    const cJSON *runs, *run, *figure;
    struct {
        PT_VEC(const char *);
    } names = {0};
    bool is_known = !trend->figure;
    cJSON_ArrayForEach(runs, cJSON_GetObjectItemCaseSensitive(trend->baseline, "stages")) cJSON_ArrayForEach(run, runs)
        cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(run, "figures"))
    {
        is_known = is_known || !strcmp(figure->string, trend->figure);
        pt_vec_push(&names, figure->string);
    }
    pt_vec_push(&names, NULL);
    const char *nearest = is_known ? NULL : pt_nearest_name(trend->figure, names.items);
    if (!is_known)
        pt_fail_code(err, 2, "no run of %s has a figure '%s'%s%s%s", file, trend->figure,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(names.items);
    return is_known ? 0 : -1;
}

int pt_cmd_trend(int argc, char **argv, struct pt_error *err)
{
    struct pt_trend trend = {0};
    const char *output = NULL;
    int format = PT_FORM_TEXT;
    const struct pt_opt table[] = {
        PT_OPT_TEXT("stage", 's', &trend.stage, "NAME", "only this stage"),
        PT_OPT_TEXT("figure", 0, &trend.figure, "NAME", "only this figure: wall_s, cpu_s, read.calls, heap.bytes, ..."),
        PT_OPT_CHOICE("format", 'f', &format, "text|json|md|html", "form of the result (default: text)"),
        PT_OPT_TEXT("output", 'o', &output, "FILE", "write here instead of stdout"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 1, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    PT_AUTO(pt_baseline_freep) cJSON *baseline = pt_baseline_read(args.values[0], false, err);
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (!baseline)
        return -1;
    if (trend.stage && !pt_baseline_runs(baseline, trend.stage))
        return pt_fail_code(err, 2, "%s has no run of stage %s", args.values[0], trend.stage);
    trend.baseline = baseline;
    if (check_figure(&trend, args.values[0], err) < 0)
        return -1;
    pt_trend(&trend, doc);
    if (format == PT_FORM_TEXT)
        pt_form_text(doc, output, &text);
    else
        pt_form_panels((enum pt_form)format, doc, &text);
    return pt_text_file_write(output, &text, err);
}
