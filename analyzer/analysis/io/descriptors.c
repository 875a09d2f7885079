/* SPDX-License-Identifier: MIT
 *
 * Owns: the descriptors of all processes, and what they have open. Threads: one. Never: keeps more open files than
 * descriptors.
 */
#include "descriptors.h"

#include <stdlib.h>

#include "model/names.h"

enum { MOST_PARENTS = 64 };

static struct pt_descriptor *descriptor_at(struct pt_descriptors *all, const struct pt_event *e,
                                           struct pt_descriptor_id id)
{
    pt_u64 *slot = pt_id_map_at(&all->by_fd[id.is_stdio], e->process->index, (pt_u32)id.fd);
    if (!*slot) {
        pt_vec_push(all, ((struct pt_descriptor){0}));
        *slot = all->n;
    }
    return &all->items[*slot - 1];
}

static struct pt_descriptor *descriptor_found(const struct pt_descriptors *all, const struct pt_process *process,
                                              struct pt_descriptor_id id)
{
    const pt_u64 slot = pt_id_map_get(&all->by_fd[id.is_stdio], process->index, (pt_u32)id.fd);
    return slot ? &all->items[slot - 1] : NULL;
}

/* Index, plus 1. */
static pt_u32 new_open_file(struct pt_descriptors *all, bool is_placed)
{
    pt_u32 index;
    if (all->unused.n)
        index = all->unused.items[--all->unused.n];
    else {
        pt_vec_push(&all->open_files, ((struct pt_open_file){0}));
        index = (pt_u32)all->open_files.n - 1;
    }
    all->open_files.items[index] = (struct pt_open_file){.is_placed = is_placed};
    return index + 1;
}

static void release(struct pt_descriptors *all, struct pt_descriptor *d)
{
    if (d->open_file && !--pt_descriptor_open_file(all, d)->n_descriptors)
        pt_vec_push(&all->unused, d->open_file - 1);
    d->open_file = 0;
}

static void bind(struct pt_descriptors *all, struct pt_descriptor *d, pt_u32 open_file)
{
    all->open_files.items[open_file - 1].n_descriptors++; /* first: it may be the one that it has */
    release(all, d);
    *d = (struct pt_descriptor){.open_file = open_file};
}

/* What it was of is gone. */
static void forget(struct pt_descriptors *all, const struct pt_event *e, struct pt_descriptor_id id)
{
    struct pt_descriptor *d = descriptor_found(all, e->process, id);
    if (!d)
        return;
    release(all, d);
    *d = (struct pt_descriptor){.is_unknown = true};
}

static bool is_untouched(const struct pt_open_file *open)
{
    return open->is_placed && !open->n_reads && !open->position_bytes;
}

/* fopen opens what has the number, fdopen goes on with what had it: where that was read, nobody can tell. */
static void stream_opened(struct pt_descriptors *all, const struct pt_event *e, pt_i32 fd)
{
    struct pt_descriptor *d = descriptor_found(all, e->process, (struct pt_descriptor_id){fd, false});
    if (d && d->open_file && !is_untouched(pt_descriptor_open_file(all, d)))
        forget(all, e, (struct pt_descriptor_id){fd, false});
}

struct pt_descriptor *pt_descriptor_opened(struct pt_descriptors *all, const struct pt_event *e,
                                           struct pt_descriptor_id id, pt_u32 path, pt_u32 dir_path)
{
    if (id.is_stdio)
        stream_opened(all, e, id.fd);
    else
        forget(all, e, (struct pt_descriptor_id){id.fd, true});
    const pt_u32 open_file = new_open_file(all, true);
    struct pt_descriptor *d = descriptor_at(all, e, id);
    bind(all, d, open_file);
    d->path = path;
    d->name = path ? pt_process_absolute_path(e->process, path, dir_path) : NULL;
    d->since_ns = pt_event_end_ns(e);
    return d;
}

/* 0 = it is none that was given to the process. What the parent opened after the process began was not. */
static pt_u32 inherited(const struct pt_descriptors *all, const struct pt_process *process, pt_i32 fd, const char *name)
{
    for (int i = 0; i < MOST_PARENTS; i++) {
        const struct pt_process *from = process->previous_image ? process->previous_image : process->parent;
        const struct pt_descriptor *d = from ? descriptor_found(all, from, (struct pt_descriptor_id){fd, false}) : NULL;
        if (d)
            return d->open_file && d->name == name && d->since_ns <= process->start_ns ? d->open_file : 0;
        if (!from)
            break;
        process = from;
    }
    return 0;
}

/* The open names a file in other words than what is used (a directory and a name in it, a link): another name is no
 * other file as long as nothing was moved. */
static bool is_the_same(const struct pt_descriptors *all, const struct pt_descriptor *d, const char *name)
{
    return d->open_file && (d->name == name || is_untouched(pt_descriptor_open_file(all, d)));
}

/* What a descriptor has open of which only its use is seen; index, plus 1. */
static pt_u32 found_open(struct pt_descriptors *all, const struct pt_event *e, struct pt_descriptor_id id, pt_u32 path)
{
    const struct pt_descriptor *d = descriptor_at(all, e, id);
    pt_u32 open_file = 0;
    if (id.is_stdio) /* no stream was opened: stdin */
        open_file = pt_descriptor_used(all, e, (struct pt_descriptor_id){id.fd, false}, path)->open_file;
    else if (!d->open_file && !d->is_unknown)
        open_file = inherited(all, e->process, id.fd, pt_process_absolute_path(e->process, path, 0));
    return open_file ? open_file : new_open_file(all, false);
}

struct pt_descriptor *pt_descriptor_used(struct pt_descriptors *all, const struct pt_event *e,
                                         struct pt_descriptor_id id, pt_u32 path)
{
    struct pt_descriptor *d = descriptor_at(all, e, id);
    if (d->path == path && d->open_file)
        return d;
    const char *name = pt_process_absolute_path(e->process, path, 0);
    if (!is_the_same(all, d, name)) {
        const pt_u32 open_file = found_open(all, e, id, path);
        d = descriptor_at(all, e, id); /* it may have moved */
        bind(all, d, open_file);
        d->since_ns = pt_event_end_ns(e);
    }
    d->path = path;
    d->file = d->name == name ? d->file : 0;
    d->name = name;
    return d;
}

void pt_descriptor_duplicated(struct pt_descriptors *all, const struct pt_event *e, pt_i32 to_fd, pt_u32 path)
{
    if (to_fd < 0 || to_fd == e->tag)
        return;
    forget(all, e, (struct pt_descriptor_id){to_fd, true});
    forget(all, e, (struct pt_descriptor_id){to_fd, false});
    if (!path)
        return;
    const struct pt_descriptor from = *pt_descriptor_used(all, e, (struct pt_descriptor_id){e->tag, false}, path);
    struct pt_descriptor *to = descriptor_at(all, e, (struct pt_descriptor_id){to_fd, false});
    bind(all, to, from.open_file);
    to->path = from.path;
    to->name = from.name;
    to->file = from.file;
    to->since_ns = pt_event_end_ns(e);
}

void pt_descriptors_fini(struct pt_descriptors *all)
{
    free(all->items);
    free(all->open_files.items);
    free(all->unused.items);
    pt_id_map_fini(&all->by_fd[0]);
    pt_id_map_fini(&all->by_fd[1]);
}
