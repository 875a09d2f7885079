/* SPDX-License-Identifier: MIT
 *
 * The JSON files that a pipeline wrote, newest first: the grade report is among them where the configuration does not
 * name it. Only a call that gives a file its content counts: a file that was just opened, for reading or for updating,
 * may have the content of an earlier run.
 *
 * Threads: one. State: one small struct per name that was written, at most MOST_NAMES_KEPT of them, some directories
 * per process, some renames. Never: reads the file system: the caller checks whether a file exists.
 *
 * A relative name is kept with every directory that it may refer to: the working directory is known at the start of a
 * process, its changes are events (those of a child between vfork and exec are among its parent's), and of a rename
 * between two directory descriptors only the names are recorded. In a wrong directory there is no such file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/analysis.h"
#include "proftrace/payloads.h"
#include "util/auto.h"
#include "util/id_map.h"
#include "util/text/path.h"

enum {
    MOST_NAMES_KEPT = 65536, /* then the oldest go */
    MOST_FILES = 4096,       /* the newest: a stage may write a file for each image */
    MOST_NAMES = 16384,      /* that these may have */
    MOST_RECENT = 8,         /* directories of a kind and a process */
    MOST_MOVES = 256,
    MOST_BYTES = 64 << 20, /* of paths: a damaged file may hold long ones */
    MOST_HOPS = 4,         /* moves of one file, or of directories above it */
};

struct written_file {
    struct pt_process *process;
    pt_u32 path; /* string id */
    pt_i64 last_ns;
};

/* The latest few string ids. */
struct recent {
    pt_u32 ids[MOST_RECENT];
    pt_u32 n; /* of all there were */
};

/* Directories that relative names of a process may refer to, besides the one it began in. */
struct places {
    struct recent entered, opened;
};

struct move {
    struct pt_process *process;
    pt_u32 from, to;
};

enum { NO_JSON = 1, FIRST_FILE = 2 }; /* in by_id; 0 = not checked yet */

struct written_json {
    bool is_wanted;
    PT_VEC(struct written_file);
    struct pt_id_map by_id; /* process, string id -> NO_JSON, or an index in items plus FIRST_FILE */
    struct places *places;  /* by process */
    struct move moves[MOST_MOVES];
    pt_u64 n_moves;
    pt_u64 left_out;
};

/* If the configuration names the file, or for a single command, the list is not needed. */
static bool is_wanted(const struct pt_run_info *run)
{
    return run && run->is_pipeline && !run->pipeline.quality_file && !run->pipeline.quality_read_from;
}

static void begin(void *state, struct pt_profile *profile)
{
    struct written_json *written = state;
    written->is_wanted = is_wanted(profile->run);
    if (written->is_wanted)
        written->places = pt_calloc(profile->session->n_processes, sizeof *written->places);
}

/* ---- what was written ---- */

static bool is_json(const char *name)
{
    static const char suffix[] = ".json";
    const size_t n = name ? strlen(name) : 0, suffix_n = sizeof suffix - 1;
    return n > suffix_n && !strcasecmp(name + n - suffix_n, suffix);
}

static int by_newest(const void *a, const void *b)
{
    const struct written_file *x = a, *y = b;
    if (x->last_ns != y->last_ns)
        return x->last_ns < y->last_ns ? 1 : -1;
    if (x->process != y->process)
        return x->process->index < y->process->index ? 1 : -1;
    return (x->path < y->path) - (x->path > y->path);
}

static void keep_newest(struct written_json *written)
{
    if (written->n)
        qsort(written->items, written->n, sizeof *written->items, by_newest);
    if (written->n <= MOST_FILES)
        return;
    written->left_out += written->n - MOST_FILES;
    written->n = MOST_FILES;
    pt_id_map_fini(&written->by_id);
    written->by_id = (struct pt_id_map){0};
    for (size_t i = 0; i < written->n; i++)
        *pt_id_map_at(&written->by_id, written->items[i].process->index, written->items[i].path) = i + FIRST_FILE;
}

static void was_written(struct written_json *written, const struct pt_event *e, pt_u32 path)
{
    if (!path)
        return;
    const pt_u64 known = *pt_id_map_at(&written->by_id, e->process->index, path);
    if (known >= FIRST_FILE)
        written->items[known - FIRST_FILE].last_ns = pt_event_end_ns(e);
    if (known)
        return;
    const bool is_new = is_json(pt_process_string(e->process, path));
    if (is_new && written->n >= MOST_NAMES_KEPT)
        keep_newest(written);
    if (is_new)
        pt_vec_push(written, ((struct written_file){e->process, path, pt_event_end_ns(e)}));
    *pt_id_map_at(&written->by_id, e->process->index, path) = is_new ? written->n - 1 + FIRST_FILE : NO_JSON;
}

