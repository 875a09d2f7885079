/* SPDX-License-Identifier: MIT
 *
 * Owns: the forms of other tools' results. Threads: any. Never: takes a benchmark that failed.
 *
 * hyperfine 1.15: {"results": [{"command", "times": [s, ...], "exit_codes": [...]}]}. pytest-benchmark 5:
 * {"datetime", "machine_info": {"node"}, "commit_info": {"id"}, "benchmarks": [{"fullname", "stats": {"median", "data":
 * [s, ...]}}]}; "data" is there with --benchmark-save-data.
 */
#include "import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "report/run_document.h"
#include "util/auto.h"
#include "json_file.h"

enum { MOST_RUNS = 60 };

struct import {
    struct pt_documents *documents;
    size_t first; /* of ours among the documents */
    const char *path, *tool, *host, *commit, *at;
};

static void add_text(cJSON *object, const char *key, const char *text)
{
    cJSON_AddItemToObject(object, key, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

/* The document of the n-th time that was measured. */
static cJSON *document(struct import *import, size_t n)
{
    while (import->documents->n <= import->first + n) {
        char name[300];
        cJSON *made = cJSON_CreateObject();
        snprintf(name, sizeof name, "%.250s #%zu", import->path, import->documents->n - import->first + 1);
        add_text(made, "run", name);
        add_text(made, "timestamp_utc", import->at);
        add_text(made, "git_commit", import->commit);
        add_text(made, "host", import->host);
        add_text(made, "tool", import->tool);
        add_text(made, "dataset", NULL);
        cJSON_AddTrueToObject(made, "is_benchmark");
        cJSON_AddArrayToObject(made, "stages");
        pt_vec_push(import->documents, made);
    }
    return import->documents->items[import->first + n];
}

static void add_time(struct import *import, const char *name, size_t n, double seconds)
{
    cJSON *stage = cJSON_CreateObject();
    add_text(stage, "stage", name);
    add_text(stage, "status", "ok");
    cJSON_AddNumberToObject(stage, "benchmark_s", seconds);
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(document(import, n), "stages"), stage);
}

/* At most MOST_RUNS of them; otherwise `one`. */
static int add_times(struct import *import, const char *name, const cJSON *times, double one, struct pt_error *err)
{
    const cJSON *time;
    size_t n = 0;
    cJSON_ArrayForEach(time, times)
    {
        if (n == MOST_RUNS)
            break;
        if (!cJSON_IsNumber(time) || !(time->valuedouble >= 0))
            return pt_fail_code(err, 3, "%s: a time of %.100s is no number", import->path, name);
        add_time(import, name, n++, time->valuedouble);
    }
    if (!n && isfinite(one))
        add_time(import, name, n++, one);
    return n ? 0 : pt_fail_code(err, 3, "%s: %.100s has no times", import->path, name);
}

static int add_hyperfine(struct import *import, const cJSON *results, struct pt_error *err)
{
    const cJSON *result, *code;
    import->tool = "hyperfine";
    cJSON_ArrayForEach(result, results)
    {
        const char *name = pt_member_text(result, "command");
        cJSON_ArrayForEach(code, cJSON_GetObjectItemCaseSensitive(result, "exit_codes"))
        {
            if (!cJSON_IsNumber(code) || code->valuedouble != 0)
                return pt_fail_code(err, 4, "%s: %.100s failed: only what ended well can be compared", import->path,
                                    name ? name : "a command");
        }
        if (!name || add_times(import, name, cJSON_GetObjectItemCaseSensitive(result, "times"),
                               pt_member_number(result, "mean"), err) < 0)
            return name ? -1 : pt_fail_code(err, 3, "%s: a result has no command", import->path);
    }
    return 0;
}

static int add_pytest(struct import *import, const cJSON *all, const cJSON *benchmarks, struct pt_error *err)
{
    const cJSON *benchmark;
    import->tool = "pytest-benchmark";
    import->at = pt_member_text(all, "datetime");
    import->host = pt_member_text(cJSON_GetObjectItemCaseSensitive(all, "machine_info"), "node");
    import->commit = pt_member_text(cJSON_GetObjectItemCaseSensitive(all, "commit_info"), "id");
    cJSON_ArrayForEach(benchmark, benchmarks)
    {
        const char *name = pt_member_text(benchmark, "fullname");
        const cJSON *stats = cJSON_GetObjectItemCaseSensitive(benchmark, "stats");
        if (!name || add_times(import, name, cJSON_GetObjectItemCaseSensitive(stats, "data"),
                               pt_member_number(stats, "median"), err) < 0)
            return name ? -1 : pt_fail_code(err, 3, "%s: a benchmark has no fullname", import->path);
    }
    return 0;
}

/* hyperfine does not say when it measured. */
static void time_of_file(const char *path, char text[sizeof "2026-01-02T03:04:05Z"])
{
    struct stat stat_of;
    struct tm parts;
    *text = '\0';
    if (stat(path, &stat_of) == 0 && gmtime_r(&stat_of.st_mtime, &parts))
        strftime(text, sizeof "2026-01-02T03:04:05Z", "%Y-%m-%dT%H:%M:%SZ", &parts);
}

bool pt_import_is_file(const char *path)
{
    struct stat stat_of;
    return path && stat(path, &stat_of) == 0 && S_ISREG(stat_of.st_mode);
}

static void free_json(cJSON **json)
{
    cJSON_Delete(*json);
}

int pt_import(const char *path, struct pt_documents *documents, struct pt_error *err)
{
    PT_AUTO(free_json) cJSON *all = pt_json_file_read(path, err);
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(all, "results");
    const cJSON *benchmarks = cJSON_GetObjectItemCaseSensitive(all, "benchmarks");
    char at[sizeof "2026-01-02T03:04:05Z"];
    time_of_file(path, at);
    struct import import = {.documents = documents, .first = documents->n, .path = path, .at = *at ? at : NULL};
    if (!all)
        return -1;
    const cJSON *list = cJSON_IsArray(results) ? results : benchmarks;
    if (cJSON_IsArray(list) && !list->child)
        return pt_fail_code(err, 4, "%s has no benchmark", path);
    if (cJSON_IsArray(results))
        return add_hyperfine(&import, results, err);
    if (cJSON_IsArray(benchmarks))
        return add_pytest(&import, all, benchmarks, err);
    return pt_fail_code(err, 3,
                        "%s is neither a run directory nor a result of hyperfine (--export-json) or "
                        "pytest-benchmark (--benchmark-json)",
                        path);
}

bool pt_import_is_benchmark(const cJSON *document)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(document, "is_benchmark"));
}

