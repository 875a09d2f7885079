/* SPDX-License-Identifier: MIT
 *
 * Owns: parts of a run, and several runs, as documents that can be compared like a run. Threads: any. Never: takes for
 * known of an epoch what is known of its stage only.
 */
#include "selection.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/run_document.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- names ---- */

static char *cut_epoch(char *text, long *ret_epoch)
{
    char *at = strrchr(text, '@'), *end = NULL;
    const long number = at && at[1] >= '0' && at[1] <= '9' ? strtol(at + 1, &end, 10) : -1;
    *ret_epoch = -1;
    if (end && !*end) {
        *ret_epoch = number;
        *at = '\0';
    }
    return text;
}

struct pt_selection pt_selection_of(const char *argument)
{
    struct pt_selection selection = {.path = pt_strdup(argument), .epoch = -1};
    if (access(argument, F_OK) == 0)
        return selection;
    cut_epoch(selection.path, &selection.epoch);
    char *colon = strrchr(selection.path, ':');
    if (access(selection.path, F_OK) != 0 && colon && colon[1]) {
        *colon = '\0';
        selection.stage = pt_strdup(colon + 1);
    }
    return selection;
}

void pt_selection_fini(struct pt_selection *selection)
{
    free(selection->path);
    free(selection->stage);
}

/* ---- an epoch ---- */

static const cJSON *epochs_of(const cJSON *stage)
{
    const cJSON *training = cJSON_GetObjectItemCaseSensitive(stage, "training");
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(training, "per_epoch");
    return cJSON_IsArray(table) ? table : cJSON_GetObjectItemCaseSensitive(table, "rows");
}

static const cJSON *training_stage(const cJSON *document, const struct pt_selection *selection, struct pt_error *err)
{
    const cJSON *stage, *found = NULL;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(document, "stages"))
    {
        const char *name = pt_member_text(stage, "stage");
        if (!cJSON_GetArraySize(epochs_of(stage)) || !name || (selection->stage && strcmp(name, selection->stage) != 0))
            continue;
        if (found) {
            pt_fail_code(err, 2, "several stages of %s have epochs: say which, as %s:%s@%ld", selection->path,
                         selection->path, name, selection->epoch);
            return NULL;
        }
        found = stage;
    }
    if (!found)
        pt_fail_code(err, 2,
                     "%s%s%s has no epochs: a training has them when it goes through a DataLoader more than once",
                     selection->path, selection->stage ? ":" : "", selection->stage ? selection->stage : "");
    return found;
}

static const cJSON *longest(const cJSON *epochs, long number)
{
    const cJSON *row, *found = NULL;
    cJSON_ArrayForEach(row, epochs)
    {
        if (pt_member_number(row, "number") == (double)number &&
            !(found && pt_member_number(row, "duration_s") <= pt_member_number(found, "duration_s")))
            found = row;
    }
    return found;
}

static void add_parts(cJSON *stage, const cJSON *row)
{
    static const char *const parts[][2] = {{"data_s", "Data wait"},
                                           {"forward_s", "Forward"},
                                           {"backward_s", "Backward"},
                                           {"optimizer_s", "Optimizer"},
                                           {"other_s", "Other"}};
    cJSON *list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(stage, "epoch"), "parts");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        cJSON *part = cJSON_CreateObject();
        cJSON_AddStringToObject(part, "part", parts[i][1]);
        cJSON_AddNumberToObject(part, "seconds", pt_member_number(row, parts[i][0]));
        cJSON_AddItemToArray(list, part);
    }
}

static void copy(cJSON *to, const cJSON *from, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(from, key);
    if (member)
        cJSON_AddItemToObject(to, key, cJSON_Duplicate(member, true));
}

