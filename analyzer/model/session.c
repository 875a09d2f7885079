/* SPDX-License-Identifier: MIT
 *
 * session.c - Owns: the life of a session: files found, opened, put on one clock, made into processes. Threads: one
 * opens and closes; afterwards read-only but for the caches behind names. Never: fails because of one bad file among
 * good ones.
 */
#include "session.h"

#include <errno.h>
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
#include "util/text/path.h"
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
void pt_session_note_blank(struct pt_session *session, size_t n)
{
    session->quality.blank_files = n;
    if (n == 1)
        pt_session_note(session, "a process ended before its trace began: its file is empty");
    if (n < 2)
        return;
    PT_AUTO(pt_freep)
    char *note = pt_asprintf("%zu processes ended before their traces began: their files are empty", n);
    pt_session_note(session, note);
}

/* A process that was about to give up its rights made it for a child that never came: who takes it first writes its
 * pid. Not by its blocks, of which it has none: a copy may have some. */
static bool is_spare(const char *path)
{
    struct pt_file_header head;
    const bool is_named_so = !strncmp(pt_base_name(path), PT_SPARE_PREFIX, strlen(PT_SPARE_PREFIX));
    PT_AUTO(pt_closep) int fd = is_named_so ? pt_trace_file_descriptor(path) : -1;
    return fd >= 0 && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && !head.pid;
}

/* A process that grew, whose beginning is still in the file of small processes. */
static bool has_moved(const struct pt_trace_file *file)
{
    return file->base && (file->header->options & PT_OPTION_MOVED);
}

struct opened {
    struct file_list *files;
    size_t n_blank, n_unreadable;
    struct pt_error first; /* for the case that nothing can be opened */
};

/* session.bin counts those that were made. Of a process that grew, the beginning may still be in the file of small
 * processes, also where its own file cannot be read. */
