/* SPDX-License-Identifier: MIT
 *
 * Owns: the baseline file. Threads: one. Never: leaves half a file, or believes one that is not as it should be.
 */
#include "baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_document.h"
#include "util/auto.h"
#include "util/str.h"
#include "util/vec.h"
#include "entry.h"
#include "figures.h"
#include "json_file.h"
#include "kept_file.h"

#define FORMAT "2.0"
enum { N_SLOTS = 256 };

/* ---- reading ---- */

static double wall_of(const cJSON *run)
{
    const double wall_s = pt_member_number(cJSON_GetObjectItemCaseSensitive(run, "figures"), "wall_s");
    return isfinite(wall_s) ? wall_s : 0;
}

/* How two runs of a stage follow one another: the newest first. Of one second the name decides. 0 = it is the same run:
 * a CI system gives all of them one name, and a second may see several. */
static int by_age(const cJSON *a, const cJSON *b)
{
    const char *at_a = pt_member_text(a, "at_utc"), *at_b = pt_member_text(b, "at_utc");
    int order = strcmp(at_b ? at_b : "", at_a ? at_a : "");
    order = order ? order : strverscmp(pt_member_text(b, "run"), pt_member_text(a, "run"));
    return order ? order : (wall_of(a) < wall_of(b)) - (wall_of(a) > wall_of(b));
}

static cJSON *runs_of(cJSON *stages, const char *stage)
{
    cJSON *runs = cJSON_GetObjectItemCaseSensitive(stages, stage);
    return runs ? runs : cJSON_AddArrayToObject(stages, stage);
}

/* In the place of the same run, if it is there. */
static void put_in_order(cJSON *runs, cJSON *entry)
{
    for (int i = cJSON_GetArraySize(runs) - 1; i >= 0; i--)
        if (by_age(cJSON_GetArrayItem(runs, i), entry) == 0)
            cJSON_DeleteItemFromArray(runs, i);
    int at = 0;
    for (const cJSON *run = runs->child; run && by_age(run, entry) < 0; run = run->next)
        at++;
    /* cJSON_InsertItemInArray of some 1.7.15 refuses any place but the first: those behind it go behind it one by one.
     */
    const int behind = cJSON_GetArraySize(runs) - at;
    cJSON_AddItemToArray(runs, entry);
    for (int i = 0; i < behind; i++)
        cJSON_AddItemToArray(runs, cJSON_DetachItemFromArray(runs, at));
}

static int bad_entry(const char *path, int number, const char *stage, const char *fault, struct pt_error *err)
{
    return pt_fail_code(err, 3, "%s: run %d%s%.100s %s: correct or remove that line", path, number,
                        stage ? " of stage " : "", stage ? stage : "", fault);
}

/* Format 1: an array for each stage. */
static int take_stages(const char *path, cJSON *baseline, cJSON *to, struct pt_error *err)
{
    cJSON *stages = cJSON_GetObjectItemCaseSensitive(baseline, "stages"), *stage;
    if (!cJSON_IsObject(stages))
        return pt_fail_code(err, 3, "%s is no baseline: it has no stages; `proftrace baseline add` writes such files",
                            path);
    cJSON_ArrayForEach(stage, stages)
    {
        cJSON *entry;
        if (!cJSON_IsArray(stage))
            return pt_fail_code(err, 3, "%s: stage %.100s is no array of runs", path, stage->string);
        for (int number = 1; (entry = cJSON_DetachItemFromArray(stage, 0)); number++) {
            const char *fault = pt_entry_fault(entry);
            if (fault) {
                bad_entry(path, number, stage->string, fault, err);
                cJSON_Delete(entry);
                return -1;
            }
            put_in_order(runs_of(to, stage->string), entry);
        }
    }
    cJSON_DeleteItemFromObjectCaseSensitive(baseline, "stages");
    return 0;
}

