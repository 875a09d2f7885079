/* SPDX-License-Identifier: MIT
 *
 * check.c - Owns: `proftrace check`. Threads: main only. Never: guesses: what cannot be compared is said, with exit
 * code 4.
 */
#include "regression/check.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/session_dir.h"
#include "regression/ab.h"
#include "regression/baseline.h"
#include "regression/check_doc.h"
#include "regression/import.h"
#include "report/run_document.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/runs_root.h"
#include "cmd/arguments/options.h"
#include "cmd/cmd.h"
#include "show_check.h"

struct request {
    const char *baseline, *stage, *output;
    int format;
    bool with_times, is_ab, confirms;
    pt_u64 rounds;
    double threshold_percent;
};

static int tell(const struct request *request, const struct pt_check *check, struct pt_error *err)
{
    PT_AUTO(pt_checked_fini) struct pt_checked checked;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_check(check, &checked);
    pt_check_doc(&checked);
    pt_show_check(&checked, (enum pt_check_form)request->format, request->output, &text);
    return pt_text_file_write(request->output, &text, err) < 0 ? -1 : (int)checked.result;
}

/* ---- runs against a file ---- */

static int check_runs(const struct request *request, const struct pt_arguments *args, struct pt_error *err)
{
    if (!request->baseline)
        return pt_fail_code(err, 2, "--baseline FILE is missing; `proftrace baseline add FILE RUN` makes one");
    PT_AUTO(pt_baseline_freep) cJSON *baseline = pt_baseline_read(request->baseline, false, err);
    PT_AUTO(pt_documents_fini) struct pt_documents documents = {0};
    bool has_benchmarks = false;
    if (!baseline)
        return -1;
    for (int i = 0; i < args->n || i == 0; i++) {
        if (pt_documents_read(args->n ? args->values[i] : NULL, &documents, err) < 0)
            return -1;
        has_benchmarks |= args->n && pt_import_is_file(args->values[i]);
    }
    const struct pt_check check = {.baseline = baseline,
                                   .documents = documents.items,
                                   .n_documents = documents.n,
                                   .n_repeated = documents.n_repeated,
                                   .stage = request->stage,
                                   .with_times = request->with_times || has_benchmarks,
                                   .threshold_percent = request->threshold_percent};
    return tell(request, &check, err);
}

/* ---- two commands in turn ---- */

/* The runs so far: those of A as a baseline, those of B to be checked. */
struct turns {
    const char *commands[2];
    char folder[PATH_MAX];
    pt_u64 n; /* runs, of both */
    cJSON *baseline;
    struct pt_check check;
};

static int play_turn(struct turns *turns, int which, struct pt_error *err)
{
    PT_AUTO(pt_freep)
    char *directory = pt_asprintf("%s/%llu%c", turns->folder, (unsigned long long)turns->n++, which ? 'b' : 'a');
    if (pt_ab_play(turns->commands[which], directory, err) < 0)
        return -1;
    cJSON *document = pt_run_document(directory, err), *entry;
    if (!document)
        return -1;
    if (which) {
        turns->check.documents[turns->check.n_documents++] = document;
        return 0;
    }
    const cJSON *stage = pt_stage_named(document, PT_AB_STAGE);
    const int result =
        stage ? pt_baseline_entry(document, stage, &entry, err) : pt_fail(err, "%s has no stage", directory);
    if (!result)
        pt_baseline_add(turns->baseline, PT_AB_STAGE, entry, 0);
    cJSON_Delete(document);
    return result;
}

/* A B B A, and so on: a machine that gets slower hurts both alike. */
static int play_rounds(struct turns *turns, pt_u64 rounds, struct pt_error *err)
{
    for (pt_u64 i = 0; i < rounds; i++)
        for (int j = 0; j < 2; j++)
            if (play_turn(turns, (int)((i + (pt_u64)j) % 2), err) < 0)
                return -1;
    return 0;
}

