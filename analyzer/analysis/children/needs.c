/* SPDX-License-Identifier: MIT
 *
 * Owns: which commands need what one before has made. Threads: one. Never: takes a log that all append to, or code that
 * one has compiled for all, for such a need; remembers more than MOST_FILES files.
 *
 * A file is made by who opens it for writing, writes to it as a stream, or gives it its name; it is needed by who opens
 * it and does not empty it first. Both are followed up to the two children of one process: of these two the second one
 * needs the first.
 */
#include "needs.h"

#include <fcntl.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "facts/code_kind.h"

enum { MOST_FILES = 65536 };

static const struct pt_process *first_image_of_starter(const struct pt_process *process)
{
    return pt_process_first_image(process->parent);
}

/* The child of their nearest common ancestor through which `later` descends. */
static void note_need(struct pt_children *children, const struct pt_process *later, const struct pt_process *earlier)
{
    const struct pt_process *by_earlier = NULL;
    for (const struct pt_process *x = pt_process_first_image(earlier); x;
         by_earlier = x, x = first_image_of_starter(x)) {
        const struct pt_process *by_later = NULL;
        for (const struct pt_process *y = pt_process_first_image(later); y; by_later = y, y = first_image_of_starter(y))
            if (x == y) {
                if (by_earlier && by_later && by_earlier != by_later)
                    children->processes[by_later->index].needs_earlier = true;
                return;
            }
    }
}

static bool is_no_product(const char *path)
{
    return *path != '/' || !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6) || pt_code_is_program_file(path);
}

static void used(struct pt_children *children, const struct pt_event *e, const char *path, bool makes, bool needs)
{
    const pt_u64 key = (pt_u64)(uintptr_t)path; /* equal paths are the same text */
    const pt_u64 *maker = path ? pt_map_find(&children->makers, key) : NULL;
    if (!maker && (!makes || !path || is_no_product(path)))
        return;
    if (maker && needs && *maker != e->process->index + 1)
        note_need(children, e->process, children->profile->session->processes[*maker - 1]);
    if (makes && (maker || children->n_makers < MOST_FILES)) {
        children->n_makers += !maker;
        *pt_map_at(&children->makers, key) = e->process->index + 1;
    }
}

/* NULL: unknown, or nobody's child asks. */
static const char *absolute(const struct pt_event *e, pt_u32 path, pt_u32 dir_path)
{
    return path && first_image_of_starter(pt_process_first_image(e->process))
               ? pt_process_absolute_path(e->process, path, dir_path)
               : NULL;
}

static void opened(struct pt_children *children, const struct pt_event *e)
{
    const struct pt_ev_io_open *open = pt_event_as(e, io_open);
    const bool writes = (open->flags & O_ACCMODE) != O_RDONLY;
    if (e->result < 0 || (writes && open->flags & O_APPEND) || open->flags & O_DIRECTORY)
        return;
    used(children, e, absolute(e, open->path, open->dir_path), writes, !(writes && open->flags & O_TRUNC));
}

void pt_children_note_file(struct pt_children *children, const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_io_open) {
        opened(children, e);
    } else if (e->desc->kind == PT_KIND_stdio_open && e->result >= 0) {
        used(children, e, absolute(e, pt_event_as(e, stdio_open)->path, 0), false, true);
    } else if (e->desc->kind == PT_KIND_meta_rename && e->result >= 0) {
        used(children, e, absolute(e, pt_event_as(e, meta_rename)->to_path, 0), true, false);
    } else if (e->desc->kind == PT_KIND_stdio_write) {
        const pt_u32 path = pt_event_as(e, stdio_write)->path;
        if (e->process != children->wrote || path != children->wrote_path)
            used(children, e, absolute(e, path, 0), true, false);
        children->wrote = e->process;
        children->wrote_path = path;
    }
}