/* Format 2: one array of runs, each with its stage, and the lines between them. */
static int take_runs(const char *path, cJSON *baseline, cJSON *to, struct pt_error *err)
{
    cJSON *runs = cJSON_GetObjectItemCaseSensitive(baseline, "runs"), *entry;
    if (!cJSON_IsArray(runs))
        return pt_fail_code(err, 3, "%s is no baseline: it has no runs; `proftrace baseline add` writes such files",
                            path);
    for (int number = 1; (entry = cJSON_DetachItemFromArray(runs, 0));) {
        if (cJSON_IsString(entry)) {
            cJSON_Delete(entry);
            continue;
        }
        cJSON *stage = cJSON_DetachItemFromObjectCaseSensitive(entry, "stage");
        const char *name = cJSON_GetStringValue(stage);
        const char *fault = name ? pt_entry_fault(entry) : "has no name of a stage";
        if (!fault)
            put_in_order(runs_of(to, name), entry);
        else
            bad_entry(path, number, name, fault, err);
        cJSON_Delete(stage);
        if (fault) {
            cJSON_Delete(entry);
            return -1;
        }
        number++;
    }
    cJSON_DeleteItemFromObjectCaseSensitive(baseline, "runs");
    return 0;
}

/* 1 or 2; -1 = it cannot be read. */
static int format_of(const char *path, const cJSON *baseline, struct pt_error *err)
{
    const char *version = pt_member_text(baseline, "schema_version");
    char *end = NULL;
    const long major = version ? strtol(version, &end, 10) : 0;
    if (!version || end == version || (*end && *end != '.'))
        return pt_fail_code(
            err, 3, "%s is no baseline: it has no schema_version; `proftrace baseline add` writes such files", path);
    if (major > 2)
        return pt_fail_code(err, 3, "%s is of format %.20s, and this proftrace reads 1 and 2: a newer one is needed",
                            path, version);
    if (major < 1)
        return pt_fail_code(err, 3,
                            "%s is of format %.20s, which is too old: this proftrace reads 1 and 2. Remove it, and "
                            "`proftrace baseline add` makes a new one",
                            path, version);
    return (int)major;
}

/* From what is in a file to what is in memory. */
static int take_file(const char *path, cJSON *baseline, struct pt_error *err)
{
    const int format = format_of(path, baseline, err);
    if (format < 0)
        return -1;
    const char *repeated = pt_json_repeated_key(baseline);
    if (repeated)
        return pt_fail_code(err, 3, "%s has \"%.50s\" twice: remove one of them", path, repeated);
    cJSON *stages = cJSON_CreateObject();
    const int result = (format == 1 ? take_stages : take_runs)(path, baseline, stages, err);
    cJSON_AddItemToObject(baseline, "stages", stages);
    return result;
}

cJSON *pt_baseline_new(void)
{
    cJSON *baseline = cJSON_CreateObject();
    cJSON_AddStringToObject(baseline, "schema_version", FORMAT);
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
    if (take_file(path, baseline, err) < 0)
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

static void put_text(struct pt_str *out, const char *text)
{
    cJSON *value = cJSON_CreateString(text);
    put(out, value);
    cJSON_Delete(value);
}

static void put_key(struct pt_str *out, const char *key)
{
    put_text(out, key);
    pt_str_add(out, ": ");
}

/* A run and where it stands in the file. */
struct place {
    unsigned slot;
    const char *stage;
    const cJSON *run;
};

struct places {
    PT_VEC(struct place);
};

/* FNV-1a, which will be the same tomorrow: of one run, all stages stand together. */
static unsigned slot_of(const cJSON *run)
{
    const char *const texts[] = {pt_member_text(run, "run"), pt_member_text(run, "at_utc")};
    uint32_t hash = 2166136261u;
    for (int i = 0; i < 2; i++)
        for (const char *at = texts[i] ? texts[i] : ""; *at; at++)
            hash = (hash ^ (unsigned char)*at) * 16777619u;
    return (hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24) % N_SLOTS;
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    const int order = by_age(x->run, y->run);
    return order ? order : strcmp(x->stage, y->stage);
}

static struct places places_of(const cJSON *baseline)
{
    struct places places = {0};
    const cJSON *stage, *run;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(baseline, "stages"))
    {
        cJSON_ArrayForEach(run, stage)
        {
            pt_vec_push(&places, ((struct place){slot_of(run), stage->string, run}));
        }
    }
    if (places.n)
        qsort(places.items, places.n, sizeof *places.items, by_place);
    return places;
}

