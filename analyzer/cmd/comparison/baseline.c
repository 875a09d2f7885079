/* SPDX-License-Identifier: MIT
 *
 * baseline.c - Owns: `proftrace baseline`. Threads: main only. Never: changes the file when a run is not fit for it.
 */
#include "regression/baseline.h"

#include <stdio.h>
#include <string.h>

#include "regression/import.h"
#include "regression/kept_file.h"
#include "report/medium.h"
#include "report/run_document.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "cmd/arguments/options.h"
#include "cmd/cmd.h"

enum { KEPT = 20 };

/* How many stages it had to add; -1 = error. */
static int add_document(cJSON *baseline, const cJSON *document, pt_u64 keep, struct pt_error *err)
{
    int n = 0;
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(document, "stages"))
    {
        cJSON *entry;
        const char *name = pt_member_text(stage, "stage");
        if (!name || pt_stage_is_left_out(stage))
            continue;
        if (pt_baseline_entry(document, stage, &entry, err) < 0)
            return -1;
        pt_baseline_add(baseline, name, entry, (int)keep);
        n++;
    }
    return n;
}

/* A run, or the results of a benchmark, which are several. */
static int add_run(cJSON *baseline, const char *path, pt_u64 keep, struct pt_error *err)
{
    PT_AUTO(pt_documents_fini) struct pt_documents documents = {0};
    if (pt_documents_read(path, &documents, err) < 0)
        return -1;
    int n = 0;
    for (size_t i = 0; i < documents.n; i++) {
        const int added = add_document(baseline, documents.items[i], keep, err);
        if (added < 0)
            return pt_error_context(err, "%s", path ? path : "the latest run");
        n += added;
    }
    return n ? 0 : pt_fail_code(err, 4, "%s has no stage that was run", path ? path : "the latest run");
}

static int add(const struct pt_arguments *args, pt_u64 keep, struct pt_error *err)
{
    const char *file = args->values[1];
    PT_AUTO(pt_closep) int lock = pt_kept_file_lock(file);
    (void)lock; /* held until the end */
    PT_AUTO(pt_baseline_freep) cJSON *baseline = pt_baseline_read(file, true, err);
    if (!baseline)
        return -1;
    *err = (struct pt_error){0}; /* a file that is not there yet is none */
    for (int i = 2; i < args->n; i++)
        if (add_run(baseline, args->values[i], keep, err) < 0)
            return -1;
    if (args->n == 2 && add_run(baseline, NULL, keep, err) < 0)
        return -1;
    return pt_baseline_write(file, baseline, err);
}

struct run_row {
    const char *run, *at, *commit, *host;
    double wall_s, cpu_s;
};

static int show(const char *file, struct pt_error *err)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct run_row, run, TEXT, "Run"),        PT_COLUMN(struct run_row, at, TEXT, "At"),
        PT_COLUMN(struct run_row, wall_s, SECONDS, "Wall"), PT_COLUMN(struct run_row, cpu_s, SECONDS, "CPU"),
        PT_COLUMN(struct run_row, commit, TEXT, "Commit"),  PT_COLUMN(struct run_row, host, TEXT, "Machine"),
    };
    PT_AUTO(pt_baseline_freep) cJSON *baseline = pt_baseline_read(file, false, err);
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const struct pt_render_options how = pt_medium_of(NULL);
    const struct pt_text_out people = {&how, &text};
    const cJSON *stage, *run;
    if (!baseline)
        return -1;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(baseline, "stages"))
    {
        struct pt_table *table;
        struct pt_panel *panel = pt_doc_table(doc, "runs", "Runs", columns, sizeof columns / sizeof *columns, &table);
        cJSON_ArrayForEach(run, stage)
        {
            const cJSON *figures = cJSON_GetObjectItemCaseSensitive(run, "figures");
            pt_table_add(table,
                         &(struct run_row){pt_member_text(run, "run"), pt_member_text(run, "at_utc"),
                                           pt_member_text(run, "commit"), pt_member_text(run, "host"),
                                           pt_member_number(figures, "wall_s"), pt_member_number(figures, "cpu_s")});
        }
        panel->most = table->n_rows;
        pt_text_panel(&people, panel, stage->string);
    }
    return pt_text_file_write(NULL, &text, err);
}

static int prune(const char *file, pt_u64 keep, struct pt_error *err)
{
    PT_AUTO(pt_closep) int lock = pt_kept_file_lock(file);
    (void)lock; /* held until the end */
    PT_AUTO(pt_baseline_freep) cJSON *baseline = pt_baseline_read(file, false, err);
    cJSON *runs;
    if (!baseline)
        return -1;
    cJSON_ArrayForEach(runs, cJSON_GetObjectItemCaseSensitive(baseline, "stages"))
    {
        while (cJSON_GetArraySize(runs) > (int)keep)
            cJSON_DeleteItemFromArray(runs, cJSON_GetArraySize(runs) - 1);
    }
    return pt_baseline_write(file, baseline, err);
}

int pt_cmd_baseline(int argc, char **argv, struct pt_error *err)
{
    pt_u64 keep = KEPT;
    const struct pt_opt table[] = {
        PT_OPT_COUNT("keep", 'k', &keep, "N", "add, prune: runs of each stage that stay, the newest (default: 20)"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 2, .max = -1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (keep < 1 || keep > 1000)
        return pt_fail_code(err, 2, "--keep is from 1 to 1000");
    const char *what = args.values[0];
    if (!strcmp(what, "add"))
        return add(&args, keep, err);
    if (args.n > 2)
        return pt_fail_code(err, 2, "`proftrace baseline %s` takes one file", what);
    if (!strcmp(what, "show"))
        return show(args.values[1], err);
    if (!strcmp(what, "prune"))
        return prune(args.values[1], keep, err);
    return pt_fail_code(err, 2, "'%s' is none of add, show and prune", what);
}
