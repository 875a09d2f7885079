/* SPDX-License-Identifier: MIT
 *
 * folder.h - a folder of files that are written side by side, and that has its name only when all of them are whole.
 * No file is held open, so there may be any number of them.
 */
#ifndef PT_EXPORT_TABLE_FOLDER_H
#define PT_EXPORT_TABLE_FOLDER_H

#include "export/out/sink.h"
#include "util/map.h"
#include "util/str.h"
#include "util/vec.h"

struct pt_folder_file {
    char *path; /* below the folder */
    struct pt_str buffer;
};

struct pt_folder {
    int fd; /* of the folder; -1 = there is none */
    struct pt_out_place place;
    char *temporary; /* the name that it has now */
    struct {
        PT_VEC(struct pt_folder_file *);
    } files;
    pt_u64 bytes, max_bytes; /* 0 = any */
    struct pt_error error;   /* the first one; exit_code and text are empty = none */
    bool has_failed;
};

/* Nothing may be in a folder that is there already. -1 with err. */
int pt_folder_begin(struct pt_folder *folder, const struct pt_out_place *place, pt_u64 max_bytes, struct pt_error *err);
/* A new file at a path without "..", whose folders are made. The folder owns it. */
struct pt_folder_file *pt_folder_file(struct pt_folder *folder, const char *path);
/* The caller has added to the buffer of a file. */
void pt_folder_wrote(struct pt_folder *folder, struct pt_folder_file *file);
/* Names it; or, when anything failed, -1 with err. Then, and without this, pt_folder_fini removes all of it. */
int pt_folder_finish(struct pt_folder *folder, struct pt_error *err);
void pt_folder_fini(struct pt_folder *folder);

#endif