/* The stage first, then what a run always has. */
static void put_run(struct pt_str *out, const struct place *place)
{
    const cJSON *member;
    pt_str_add(out, "{\"stage\": ");
    put_text(out, place->stage);
    cJSON_ArrayForEach(member, place->run)
    {
        pt_str_add(out, ", ");
        put_key(out, member->string);
        put(out, member);
    }
    pt_str_add(out, "},\n");
}

static void put_runs(struct pt_str *out, const cJSON *baseline)
{
    struct places places = places_of(baseline);
    size_t next = 0;
    for (unsigned slot = 0; slot < N_SLOTS; slot++) {
        for (; next < places.n && places.items[next].slot == slot; next++)
            put_run(out, &places.items[next]);
        pt_str_printf(out, "\"%02x\"%s\n", slot, slot + 1 < N_SLOTS ? "," : "");
    }
    free(places.items);
}

int pt_baseline_write(const char *path, const cJSON *baseline, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    const cJSON *member;
    pt_str_add(&out, "{\n\"schema_version\": \"" FORMAT "\",\n");
    cJSON_ArrayForEach(member, baseline)
    {
        if (!strcmp(member->string, "stages") || !strcmp(member->string, "schema_version"))
            continue;
        put_key(&out, member->string);
        put(&out, member);
        pt_str_add(&out, ",\n");
    }
    pt_str_add(&out, "\"runs\": [\n");
    put_runs(&out, baseline);
    pt_str_add(&out, "]\n}\n");
    return pt_kept_file_write(path, &out, err);
}

/* ---- runs ---- */

static double count_untraced(const cJSON *document, const char *stage)
{
    double n = 0;
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(document, "processes"))
    {
        const char *of = pt_member_text(process, "stage");
        const double times = pt_member_number(process, "times");
        if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(process, "traced")) && (!of || !stage || !strcmp(of, stage)))
            n += isfinite(times) ? times : 1;
    }
    return n;
}

static int check_whole(const cJSON *document, const cJSON *stage, struct pt_error *err)
{
    const char *status = pt_member_text(stage, "status"), *name = pt_member_text(stage, "stage");
    const double lost = pt_document_lost(document).in_no_total;
    if (!status || strcmp(status, "ok") != 0)
        return pt_fail_code(err, 4, "stage %.100s is %.20s: only a whole run can be compared", name ? name : "?",
                            status ? status : "unknown");
    if (!pt_stage_is_whole(stage))
        return pt_fail_code(err, 4, "how stage %.100s ended is not known, and only a whole run can be compared: %.200s",
                            name ? name : "?", pt_member_text(stage, "reason"));
    PT_AUTO(pt_str_fini) struct pt_str lacks = {0};
    pt_document_lacks(document, &lacks);
    if (lacks.n)
        return pt_fail_code(err, 4, "%s: counts may be too small. `proftrace info` says which", pt_str_text(&lacks));
    if (pt_document_is_much(document, lost))
        return pt_fail_code(err, 4, "%.0f events were lost: counts are too small. `proftrace info` says why", lost);
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
    cJSON_AddNumberToObject(entry, "untraced", count_untraced(document, pt_member_text(stage, "stage")));
    cJSON *unknown;
    cJSON_AddItemToObject(entry, "figures", pt_figures_of(document, stage, &unknown));
    cJSON_AddItemToObject(entry, "unknown", unknown);
    *ret_entry = entry;
    return 0;
}

void pt_baseline_add(cJSON *baseline, const char *stage, cJSON *entry, int most)
{
    cJSON *runs = runs_of(cJSON_GetObjectItemCaseSensitive(baseline, "stages"), stage);
    put_in_order(runs, entry);
    while (most > 0 && cJSON_GetArraySize(runs) > most)
        cJSON_DeleteItemFromArray(runs, cJSON_GetArraySize(runs) - 1);
}

const cJSON *pt_baseline_runs(const cJSON *baseline, const char *stage)
{
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(baseline, "stages"), stage);
    return runs && runs->child ? runs : NULL;
}