static void find_missing(struct pt_session *session, const struct opened *opened, pt_u64 n_made)
{
    const struct file_list *files = opened->files;
    const pt_u64 n_unreadable = opened->n_unreadable;
    pt_u64 n_begun = 0;
    for (size_t i = 0; i < files->n; i++)
        n_begun += has_moved(files->items[i]->shown.file);
    const pt_u64 n_whole = files->n - n_begun + opened->n_blank, n_lost = n_made > n_whole ? n_made - n_whole : 0;
    const pt_u64 n_least = n_begun > n_unreadable ? n_begun : n_unreadable, n = n_lost > n_least ? n_lost : n_least;
    session->quality.missing_files = n;
    if (n <= n_unreadable)
        return; /* each has a note of its own */
    PT_AUTO(pt_freep)
    char *note = pt_asprintf("%llu trace file%s missing: what %s did is not known", (unsigned long long)n,
                             n == 1 ? " is" : "s are", n == 1 ? "its process" : "their processes");
    pt_session_note(session, note);
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The forked name the process that they were forked from, whose file may be missing although nothing counts it.
 * `n_told`: damaged files, which have notes of their own, and may be the parents'. */
static void find_missing_parents(struct pt_session *session, size_t n_told)
{
    struct pt_map there = {0}, missing = {0};
    for (pt_u32 i = 0; i < session->n_processes; i++)
        *pt_map_at(&there, session->processes[i]->trace_id) = 1;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const pt_u64 parent = session->processes[i]->parent_trace_id;
        if (parent && !pt_map_find(&there, parent))
            *pt_map_at(&missing, parent) = 1;
    }
    const size_t n = missing.n;
    pt_map_fini(&there);
    pt_map_fini(&missing);
    if (!n || !is_directory(session->path))
        return; /* a file that is looked at alone */
    if (session->quality.missing_files < n)
        session->quality.missing_files = n;
    if (n <= n_told)
        return;
    PT_AUTO(pt_freep)
    char *note =
        pt_asprintf("%zu trace file%s of processes that forked others %s missing or cannot be read: what these "
                    "inherited has no name",
                    n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
    pt_session_note(session, note);
}

static void open_file(struct pt_session *session, const char *path, struct opened *opened)
{
    struct pt_error cause = {0};
    struct pt_trace_file *file = pt_trace_file_open(path, &cause);
    if (file) {
        struct pt_process_data *data = pt_calloc(1, sizeof *data);
        data->shown.file = file;
        data->schema = schema_of((struct pt_session_data *)session, file->schema);
        pt_trace_file_drop_schema(file);
        pt_vec_push(opened->files, data);
        return;
    }
    if (!opened->first.text[0])
        opened->first = cause;
    if (pt_trace_file_is_blank(path)) {
        opened->n_blank += !is_spare(path);
        return;
    }
    opened->n_unreadable++;
    pt_session_note(session, cause.text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A running process may have got a file of its own since the files were listed: look once more. */
static void open_new_files(struct pt_session *session, const struct pt_run_files *run, struct opened *opened)
{
    struct pt_run_files now;
    struct pt_error ignored = {0};
    bool any_moved = false;
    for (size_t i = 0; i < opened->files->n; i++)
        any_moved |= has_moved(opened->files->items[i]->shown.file);
    if (!any_moved || pt_run_files_find(session->path, &now, &ignored) < 0)
        return;
    for (size_t i = 0; i < now.files.n; i++)
        if (!bsearch(&now.files.items[i], run->files.items, run->files.n, sizeof *run->files.items, by_text))
            open_file(session, now.files.items[i], opened);
    pt_run_files_fini(&now);
}

/* What the file of small processes has of a process whose own file is there is not all. */
static void drop_beginnings(struct file_list *files)
{
    struct pt_map own = {0};
    size_t kept = 0;
    for (size_t i = 0; i < files->n; i++)
        if (!files->items[i]->shown.file->base)
            *pt_map_at(&own, files->items[i]->shown.file->header->trace_id) = 1;
    for (size_t i = 0; i < files->n; i++) {
        struct pt_process_data *data = files->items[i];
        files->items[kept] = data;
        if (!data->shown.file->base || !pt_map_find(&own, data->shown.file->header->trace_id)) {
            kept++;
            continue;
        }
        pt_trace_file_close(data->shown.file);
        free(data);
    }
    files->n = kept;
    pt_map_fini(&own);
}

/* Open what can be opened; the first error is kept for the case that nothing can. How many cannot, less blank ones:
 * those are of processes that forked nobody. */
static size_t open_files(struct pt_session *session, const struct pt_run_files *run, struct file_list *files,
                         struct pt_error *first)
{
    struct opened opened = {.files = files};
    for (size_t i = 0; i < run->files.n; i++)
        open_file(session, run->files.items[i], &opened);
    open_new_files(session, run, &opened);
    drop_beginnings(files);
    *first = opened.first;
    pt_session_note_blank(session, opened.n_blank);
    find_missing(session, &opened, run->n_made);
    return opened.n_unreadable;
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
    if (p->quality.read_errno)
        pt_str_printf(&text, "%s: not all of it can be read: %s\n", p->file_name, strerror(p->quality.read_errno));
    else if (p->quality.truncated)
        pt_str_printf(&text, "%s: shorter than its header says: its tail is missing\n", p->file_name);
    if (is_damaged(p))
        pt_str_printf(&text, "%s: damaged: %llu segments, %llu blocks, %llu definitions could not be read\n",
                      p->file_name, (unsigned long long)p->file->corrupt_segments,
                      (unsigned long long)p->quality.corrupt_blocks,
                      (unsigned long long)p->quality.corrupt_definitions);
    pt_session_note_lines(session, pt_str_text(&text));
}

/* One for all files of a version: a run may have thousands. */
static void note_versions(struct pt_session *session, const struct file_list *files)
{
    struct pt_map n_files = {0};
    for (size_t i = 0; i < files->n; i++)
        ++*pt_map_at(&n_files, (uintptr_t)files->items[i]->schema);
    for (size_t i = 0; i < files->n; i++) {
        const struct pt_schema *schema = files->items[i]->schema;
        uint64_t *n = pt_map_at(&n_files, (uintptr_t)schema);
        if (*n && schema->unknown.n) {
            PT_AUTO(pt_freep)
            char *which = *n == 1 ? pt_asprintf("%s:", files->items[i]->shown.file_name)
                                  : pt_asprintf("%llu trace files were", (unsigned long long)*n);
            PT_AUTO(pt_freep)
            char *note = pt_asprintf("%s written by another version; kinds of events that this one does not know are "
                                     "left out: %s",
                                     which, pt_str_text(&schema->unknown));
            pt_session_note(session, note);
        }
        *n = 0;
    }
    pt_map_fini(&n_files);
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
    note_versions(session, files);
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

/* Their events are there, and in all totals. A disk that is full, or a limit of file sizes, is helped by no option of
 * ours; and what found no room is counted each time that it is asked for. */
static void note_unknown_names(struct pt_session *session)
{
    const pt_u64 n = session->quality.drops[PT_DROP_definition];
    bool may_have_more = false;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_quality *q = &session->processes[i]->quality;
        may_have_more |= q->drops[PT_DROP_definition] && (!q->growth_errno || q->growth_errno == EDQUOT);
    }
    PT_AUTO(pt_freep)
    char *text =
        pt_asprintf("%llu time%s a name, a stack or a module found no room, and is unknown%s", (unsigned long long)n,
                    n == 1 ? "" : "s", may_have_more ? ": give more (PROFTRACE_RING_MIB, PROFTRACE_BUDGET_MIB)" : "");
    if (n)
        pt_session_note(session, text);
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
    return pt_strdup(pt_base_name(real ? real : path));
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
    const size_t n_told = open_files(session, &run, &files, &first);
    pt_run_files_fini(&run);
    if (!files.n) {
        pt_session_close(session);
        *err = first;
        return NULL;
    }
    make_processes(session, &files);
    free(files.items);
    find_missing_parents(session, n_told);
    pt_session_link(session);
    find_elsewhere(session);
    note_refused(session);
    pt_session_find_running(session);
    pt_session_find_ends(session);
    sum_up(session);
    note_unknown_names(session);
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
    free(session->states);
    free(session->earlier);
    free(session->earlier_starts);
    free(session->path);
    free(session->name);
    pt_intern_fini(&data->paths);
    for (size_t i = 0; i < data->schemas.n; i++)
        pt_schema_free(data->schemas.items[i]);
    free(data->schemas.items);
    free(data);
}

size_t pt_session_n_blank(const char *path)
{
    struct pt_run_files run;
    struct pt_error none = {0};
    size_t n = 0;
    if (pt_run_files_find(path, &run, &none) < 0)
        return 0;
    for (size_t i = 0; i < run.files.n; i++)
        n += pt_trace_file_is_blank(run.files.items[i]) && !is_spare(run.files.items[i]);
    pt_run_files_fini(&run);
    return n;
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

char *pt_session_directory(const char *path, struct pt_error *err)
{
    return pt_run_dir_of(path, err);
}