static cJSON *stage_of_epoch(const cJSON *stage, const cJSON *row, long number)
{
    struct pt_str name = {0};
    cJSON *made = cJSON_CreateObject();
    pt_str_printf(&name, "%s, epoch %ld", pt_member_text(stage, "stage"), number);
    cJSON_AddStringToObject(made, "stage", pt_str_text(&name));
    pt_str_fini(&name);
    copy(made, row, "duration_s");
    cJSON *training = cJSON_AddObjectToObject(made, "training");
    copy(training, row, "steps");
    copy(training, row, "samples_per_s");
    copy(training, row, "dataloader_time_pct");
    copy(training, row, "is_complete"); /* one that was cut short was not faster */
    add_parts(made, row);
    return made;
}

/* Of a long training the report has room for some epochs only. */
static void fail_without_epoch(const cJSON *stage, long number, struct pt_error *err)
{
    const cJSON *epochs = epochs_of(stage);
    const int kept = cJSON_GetArraySize(epochs);
    const char *name = pt_member_text(stage, "stage");
    const double left_out = pt_member_number(cJSON_GetObjectItemCaseSensitive(stage, "training"), "per_epoch_left_out");
    const double first = pt_member_number(cJSON_GetArrayItem(epochs, 0), "number");
    if (left_out > 0)
        pt_fail_code(err, 2, "%s: the report does not have epoch %ld: it keeps %d of %.0f, from %.0f to %.0f", name,
                     number, kept, kept + left_out, first,
                     pt_member_number(cJSON_GetArrayItem(epochs, kept - 1), "number"));
    else
        pt_fail_code(err, 2, "%s has no epoch %ld: it has %d, and the first is %.0f", name, number, kept, first);
}

cJSON *pt_epoch_document(const cJSON *document, const struct pt_selection *selection, struct pt_error *err)
{
    static const char *const same[] = {"host", "tool", "dataset", "git_commit", "trace_quality"};
    const cJSON *stage = training_stage(document, selection, err);
    const cJSON *row = stage ? longest(epochs_of(stage), selection->epoch) : NULL;
    if (!stage)
        return NULL;
    if (!row) {
        fail_without_epoch(stage, selection->epoch, err);
        return NULL;
    }
    cJSON *made = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        copy(made, document, same[i]);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(made, "stages"), stage_of_epoch(stage, row, selection->epoch));
    return made;
}

/* ---- several runs ---- */

static void take_all(cJSON *tree, const char *run, cJSON *document, const char *key)
{
    cJSON *to = cJSON_GetObjectItemCaseSensitive(tree, key), *from = cJSON_GetObjectItemCaseSensitive(document, key),
          *item;
    if (!to)
        to = cJSON_AddArrayToObject(tree, key);
    while (from && (item = cJSON_DetachItemFromArray(from, 0))) {
        const char *stage = pt_member_text(item, "stage");
        struct pt_str name = {0};
        pt_str_printf(&name, "%s/%s", run, stage ? stage : "");
        cJSON_DeleteItemFromObjectCaseSensitive(item, "stage");
        cJSON_AddStringToObject(item, "stage", pt_str_text(&name));
        pt_str_fini(&name);
        cJSON_AddItemToArray(to, item);
    }
}

/* Of all of them: how much was lost, and of which files a part is missing. */
static void add_quality(cJSON *tree, const cJSON *document)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(document, "trace_quality"), *number;
    cJSON *to = cJSON_GetObjectItemCaseSensitive(tree, "trace_quality");
    if (!to)
        to = cJSON_AddObjectToObject(tree, "trace_quality");
    cJSON_ArrayForEach(number, from)
    {
        cJSON *sum = cJSON_GetObjectItemCaseSensitive(to, number->string);
        if (cJSON_IsNumber(number) && !sum)
            cJSON_AddNumberToObject(to, number->string, number->valuedouble);
        else if (cJSON_IsNumber(number) && cJSON_IsNumber(sum))
            cJSON_SetNumberValue(sum, sum->valuedouble + number->valuedouble);
    }
}

void pt_tree_add(cJSON *tree, const char *run, cJSON *document)
{
    static const char *const same[] = {"host", "tool", "dataset", "git_commit"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!cJSON_HasObjectItem(tree, same[i]))
            copy(tree, document, same[i]);
    take_all(tree, run, document, "stages");
    take_all(tree, run, document, "findings");
    add_quality(tree, document);
}