static bool was_read(struct pt_documents *documents, const char *path)
{
    struct stat status;
    if (!path || stat(path, &status) < 0)
        return false;
    for (size_t i = 0; i < documents->files.n; i++)
        if (documents->files.items[i].device == status.st_dev && documents->files.items[i].inode == status.st_ino)
            return true;
    pt_vec_push(&documents->files, ((struct pt_read_file){status.st_dev, status.st_ino}));
    return false;
}

static bool is_same_text(const cJSON *a, const cJSON *b, const char *key)
{
    const char *of_a = pt_member_text(a, key), *of_b = pt_member_text(b, key);
    return of_a && of_b && !strcmp(of_a, of_b);
}

/* A copy of a run keeps its name where its report came along. */
static bool is_same_run(const cJSON *a, const cJSON *b)
{
    return is_same_text(a, b, "run") && is_same_text(a, b, "timestamp_utc") &&
           pt_member_number(a, "total_duration_s") == pt_member_number(b, "total_duration_s");
}

static int add_run(const char *path, struct pt_documents *documents, struct pt_error *err)
{
    cJSON *run = pt_run_document(path, err);
    if (!run)
        return -1;
    for (size_t i = 0; i < documents->n; i++) {
        if (!is_same_run(documents->items[i], run))
            continue;
        documents->n_repeated++;
        cJSON_Delete(run);
        return 0;
    }
    pt_vec_push(documents, run);
    return 0;
}

int pt_documents_read(const char *path, struct pt_documents *documents, struct pt_error *err)
{
    if (was_read(documents, path)) {
        documents->n_repeated++;
        return 0;
    }
    return pt_import_is_file(path) ? pt_import(path, documents, err) : add_run(path, documents, err);
}

void pt_documents_fini(struct pt_documents *documents)
{
    for (size_t i = 0; i < documents->n; i++)
        cJSON_Delete(documents->items[i]);
    free(documents->items);
    free(documents->files.items);
}
