/* SPDX-License-Identifier: MIT
 *
 * Owns: what is a run in a directory of runs. Threads: one. Never: reads more of a trace file than its head, and that
 * only of a run whose launcher was killed, or that has none, and once only of what has ended: a list of many runs comes
 * at once.
 */
#include "runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/ends.h"
#include "run_file/read.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/text/utf8.h"

bool pt_is_run(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (directory && !found && (entry = readdir(directory))) {
        const size_t n = strlen(entry->d_name);
        const char *end = n > 4 && entry->d_name[0] != '.' ? entry->d_name + n - 4 : "";
        found = !strcmp(entry->d_name, "run.json") || !strcmp(end, PT_FILE_SUFFIX) || !strcmp(end, PT_SMALL_SUFFIX);
    }
    if (directory)
        closedir(directory);
    return found;
}

/* The first stage that is not well says how the run is; one whose end nobody noted, and which does not run, was killed
 * with its launcher. */
static const char *status_of(const struct pt_run_info *run)
{
    if (run->is_running)
        return "running"; /* also between two stages */
    for (pt_u32 i = 0; i < run->n_stages; i++)
        if (run->stages[i].is_running)
            return "running";
    for (pt_u32 i = 0; i < run->n_stages; i++)
        if (!run->stages[i].status)
            return "failed";
        else if (strcmp(run->stages[i].status, "ok") != 0 && strcmp(run->stages[i].status, "skipped") != 0)
            return run->stages[i].status;
    return run->n_stages ? "ok" : "unknown";
}

static bool was_left_open(const struct pt_run_info *run)
{
    for (pt_u32 i = 0; i < run->n_stages; i++)
        if (!run->stages[i].status && !run->stages[i].is_running)
            return true;
    return false;
}

static char *cut(const char *command)
{
    char text[160];
    snprintf(text, sizeof text, "%s", command);
    pt_utf8_trim(text, sizeof text);
    return *text ? pt_strdup(text) : NULL;
}

static char *command_of(const struct pt_run_info *run)
{
    PT_AUTO(pt_str_fini) struct pt_str command = {0};
    for (const char **words = run->n_stages ? run->stages[0].command : NULL; words && *words; words++)
        pt_str_printf(&command, "%s%s", command.n ? " " : "", *words);
    return cut(pt_str_text(&command));
}

/* No launcher noted it: LD_PRELOAD alone. */
static void take_heads(struct pt_listed_run *listed, const char *path, const struct stat *status_of_run,
                       struct pt_kept_heads *kept)
{
    const struct pt_run_heads heads = pt_kept_heads_of(kept, path, status_of_run);
    if (!heads.is_known)
        return;
    if (heads.start_realtime_ns)
        listed->start_ns = heads.start_realtime_ns;
    if (heads.command)
        listed->command = cut(heads.command);
    const char *status = heads.is_running ? "running" : heads.may_run_elsewhere ? "unknown" : "ended";
    snprintf(listed->status, sizeof listed->status, "%s", status);
    listed->may_go_on = heads.may_run_elsewhere;
}

static void take_info(struct pt_listed_run *listed, const char *path, const struct stat *status_of_run,
                      struct pt_kept_heads *kept)
{
    PT_AUTO(pt_run_info_freep) struct pt_run_info *run = NULL;
    struct pt_error ignored = {0};
    if (pt_run_info_read(path, &run, &ignored) < 0)
        return;
    if (!run) {
        take_heads(listed, path, status_of_run, kept);
        return;
    }
    pt_run_find_running(run);
    if (was_left_open(run))
        pt_run_take_noted_ends(path, run);
    if (run->start_realtime_ns)
        listed->start_ns = run->start_realtime_ns;
    listed->duration_ns = run->duration_ns;
    listed->command = command_of(run);
    snprintf(listed->status, sizeof listed->status, "%s", status_of(run));
    listed->may_go_on = !run->n_stages; /* it may not have begun */
}

static int newest_first(const void *a, const void *b)
{
    const struct pt_listed_run *x = a, *y = b;
    return x->start_ns != y->start_ns ? (x->start_ns < y->start_ns) - (x->start_ns > y->start_ns)
                                      : strcmp(y->name, x->name);
}

static bool is_there(const char *of_run, struct stat *ret_stat)
{
    return lstat(of_run, ret_stat) == 0 && S_ISDIR(ret_stat->st_mode) && pt_is_run(of_run);
}

struct pt_listed_runs pt_runs_list(const char *path, struct pt_kept_heads *kept)
{
    struct pt_listed_runs runs = {0};
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        PT_AUTO(pt_freep) char *of_run = pt_asprintf("%s/%s", path, entry->d_name);
        struct stat stat;
        if (entry->d_name[0] == '.' || !is_there(of_run, &stat))
            continue;
        struct pt_listed_run listed = {
            .name = pt_strdup(entry->d_name), .duration_ns = NAN, .status = "unknown", .may_go_on = true};
        listed.start_ns = (pt_u64)stat.st_mtim.tv_sec * 1000000000 + (pt_u64)stat.st_mtim.tv_nsec;
        take_info(&listed, of_run, &stat, kept);
        pt_vec_push(&runs, listed);
    }
    if (directory)
        closedir(directory);
    if (runs.n)
        qsort(runs.items, runs.n, sizeof *runs.items, newest_first);
    return runs;
}

char *pt_runs_path_of(const char *path, const char *name)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    struct stat stat;
    char *found = NULL;
    while (directory && !found && (entry = readdir(directory))) {
        PT_AUTO(pt_freep) char *of_run = strcmp(entry->d_name, name) ? NULL : pt_asprintf("%s/%s", path, entry->d_name);
        if (of_run && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && is_there(of_run, &stat))
            found = pt_strdup(of_run);
    }
    if (directory)
        closedir(directory);
    return found;
}

void pt_runs_free(struct pt_listed_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++) {
        free(runs->items[i].name);
        free(runs->items[i].command);
    }
    free(runs->items);
    *runs = (struct pt_listed_runs){0};
}