static void note_place(struct recent *recent, pt_u32 id)
{
    if (!id)
        return;
    for (pt_u32 i = 0; i < MOST_RECENT; i++)
        if (recent->ids[i] == id)
            return;
    recent->ids[recent->n++ % MOST_RECENT] = id;
}

static void opened(struct written_json *written, const struct pt_event *e)
{
    const struct pt_ev_io_open *open = pt_event_as(e, io_open);
    struct places *places = &written->places[e->process->index];
    if (open->result < 0)
        return;
    if (open->flags & O_DIRECTORY)
        note_place(&places->opened, open->path);
    else if ((open->flags & O_ACCMODE) != O_RDONLY && open->flags & (O_TRUNC | O_EXCL)) {
        note_place(&places->opened, open->dir_path);
        was_written(written, e, open->path);
    }
}

/* What is renamed or linked into its place was written under another name. */
static void named(struct written_json *written, const struct pt_event *e)
{
    const struct pt_ev_meta_rename *rename = (const struct pt_ev_meta_rename *)(const void *)e->payload;
    if (rename->result < 0)
        return;
    was_written(written, e, rename->to_path);
    if (e->desc->kind == PT_KIND_meta_rename)
        written->moves[written->n_moves++ % MOST_MOVES] = (struct move){e->process, rename->path, rename->to_path};
}

/* The file that a call wrote to; 0 = none, or nothing. */
static pt_u32 target_of(const struct pt_event *e)
{
    switch (e->desc->kind) {
    case PT_KIND_io_write:
    case PT_KIND_io_pwrite:
    case PT_KIND_io_writev:
    case PT_KIND_io_pwritev: /* all have { i32 result, u32 path, u64 } */
        return e->result > 0 ? ((const struct pt_ev_io_write *)(const void *)e->payload)->path : 0;
    case PT_KIND_io_copy:
        return e->result > 0 ? pt_event_as(e, io_copy)->to_path : 0;
    case PT_KIND_stdio_write:
        return pt_event_as(e, stdio_write)->bytes > 0 ? pt_event_as(e, stdio_write)->path : 0;
    default:
        return 0;
    }
}

static bool wants(const void *state, pt_u32 kind)
{
    (void)kind;
    return ((const struct written_json *)state)->is_wanted;
}

static void event(void *state, const struct pt_event *e)
{
    struct written_json *written = state;
    switch (e->desc->kind) {
    case PT_KIND_io_open:
        opened(written, e);
        break;
    case PT_KIND_meta_rename:
    case PT_KIND_meta_link:
        named(written, e);
        break;
    case PT_KIND_meta_change_dir:
        if (e->result >= 0)
            note_place(&written->places[e->process->index].entered, pt_event_as(e, meta_change_dir)->path);
        break;
    default:
        was_written(written, e, target_of(e));
    }
}

/* ---- under which names it may be there ---- */

enum { MOST_DIRECTORIES = 1 + 4 * MOST_RECENT };

struct names {
    struct pt_intern texts;
    size_t bytes;        /* of all names that were given out */
    struct pt_map seen;  /* of the table */
    struct pt_map moved; /* old name -> new name */
    struct pt_metrics *metrics;
    struct pt_table *table;
    const struct pt_process *process; /* the process of these directories; NULL = none yet */
    const char *directories[MOST_DIRECTORIES];
    pt_u32 n_directories;
};

/* NULL = there is no such path, or there were too many. */
static const char *intern(struct names *names, const char *path, size_t n)
{
    if (names->bytes > MOST_BYTES)
        return NULL;
    names->bytes += n;
    return pt_intern_bytes(&names->texts, path, n);
}

static const char *join(struct names *names, const char *directory, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str joined = {0};
    if (!path || !*path || (*path != '/' && *directory != '/'))
        return NULL;
    pt_path_join(&joined, directory, path);
    return intern(names, joined.text, joined.n);
}

static void add_directory(struct names *names, const char *directory)
{
    for (pt_u32 i = 0; i < names->n_directories; i++)
        if (names->directories[i] == directory)
            return;
    if (directory)
        names->directories[names->n_directories++] = directory;
}

