/* SPDX-License-Identifier: MIT
 *
 * output_log.h - the log of a stage: a file of its own in logs/, readable by its owner alone.
 */
#ifndef PT_LAUNCHER_OUTPUT_LOG_H
#define PT_LAUNCHER_OUTPUT_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "../util/error.h"
#include "../util/str.h"

struct pt_log {
    int dir_fd;
    int fd;                /* for appending */
    int problem;           /* errno that ended it */
    char name[128];        /* train.log; train.2.log where that was taken */
    char raw_name[2][128]; /* .train.stdout, .train.stderr; empty = there is none */
};

/* Make the log, and the raw files beside it that are wanted (the others are -1). Never follows a link, never opens what
 * is there already. */
int pt_log_open(struct pt_log *ret_log, int dir_fd, const char *stage, const bool want_raw[2], int ret_raw_fds[2],
                struct pt_error *err);
/* The first failure ends the log. */
void pt_log_write(struct pt_log *log, const char *bytes, size_t n);
void pt_log_close(struct pt_log *log, bool keep_raw);

/* A name without '/', control characters or a leading dot, of at most 100 bytes. */
void pt_log_safe_name(struct pt_str *out, const char *stage);

#endif
