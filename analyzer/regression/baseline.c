/* SPDX-License-Identifier: MIT
 *
 * Owns: the baseline file. Threads: one. Never: leaves half a file, or believes one that is not as it should be.
 */
#include "baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_document.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "util/str.h"
#include "figures.h"
#include "json_file.h"

/* ---- reading ---- */

static bool is_entry(const cJSON *entry)
{
    const cJSON *figure;
    const cJSON *figures = cJSON_GetObjectItemCaseSensitive(entry, "figures");
    if (!pt_member_text(entry, "run") || !cJSON_IsObject(figures))
        return false;
    cJSON_ArrayForEach(figure, figures)
    {
        if (!cJSON_IsNumber(figure) || !isfinite(figure->valuedouble) || figure->valuedouble < 0)
            return false;
    }
    return true;
}

static int check_shape(const char *path, const cJSON *baseline, struct pt_error *err)
{
    const char *version = pt_member_text(baseline, "schema_version");
    const cJSON *stages = cJSON_GetObjectItemCaseSensitive(baseline, "stages"), *stage, *entry;
    if (!version || !cJSON_IsObject(stages))
        return pt_fail_code(err, 3, "%s is no baseline: it has no %s; `proftrace baseline add` writes such files", path,
                            version ? "stages" : "schema_version");
    if (strncmp(version, "1.", 2) != 0)
        return pt_fail_code(err, 3, "%s is of format %.20s, and this proftrace reads 1: a newer one is needed", path,
                            version);
    cJSON_ArrayForEach(stage, stages)
    {
        int line = 0;
        if (!cJSON_IsArray(stage))
            return pt_fail_code(err, 3, "%s: stage %.100s is no array of runs", path, stage->string);
        cJSON_ArrayForEach(entry, stage)
        {
            line++;
            if (!is_entry(entry))
                return pt_fail_code(err, 3,
                                    "%s: run %d of stage %.100s has no name, or no figures that are numbers: correct "
                                    "or remove that line",
                                    path, line, stage->string);
        }
    }
    return 0;
}

cJSON *pt_baseline_new(void)
{
    cJSON *baseline = cJSON_CreateObject();
    cJSON_AddStringToObject(baseline, "schema_version", "1.0");
    cJSON_AddObjectToObject(baseline, "stages");
    return baseline;
}

cJSON *pt_baseline_read(const char *path, bool or_new, struct pt_error *err)
{
    PT_AUTO(pt_baseline_freep) cJSON *baseline = pt_json_file_read(path, err);
    if (!baseline && or_new && err->exit_code == 2)
        return pt_baseline_new();
    if (!baseline) {
        if (err->exit_code == 2)
            pt_fail_code(err, 2, "%s cannot be read: there is no such file; `proftrace baseline add %s RUN` makes one",
                         path, path);
        return NULL;
    }
    if (check_shape(path, baseline, err) < 0)
        return NULL;
    cJSON *read = baseline;
    baseline = NULL;
    return read;
}

/* ---- writing ---- */

static void put(struct pt_str *out, const cJSON *value)
{
    PT_AUTO(pt_freep) char *text = cJSON_PrintUnformatted(value);
    pt_str_add(out, text ? text : "null");
}

static void put_key(struct pt_str *out, const char *key)
{
    cJSON *text = cJSON_CreateString(key);
    put(out, text);
    cJSON_Delete(text);
    pt_str_add(out, ": ");
}

static void put_runs(struct pt_str *out, const cJSON *runs)
{
    const cJSON *run;
    pt_str_add(out, "[");
    cJSON_ArrayForEach(run, runs)
    {
        pt_str_add(out, run == runs->child ? "\n    " : ",\n    ");
        put(out, run);
    }
    pt_str_add(out, "\n  ]");
}