/* Oldest first: each one may be relative to the one before. */
static pt_u32 id_of(const struct recent *recent, pt_u32 i)
{
    return recent->ids[recent->n > MOST_RECENT ? (recent->n + i) % MOST_RECENT : i];
}

static pt_u32 n_kept(const struct recent *recent)
{
    return recent->n < MOST_RECENT ? recent->n : MOST_RECENT;
}

static void list_directories(struct names *names, const struct places *places, const struct pt_process *process)
{
    const char *here = process->cwd;
    if (names->process == process)
        return;
    names->process = process;
    names->n_directories = 0;
    add_directory(names, join(names, "/", process->cwd));
    for (pt_u32 i = 0; i < n_kept(&places->entered); i++) {
        const char *path = pt_process_string(process, id_of(&places->entered, i));
        const char *entered = join(names, here, path);
        add_directory(names, join(names, process->cwd, path));
        add_directory(names, entered);
        here = entered ? entered : here;
    }
    for (pt_u32 i = 0; i < n_kept(&places->opened); i++) {
        const char *path = pt_process_string(process, id_of(&places->opened, i));
        add_directory(names, join(names, process->cwd, path));
        add_directory(names, join(names, here, path));
    }
}

static void list_moves(struct names *names, const struct written_json *written)
{
    const pt_u64 first = written->n_moves > MOST_MOVES ? written->n_moves - MOST_MOVES : 0;
    for (pt_u64 i = first; i < written->n_moves; i++) {
        const struct move *move = &written->moves[i % MOST_MOVES];
        list_directories(names, &written->places[move->process->index], move->process);
        for (pt_u32 d = 0; d < names->n_directories; d++) {
            const char *from = join(names, names->directories[d], pt_process_string(move->process, move->from));
            const char *to = join(names, names->directories[d], pt_process_string(move->process, move->to));
            if (from && to)
                *pt_map_at(&names->moved, (uintptr_t)from) = (uintptr_t)to;
        }
    }
}

/* The name that a file got when a directory above it was moved; NULL = none was. */
static const char *moved(struct names *names, const char *path)
{
    for (const char *end = strchr(path + 1, '/'); names->moved.n && end; end = strchr(end + 1, '/')) {
        const char *from = intern(names, path, (size_t)(end - path));
        const char *to = from ? pt_map_pointer(&names->moved, (uintptr_t)from) : NULL;
        if (to)
            return join(names, to, end + 1);
        if (!from)
            return NULL;
    }
    return NULL;
}

struct name_row {
    const char *path;
};

static const struct pt_column columns[] = {PT_COLUMN(struct name_row, path, TEXT, "File")};
static const struct pt_table_kind by_name = {PT_VIEW_written_json, .most = MOST_NAMES, PT_COLUMNS(columns)};

static void add_name(struct names *names, const char *path)
{
    for (int hop = 0; path && hop <= MOST_HOPS; hop++) {
        pt_u64 *seen = pt_map_at(&names->seen, (uintptr_t)path);
        if (*seen)
            return;
        *seen = 1;
        if (pt_table_has_room(names->table))
            pt_table_add(names->table, &(struct name_row){pt_metrics_text(names->metrics, path)});
        path = moved(names, path);
    }
}

static void add_names(struct names *names, const struct written_json *written, const struct written_file *file)
{
    const char *path = pt_process_string(file->process, file->path);
    list_directories(names, &written->places[file->process->index], file->process);
    if (path && *path == '/')
        add_name(names, join(names, "/", path));
    else
        for (pt_u32 i = 0; i < names->n_directories; i++)
            add_name(names, join(names, names->directories[i], path));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct written_json *written = state;
    struct names names = {.metrics = &profile->metrics};
    if (!written->is_wanted)
        return;
    keep_newest(written);
    names.table = pt_metrics_add_table(&profile->metrics, pt_scope_run(), &by_name);
    names.table->rows_left_out = written->left_out;
    list_moves(&names, written);
    for (size_t i = 0; i < written->n; i++)
        add_names(&names, written, &written->items[i]);
    pt_intern_fini(&names.texts);
    pt_map_fini(&names.seen);
    pt_map_fini(&names.moved);
    pt_id_map_fini(&written->by_id);
    free(written->items);
    free(written->places);
}

const struct pt_analysis pt_analysis_written_json = {
    .name = "written_json",
    .summary = "JSON files that a pipeline wrote",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META,
    .state_size = sizeof(struct written_json),
    .begin = begin,
    .wants = wants,
    .event = event,
    .finish = finish,
};
