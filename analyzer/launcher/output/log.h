/* SPDX-License-Identifier: MIT
 *
 * output/log.h - the log of a stage: a file of its own in logs/, readable by its owner alone.
 */
#ifndef PT_LAUNCHER_OUTPUT_LOG_H
#define PT_LAUNCHER_OUTPUT_LOG_H

#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/str.h"

struct pt_log {
    int fd;         /* for appending, and for reading what was appended */
    int problem;    /* errno that ended it */
    char name[128]; /* train.log; train.2.log if that exists */
};

/* Make it. Never follows a link, never opens what is there already. */
int pt_log_open(struct pt_log *ret_log, int dir_fd, const char *stage, struct pt_error *err);
/* Returns how many bytes are in the log now. The first failure ends it. */
size_t pt_log_write(struct pt_log *log, const char *bytes, size_t n);
/* Up to where it is written. */
off_t pt_log_end(const struct pt_log *log);
/* What was written before. Returns fewer than n bytes only when they are lost. */
size_t pt_log_read(const struct pt_log *log, off_t at, char *ret_bytes, size_t n);
void pt_log_close(struct pt_log *log);

/* A name without '/', control characters or a leading dot, of at most 100 bytes. */
void pt_log_safe_name(struct pt_str *out, const char *stage);

#endif
