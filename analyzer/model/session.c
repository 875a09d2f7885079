/* SPDX-License-Identifier: MIT
 *
 * session.c - Owns: the life of a session: files found, opened, put on one clock, made into processes. Threads: one
 * opens and closes; afterwards read-only but for the caches behind names. Never: fails because of one bad file among
 * good ones.
 */
#include "session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/open.h"
#include "source/refusals.h"
#include "source/run_dir.h"
#include "util/auto.h"
#include "ends.h"
#include "ignored_options.h"
#include "python_seen.h"
#include "process.h"
#include "running.h"
#include "session_data.h"
#include "tree.h"

struct file_list {
    PT_VEC(struct pt_process_data *); /* with `file` and `schema` alone */
};

/* Files of a hundred versions in one run are damage: those beyond have one each. */
enum { MOST_SHARED_SCHEMAS = 100 };

static const struct pt_schema *schema_of(struct pt_session_data *data, const char *text)
{
    for (size_t i = 0; i < data->schemas.n && i < MOST_SHARED_SCHEMAS; i++)
        if (pt_schema_is_of(data->schemas.items[i], text))
            return data->schemas.items[i];
    pt_vec_push(&data->schemas, pt_schema_new(text));
    return data->schemas.items[data->schemas.n - 1];
}

/* Processes killed at their start: no damage, and with many of them not a line for each. */
static void note_blank(struct pt_session *session, size_t n)
{
    if (n == 1)
        pt_session_note(session, "a process ended before its trace began: its file is empty");
    if (n < 2)
        return;
    PT_AUTO(pt_freep)
    char *note = pt_asprintf("%zu processes ended before their traces began: their files are empty", n);
    pt_session_note(session, note);
}

/* A process that was about to give up its rights made it for a child that never came: long, and without a block. */
static bool is_spare(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size && !status.st_blocks;
}

/* session.bin counts those that were made. Of a process that grew, the beginning may still be in the file of small
 * processes, also where its own file cannot be read. */
static void find_missing(struct pt_session *session, const struct file_list *files, pt_u64 n_made, pt_u64 n_blank,
                         pt_u64 n_unreadable)
{
    pt_u64 n_begun = 0;
    for (size_t i = 0; i < files->n; i++) {
        const struct pt_trace_file *file = files->items[i]->shown.file;
        n_begun += file->base && (file->header->options & PT_OPTION_MOVED);
    }
    const pt_u64 n_whole = files->n - n_begun + n_blank, n_lost = n_made > n_whole ? n_made - n_whole : 0;
    const pt_u64 n_least = n_begun > n_unreadable ? n_begun : n_unreadable, n = n_lost > n_least ? n_lost : n_least;
    session->quality.missing_files = n;
    if (n <= n_unreadable)
        return; /* each has a note of its own */
    PT_AUTO(pt_freep)
    char *note = pt_asprintf("%llu trace file%s missing: what %s did is not known", (unsigned long long)n,
                             n == 1 ? " is" : "s are", n == 1 ? "its process" : "their processes");
    pt_session_note(session, note);
}

/* Open what can be opened; the first error is kept for the case that nothing can. */
static void open_files(struct pt_session *session, const struct pt_run_files *run, struct file_list *files,
                       struct pt_error *first)
{
    size_t n_blank = 0, n_unreadable = 0;
    for (size_t i = 0; i < run->files.n; i++) {
        struct pt_error cause = {0};
        struct pt_trace_file *file = pt_trace_file_open(run->files.items[i], &cause);
        if (file) {
            struct pt_process_data *data = pt_calloc(1, sizeof *data);
            data->shown.file = file;
            data->schema = schema_of((struct pt_session_data *)session, file->schema);
            pt_trace_file_drop_schema(file);
            pt_vec_push(files, data);
            continue;
        }
        if (!first->text[0])
            *first = cause;
        if (pt_trace_file_is_blank(run->files.items[i])) {
            n_blank += !is_spare(run->files.items[i]);
            continue;
        }
        n_unreadable++;
        pt_session_note(session, cause.text);
    }
    note_blank(session, n_blank);
    find_missing(session, files, run->n_made, n_blank, n_unreadable);
}

static void note_refused(struct pt_session *session)
{
    PT_AUTO(pt_str_fini) struct pt_str lines = {0};
    pt_refusals_of(session->path, &lines);
    pt_session_note_lines(session, pt_str_text(&lines));
}

static bool is_damaged(const struct pt_process *p)
{
    return p->file->corrupt_segments || p->quality.corrupt_blocks || p->quality.corrupt_definitions;
}

static void note_quality(struct pt_session *session, const struct pt_process_data *data)
{
    const struct pt_process *p = &data->shown;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (p->quality.truncated)
        pt_str_printf(&text, "%s: shorter than its header says: its tail is missing\n", p->file_name);
    if (is_damaged(p))
        pt_str_printf(&text, "%s: damaged: %llu segments, %llu blocks, %llu definitions could not be read\n",
                      p->file_name, (unsigned long long)p->file->corrupt_segments,
                      (unsigned long long)p->quality.corrupt_blocks,
                      (unsigned long long)p->quality.corrupt_definitions);
    if (data->schema->unknown.n)
        pt_str_printf(&text,
                      "%s: written by another version; kinds of events that this one does not know are left out: %s\n",
                      p->file_name, pt_str_text(&data->schema->unknown));
    pt_session_note_lines(session, pt_str_text(&text));
}

static pt_u64 first_ticks(const struct pt_trace_file *file)
{
    pt_u64 first = ~0ull;
    for (size_t i = 0; i < file->slots.n; i++)
        for (int s = 0; s < PT_BUFFER__COUNT; s++)
            for (size_t b = 0; b < file->slots.items[i].blocks[s].n; b++) {
                const pt_u64 ticks = file->slots.items[i].blocks[s].items[b].first_ticks;
                first = ticks && ticks < first ? ticks : first;
            }
    return first == ~0ull ? 0 : first;
}