/* What looks worse, or nearly so, is played as often again before anybody is told: of many checks some are unlucky. */
static int confirm(const struct request *request, struct turns *turns, struct pt_error *err)
{
    if (!request->confirms)
        return 0;
    PT_AUTO(pt_checked_fini) struct pt_checked checked;
    pt_check(&turns->check, &checked);
    return checked.is_near ? play_rounds(turns, request->rounds, err) : 0;
}

static int check_commands(const struct request *request, const struct pt_arguments *args, struct pt_error *err)
{
    if (args->n != 2)
        return pt_fail_code(err, 2, "--ab takes two commands: `proftrace check --ab 'COMMAND A' 'COMMAND B'`");
    if (request->rounds < 1 || request->rounds > 30)
        return pt_fail_code(err, 2, "--rounds is from 1 to 30");
    struct turns turns = {.commands = {args->values[0], args->values[1]}, .baseline = pt_baseline_new()};
    PT_AUTO(pt_freep) char *root = pt_runs_root();
    PT_AUTO(pt_closep) int root_fd = pt_session_root_open(root, err);
    if (root_fd < 0)
        return -1;
    snprintf(turns.folder, sizeof turns.folder, "%s/ab-XXXXXX", root);
    PT_AUTO(pt_baseline_freep) cJSON *baseline = turns.baseline;
    turns.check = (struct pt_check){.baseline = baseline,
                                    .stage = PT_AB_STAGE,
                                    .with_times = true,
                                    .threshold_percent = request->threshold_percent};
    turns.check.documents = pt_calloc(2 * request->rounds, sizeof *turns.check.documents);
    int result = mkdtemp(turns.folder) ? 0 : pt_fail(err, "cannot make %s: %s", turns.folder, strerror(errno));
    if (!result)
        result = play_rounds(&turns, request->rounds, err);
    if (!result)
        result = confirm(request, &turns, err);
    if (!result)
        result = tell(request, &turns.check, err);
    if (result > 0)
        fprintf(stderr, "proftrace: where and why: proftrace diff %s/0a %s/1b\n", turns.folder, turns.folder);
    for (size_t i = 0; i < turns.check.n_documents; i++)
        cJSON_Delete(turns.check.documents[i]);
    free(turns.check.documents);
    return result;
}

/* "5", "2.5" or "5%". */
static int read_percent(const char *text, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    return end == text || (*end && strcmp(end, "%") != 0) || !(*ret >= 0 && *ret <= 1000) ? -1 : 0;
}

int pt_cmd_check(int argc, char **argv, struct pt_error *err)
{
    struct request request = {.rounds = 5, .threshold_percent = NAN};
    const char *threshold = NULL;
    const struct pt_opt table[] = {
        PT_OPT_TEXT("baseline", 'b', &request.baseline, "FILE", "the figures of earlier runs (proftrace baseline add)"),
        PT_OPT_TEXT("stage", 's', &request.stage, "NAME", "only this stage"),
        PT_OPT_FLAG("time", 't', &request.with_times,
                    "wall and CPU time, too: four runs on both sides, of the same machine"),
        PT_OPT_FLAG("ab", 0, &request.is_ab, "play two commands in turn, and check the second against the first"),
        PT_OPT_COUNT("rounds", 0, &request.rounds, "N", "--ab: runs of each command (default: 5)"),
        PT_OPT_FLAG("confirm", 0, &request.confirms,
                    "--ab: play as many again before a regression is told, and where one is near"),
        PT_OPT_TEXT("threshold", 0, &threshold, "PERCENT",
                    "what is worse by less is no regression (default: 2 for stable counts, 5 to 10 for times)"),
        PT_OPT_CHOICE("format", 'f', &request.format, "text|json|md|github|junit",
                      "form of the result (default: text)"),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE", "write here instead of stdout"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = -1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (threshold && read_percent(threshold, &request.threshold_percent) < 0)
        return pt_fail_code(err, 2, "--threshold takes a number of percent from 0 to 1000, not '%.50s'", threshold);
    return request.is_ab ? check_commands(&request, &args, err) : check_runs(&request, &args, err);
}
