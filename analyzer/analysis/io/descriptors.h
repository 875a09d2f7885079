/* SPDX-License-Identifier: MIT
 *
 * io/descriptors.h - where in its file each descriptor is: what dup made, and what a child was given, is where the one
 * is that it was made from, and moves with it.
 *
 * Closing says nothing here: a child made by vfork closes all that its parent has, and is recorded as if it were it.
 */
#ifndef PT_ANALYSIS_IO_DESCRIPTORS_H
#define PT_ANALYSIS_IO_DESCRIPTORS_H

#include "model/session.h"
#include "util/id_map.h"
#include "util/vec.h"

/* What the kernel has one of for each open, and all its descriptors share. */
struct pt_open_file {
    pt_u64 position_bytes, n_reads;
    pt_u64 first_ns, first_bytes; /* of a small read that may be of the whole file */
    pt_u32 n_descriptors;
    bool is_placed; /* the position is known: the open was seen, or a seek */
};

struct pt_descriptor {
    pt_u32 path;      /* string id that events of it name; 0 = none is known */
    pt_u32 file;      /* for whoever asks: a number of the file, plus 1; 0 = not set yet */
    pt_u32 open_file; /* index, plus 1; 0 = none is known */
    bool is_unknown;  /* something took its number of which no name is known */
    const char *name; /* of the file: an absolute path of the session */
    pt_i64 since_ns;
};

struct pt_descriptors {
    struct pt_id_map by_fd[2]; /* process, descriptor -> index, plus 1: descriptor layer and stdio */
    PT_VEC(struct pt_descriptor);
    struct {
        PT_VEC(struct pt_open_file);
    } open_files;
    struct {
        PT_VEC(pt_u32); /* indices of open files without a descriptor */
    } unused;
};

/* The descriptor that an event is about: e->tag, unless another is meant. */
struct pt_descriptor_id {
    pt_i32 fd;
    bool is_stdio;
};

/* What is returned is valid until the next call. */

struct pt_descriptor *pt_descriptor_opened(struct pt_descriptors *all, const struct pt_event *e,
                                           struct pt_descriptor_id id, pt_u32 path, pt_u32 dir_path);
/* One that an event uses, under this path. Where its open was not seen it is the one that a process was given by its
 * parent, or by its image before exec; else nobody knows where it is. */
struct pt_descriptor *pt_descriptor_used(struct pt_descriptors *all, const struct pt_event *e,
                                         struct pt_descriptor_id id, pt_u32 path);
/* e->tag, under this path (0 = it is not known), is `to_fd`, too. */
void pt_descriptor_duplicated(struct pt_descriptors *all, const struct pt_event *e, pt_i32 to_fd, pt_u32 path);
void pt_descriptors_fini(struct pt_descriptors *all);

static inline struct pt_open_file *pt_descriptor_open_file(const struct pt_descriptors *all,
                                                           const struct pt_descriptor *descriptor)
{
    return &all->open_files.items[descriptor->open_file - 1];
}

#endif
