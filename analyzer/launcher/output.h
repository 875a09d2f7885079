/* SPDX-License-Identifier: MIT
 *
 * output.h - what a stage writes to its stdout and stderr: passed through untouched, and kept in logs/STAGE.log.
 *
 *     pt_output_open(&output, logs_dir_fd, "train", &err);
 *     pt_output_child_fds(&output, fds);                      for pt_child_start
 *     ... in the poll loop: pt_output_poll_fds(), then pt_output_pump() ...
 *     ... the stage's root has ended: poll on until pt_output_drain() is true ...
 *     pt_output_finish(&output, somebody_left);
 *
 * On a terminal the stage gets a pseudo-terminal of the same size, so that it behaves as without us. Elsewhere it gets
 * a file in logs/, which we follow: a slow reader never slows the stage, a daemon that it left behind can go on
 * writing, and the log is complete even when we are killed.
 *
 * What differs from running without us: keys that a full-screen program wants raw (it sets that on its stdout) stay
 * with the real terminal; where we write into a pipe, the stage sees a file, so that a full disk under logs/ is an
 * error of its writes, and `> /dev/stderr` in a script empties the log. Logs have no limit of size.
 */
#ifndef PT_LAUNCHER_OUTPUT_H
#define PT_LAUNCHER_OUTPUT_H

#include <poll.h>
#include <sys/types.h>

#include "../util/error.h"
#include "../util/str.h"
#include "output_log.h"
#include "output_sink.h"
#include "proftrace/schema.h"

struct pt_status_line;

#define PT_OUTPUT_POLL_MAX 5

enum pt_output_kind { PT_OUTPUT_NONE, PT_OUTPUT_TERMINAL, PT_OUTPUT_FILE };

/* One thing that the stage writes to, and where that goes. */
struct pt_output_channel {
    enum pt_output_kind kind;
    int child_fd; /* slave of the pseudo-terminal, or the file, for appending */
    int read_fd;  /* its master, or the file, for reading */
    struct pt_outlet sink;
    bool done;             /* drained */
    pt_u64 unpassed_bytes; /* after the end: the destination was full */

    /* of a terminal: what was read and not yet passed on */
    char *pending;
    size_t pending_n, pending_at;
    pt_u64 drained_bytes;

    /* of a file */
    off_t passed, logged; /* up to where */
    off_t end;            /* to be drained up to here; -1 = not ending yet */
    char tail[32];        /* the last bytes that were passed: are they still there? */
    size_t tail_n;
};

struct pt_output {
    struct pt_output_channel channels[2];
    int n_channels;
    int channel_of[2]; /* of stdout and of stderr; -1 = closed */
    struct pt_log log;
    int notify_fd; /* inotify; -1 = look from time to time */
    bool ending;
    bool more;                          /* the last pump stopped before everything was done */
    pt_u64 quiet_ns;                    /* files are not looked at before */
    pt_u64 truncations;                 /* the stage emptied its own output file */
    struct pt_status_line *status_line; /* may be NULL; erased before anything is passed on */
};

/* `stage` is any text; the log's name is then output->log.name. Exit code 125 on failure: no log can be made. */
int pt_output_open(struct pt_output *ret_output, int logs_dir_fd, const char *stage, struct pt_error *err);

/* What the child gets as 1 and 2; -1 = it stays closed. */
void pt_output_child_fds(const struct pt_output *output, int ret_fds[2]);

/* At most PT_OUTPUT_POLL_MAX; returns how many. *due_ns is lowered to when to pump at the latest. */
int pt_output_poll_fds(const struct pt_output *output, pt_u64 now_ns, struct pollfd *ret_fds, pt_u64 *due_ns);

/* Copy what is there; at most some MiB, so that signals and samples have their turn. Never waits. */
void pt_output_pump(struct pt_output *output, pt_u64 now_ns);

/* The window was resized. True: the stage heard SIGWINCH before its terminal had the new size; tell it again. */
bool pt_output_resize(struct pt_output *output);

/* The stage's root has ended: pump what it wrote. False while the destination is full or more is left. */
bool pt_output_drain(struct pt_output *output, pt_u64 now_ns);

/* Complete the log, close, remove what is no longer needed. What a full destination did not take is not passed on.
 * With `somebody_left` the files that a process left behind may still write to stay in logs/. On a terminal its next
 * write fails with EIO from now on: keep the output open and pump it as long as the run lasts. */
void pt_output_finish(struct pt_output *output, bool somebody_left);

/* After the end: one sentence per thing that went wrong with passing on or logging; none if all is well. */
void pt_output_notes(const struct pt_output *output, struct pt_str *out);

#endif
