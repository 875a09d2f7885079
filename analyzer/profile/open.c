/* SPDX-License-Identifier: MIT
 *
 * Owns: opening a run directory. Threads: one. Never: fails because of a broken run.json if there are traces: it
 * reports that and continues.
 */
#include "open.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proftrace/format.h"
#include "model/notes.h"
#include "model/running.h"
#include "source/refusals.h"
#include "source/run_dir.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/path.h"
#include "util/text/sanitize.h"
#include "ends.h"
#include "stages.h"

static bool is_directory(const char *path)
{
    struct stat status;
    return path && !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* No trace at all, but the launcher was there: the report says why. */
static struct pt_session *empty_session(const char *path)
{
    struct pt_session *session = pt_calloc(1, sizeof *session);
    session->path = pt_strdup(path);
    char *end = session->path + strlen(session->path);
    while (end > session->path + 1 && end[-1] == '/')
        *--end = 0;
    session->name = pt_strdup(pt_base_name(session->path));
    PT_AUTO(pt_str_fini) struct pt_str gone = {0};
    PT_AUTO(pt_str_fini) struct pt_str refused = {0};
    const pt_u64 n_made = pt_files_made(session->path), n_blank = pt_session_n_blank(session->path);
    pt_run_files_gone(session->path, n_blank, &gone);
    const pt_u64 n_least = n_blank + (gone.n ? 1 : 0);
    session->quality.missing_files = n_made > n_least ? n_made : n_least; /* or `check` would take 0 calls for true */
    pt_session_note_lines(session, pt_str_text(&gone));                   /* what can be mended is the first */
    pt_session_note_blank(session, n_blank);
    pt_refusals_of(session->path, &refused);
    pt_session_note_lines(session, pt_str_text(&refused));
    return session;
}

/* The launcher has made session.bin, which counts the trace files: without it, a copy that lacks some looks whole. */
static void find_missing_page(struct pt_session *session)
{
    struct pt_quality *quality = &session->quality;
    if (pt_session_page_is_whole(session->path))
        return;
    quality->missing_files = quality->missing_files ? quality->missing_files : 1;
    pt_session_note(session, PT_SESSION_FILE " is missing or damaged: nobody knows whether all trace files are here");
}

/* Where session.bin was not copied, by what nobody else makes. */
static bool had_launcher(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool had = pt_session_had_launcher(path);
    while (directory && !had && (entry = readdir(directory)))
        had = !strcmp(entry->d_name, "logs") || !strcmp(entry->d_name, PT_RUN_FILE) ||
              (!strncmp(entry->d_name, "cpu-", 4) && pt_ends_with(entry->d_name, ".pcp"));
    if (directory)
        closedir(directory);
    return had;
}

/* That it was recorded without a launcher is not said where there was one. Of a file its folder tells, unless it was
 * copied out of its run. */
static const char *why_no_run(const char *path, bool is_broken)
{
    const bool is_file = !is_directory(path);
    const char *name = is_file ? pt_base_name(path) : path;
    PT_AUTO(pt_freep) char *directory = is_file ? pt_asprintf("%.*s.", (int)(name - path), path) : pt_strdup(path);
    const bool is_alone = is_file && !pt_session_page_is_whole(directory);
    return is_broken                               ? PT_RUN_FILE " cannot be read"
           : !is_alone && !had_launcher(directory) ? NULL
           : is_file                               ? "a file was named, not its run"
                     : PT_RUN_FILE " is missing: the launcher wrote one, and it was not copied";
}

static void free_empty(struct pt_session *session)
{
    if (!session)
        return;
    for (pt_u32 i = 0; i < session->n_notes; i++)
        free(session->notes[i]);
    free(session->notes);
    free(session->path);
    free(session->name);
    free(session);
}

/* What the launcher knows with what the processes noted. */
static void join(struct pt_run *run, bool is_info_broken)
{
    struct pt_session *session = run->session;
    if (run->info)
        pt_run_find_ends(run->info, session);
    else
        session->why_no_run = why_no_run(session->path, is_info_broken);
    pt_session_note_out_of_sight(session);
    if (run->info)
        find_missing_page(session);
}

int pt_run_open(const char *path, struct pt_run *run, struct pt_error *err)
{
    run->session = pt_session_open(path, err);
    PT_AUTO(pt_freep) char *named = pt_session_directory(path, NULL);
    const char *directory = run->session ? run->session->path : named;
    struct pt_error broken = {0};
    if (is_directory(directory)) {
        if (pt_run_info_read(directory, &run->info, &broken) < 0 && run->session) {
            PT_AUTO(pt_str_fini) struct pt_str shown = {0};
            pt_sanitize_terminal(&shown, broken.text); /* a folder's name may be in it */
            fprintf(stderr, "proftrace: %s; going on without it\n", pt_str_text(&shown));
        }
    }
    if (run->info)
        pt_run_find_running(run->info);
    if (run->session) {
        join(run, broken.text[0]);
        return 0;
    }
    if (!run->info || pt_session_is_unreadable(path))
        return -1;
    run->empty = empty_session(directory);
    find_missing_page(run->empty);
    return 0;
}

void pt_run_close(struct pt_run *run)
{
    pt_run_info_free(run->info);
    if (run->session)
        pt_session_close(run->session);
    free_empty(run->empty);
    *run = (struct pt_run){0};
}