static pt_u64 start_monotonic_ns(const struct pt_clock_file *clock)
{
    const pt_u64 first_ns = clock->header->clock_first.monotonic_ns;
    return first_ns ? first_ns - (pt_u64)clock->namespace_ns - (pt_u64)clock->early_ns : 0;
}

static void make_processes(struct pt_session *session, const struct file_list *files)
{
    struct pt_clock_file *clocks = pt_calloc(files->n, sizeof *clocks);
    PT_AUTO(pt_str_fini) struct pt_str notes = {0};
    for (size_t i = 0; i < files->n; i++)
        clocks[i] = (struct pt_clock_file){.header = files->items[i]->shown.file->header,
                                           .name = files->items[i]->shown.file->name,
                                           .first_ticks = first_ticks(files->items[i]->shown.file)};
    pt_clock_map(clocks, files->n, &session->start_realtime_ns, &notes);
    pt_session_note_lines(session, pt_str_text(&notes));
    session->processes = pt_calloc(files->n, sizeof *session->processes);
    for (size_t i = 0; i < files->n; i++) {
        struct pt_process_data *data = files->items[i];
        data->shown.session = session;
        data->scale = clocks[i].scale;
        data->shown.start_ns = clocks[i].start_ns;
        data->shown.start_monotonic_ns = start_monotonic_ns(&clocks[i]);
        data->namespace_ns = clocks[i].namespace_ns;
        data->last_clock_ns = clocks[i].last_ns;
        pt_process_fill(data);
        session->processes[session->n_processes++] = &data->shown;
        note_quality(session, data);
        pt_process_note_ignored_options(&data->shown, session);
        pt_process_note_python(&data->shown, session);
    }
    free(clocks);
}

static void find_elsewhere(struct pt_session *session)
{
    char boot_id[sizeof session->processes[0]->file->header->boot_id];
    const bool is_known = pt_boot_id_of(session->path, boot_id);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        session->processes[i]->is_elsewhere =
            is_known && strncmp(session->processes[i]->file->header->boot_id, boot_id, sizeof boot_id) != 0;
}

static void sum_up(struct pt_session *session)
{
    struct pt_quality *all = &session->quality;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *p = session->processes[i];
        const struct pt_quality *q = &p->quality;
        all->events = pt_sum(all->events, q->events);
        all->overwritten = pt_sum(all->overwritten, q->overwritten);
        all->dropped = pt_sum(all->dropped, q->dropped);
        for (int d = 0; d < PT_DROP__COUNT; d++)
            all->drops[d] = pt_sum(all->drops[d], q->drops[d]);
        all->corrupt_blocks = pt_sum(all->corrupt_blocks, q->corrupt_blocks);
        all->corrupt_events = pt_sum(all->corrupt_events, q->corrupt_events);
        all->corrupt_definitions = pt_sum(all->corrupt_definitions, q->corrupt_definitions);
        all->truncated |= q->truncated;
        all->cut_processes += q->truncated;
        all->damaged_files += is_damaged(p);
        if (p->end_ns > session->duration_ns)
            session->duration_ns = p->end_ns;
    }
}

static char *last_component(const char *path)
{
    PT_AUTO(pt_freep) char *real = realpath(path, NULL);
    const char *whole = real ? real : path, *slash = strrchr(whole, '/');
    return pt_strdup(slash && slash[1] ? slash + 1 : whole);
}

struct pt_session *pt_session_open(const char *path, struct pt_error *err)
{
    struct pt_run_files run;
    if (pt_run_files_find(path, &run, err) < 0)
        return NULL;
    struct pt_session_data *data = pt_calloc(1, sizeof *data);
    struct pt_session *session = &data->shown;
    struct file_list files = {0};
    struct pt_error first = {0};
    session->path = pt_strdup(run.path);
    session->name = last_component(run.path);
    open_files(session, &run, &files, &first);
    pt_run_files_fini(&run);
    if (!files.n) {
        pt_session_close(session);
        *err = first;
        return NULL;
    }
    make_processes(session, &files);
    free(files.items);
    pt_session_link(session);
    find_elsewhere(session);
    note_refused(session);
    pt_session_find_running(session);
    pt_session_find_ends(session);
    sum_up(session);
    return session;
}

void pt_session_close(struct pt_session *session)
{
    if (!session)
        return;
    struct pt_session_data *data = (struct pt_session_data *)session;
    for (pt_u32 i = 0; i < session->n_processes + session->n_before_window; i++) {
        struct pt_process_data *process = pt_process_data_of(session->processes[i]);
        pt_process_fini(process);
        free(process);
    }
    for (pt_u32 i = 0; i < session->n_notes; i++)
        free(session->notes[i]);
    free(session->notes);
    free(session->processes);
    free(session->path);
    free(session->name);
    pt_intern_fini(&data->paths);
    for (size_t i = 0; i < data->schemas.n; i++)
        pt_schema_free(data->schemas.items[i]);
    free(data->schemas.items);
    free(data);
}

bool pt_session_is_unreadable(const char *path)
{
    struct pt_run_files run;
    struct pt_error none = {0};
    if (pt_run_files_find(path, &run, &none) < 0)
        return false;
    bool unreadable = false;
    for (size_t i = 0; i < run.files.n; i++)
        unreadable |= !pt_trace_file_is_blank(run.files.items[i]);
    pt_run_files_fini(&run);
    return unreadable;
}

char *pt_session_latest(void)
{
    return pt_run_dir_latest();
}