int pt_baseline_write(const char *path, const cJSON *baseline, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    const cJSON *stages = cJSON_GetObjectItemCaseSensitive(baseline, "stages"), *member, *stage;
    pt_str_add(&out, "{\n");
    cJSON_ArrayForEach(member, baseline)
    {
        if (member == stages)
            continue;
        pt_str_add(&out, "  ");
        put_key(&out, member->string);
        put(&out, member);
        pt_str_add(&out, ",\n");
    }
    pt_str_add(&out, "  \"stages\": {\n");
    cJSON_ArrayForEach(stage, stages)
    {
        pt_str_add(&out, "  ");
        put_key(&out, stage->string);
        put_runs(&out, stage);
        pt_str_add(&out, stage->next ? ",\n" : "\n");
    }
    pt_str_add(&out, "  }\n}\n");
    return pt_text_file_write(path, &out, err);
}

/* ---- runs ---- */

static int check_whole(const cJSON *document, const cJSON *stage, struct pt_error *err)
{
    const char *status = pt_member_text(stage, "status"), *name = pt_member_text(stage, "stage");
    const cJSON *quality = cJSON_GetObjectItemCaseSensitive(document, "trace_quality");
    const double events = pt_member_number(quality, "events");
    const double lost = pt_member_number(quality, "overwritten") + pt_member_number(quality, "dropped");
    if (!status || strcmp(status, "ok") != 0)
        return pt_fail_code(err, 4, "stage %.100s is %.20s: only a whole run can be compared", name ? name : "?",
                            status ? status : "unknown");
    if (lost > 0.001 * events)
        return pt_fail_code(err, 4, "%.0f of %.0f events were lost: counts are too small. `proftrace info` says why",
                            lost, events + lost);
    return 0;
}

static void copy(cJSON *entry, const cJSON *document, const char *key, const char *as)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(document, key);
    cJSON_AddItemToObject(entry, as, value ? cJSON_Duplicate(value, true) : cJSON_CreateNull());
}

int pt_baseline_entry(const cJSON *document, const cJSON *stage, cJSON **ret_entry, struct pt_error *err)
{
    *ret_entry = NULL;
    if (check_whole(document, stage, err) < 0)
        return -1;
    cJSON *entry = cJSON_CreateObject();
    copy(entry, document, "run", "run");
    if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(entry, "run")))
        cJSON_ReplaceItemInObjectCaseSensitive(entry, "run", cJSON_CreateString("unnamed"));
    copy(entry, document, "timestamp_utc", "at_utc");
    copy(entry, document, "git_commit", "commit");
    copy(entry, document, "host", "host");
    copy(entry, cJSON_GetObjectItemCaseSensitive(document, "machine"), "cpus", "cpus");
    copy(entry, document, "tool", "tool");
    copy(entry, document, "dataset", "dataset");
    cJSON_AddItemToObject(entry, "figures", pt_figures_of(document, stage));
    *ret_entry = entry;
    return 0;
}

static bool is_same_run(const cJSON *a, const cJSON *b)
{
    const char *run_a = pt_member_text(a, "run"), *run_b = pt_member_text(b, "run");
    const char *at_a = pt_member_text(a, "at_utc"), *at_b = pt_member_text(b, "at_utc");
    return run_a && run_b && !strcmp(run_a, run_b) && at_a && at_b && !strcmp(at_a, at_b);
}

void pt_baseline_add(cJSON *baseline, const char *stage, cJSON *entry, int most)
{
    cJSON *stages = cJSON_GetObjectItemCaseSensitive(baseline, "stages");
    cJSON *runs = cJSON_GetObjectItemCaseSensitive(stages, stage);
    if (!runs)
        runs = cJSON_AddArrayToObject(stages, stage);
    for (int i = cJSON_GetArraySize(runs) - 1; i >= 0; i--)
        if (is_same_run(cJSON_GetArrayItem(runs, i), entry))
            cJSON_DeleteItemFromArray(runs, i);
    cJSON_InsertItemInArray(runs, 0, entry);
    while (most > 0 && cJSON_GetArraySize(runs) > most)
        cJSON_DeleteItemFromArray(runs, cJSON_GetArraySize(runs) - 1);
}

const cJSON *pt_baseline_runs(const cJSON *baseline, const char *stage)
{
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(baseline, "stages"), stage);
    return runs && runs->child ? runs : NULL;
}
