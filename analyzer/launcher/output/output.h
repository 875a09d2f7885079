/* SPDX-License-Identifier: MIT
 *
 * output.h - what a stage writes to its stdout and stderr: passed through untouched, and kept in logs/STAGE.log.
 *
 *     pt_output_open(&output, logs_dir_fd, "train", &err);
 *     pt_output_child_fds(&output, fds);                      for pt_child_start
 *     ... in the poll loop: pt_output_poll_fds(), then pt_output_pump() ...
 *     ... the stage's root has ended: poll on until pt_output_drain() is true ...
 *     pt_output_finish(&output);
 *
 * On a terminal the stage gets a pseudo-terminal of the same size, so that it behaves as without us; a terminal that is
 * stopped stops the stage. Elsewhere it gets a pipe, which is read at once: a slow reader never slows the stage, what
 * he has not taken yet waits in the log. When the log cannot be written, the reader sets the pace.
 *
 * A process that the stage left behind goes on writing into the log, through a process of its own (output/drainer.h)
 * that ends with it. When the launcher itself is killed by SIGKILL, the stage's next write meets a broken pipe, as
 * under any `| tee`.
 *
 * What differs from running without us: keys that a full-screen program wants raw (it sets that on its stdout) stay
 * with the real terminal; where we write into a file, the stage sees a pipe. Logs have no limit of size.
 */
#ifndef PT_LAUNCHER_OUTPUT_OUTPUT_H
#define PT_LAUNCHER_OUTPUT_OUTPUT_H

#include <poll.h>
#include <sys/types.h>

#include "proftrace/schema.h"
#include "util/error.h"
#include "util/str.h"
#include "util/vec.h"
#include "log.h"
#include "sink.h"

struct pt_status_line;

#define PT_OUTPUT_POLL_MAX 4

enum pt_output_kind { PT_OUTPUT_NONE, PT_OUTPUT_TERMINAL, PT_OUTPUT_PIPE };

/* A part of the log that is not passed on yet. */
struct pt_output_extent {
    off_t at;
    size_t n;
};

struct pt_output_piece {
    char *bytes;
    size_t at, n; /* up to `at` it is passed on */
};

/* One thing that the stage writes to, and where that goes. What is read and not passed on is, from old to new: the
 * head; parts of the log; the tail, which the log did not take. */
struct pt_output_channel {
    enum pt_output_kind kind;
    int child_fd; /* slave of the pseudo-terminal, or the end of the pipe that is written to */
    int read_fd;  /* its master, or the other end; does not block */
    size_t capacity_bytes;
    struct pt_outlet sink;
    struct pt_output_piece head, tail;
    struct {
        PT_VEC(struct pt_output_extent);
    } backlog;
    size_t backlog_at;     /* the first of them */
    pt_u64 quiet_ns;       /* it is not looked at before */
    bool all_read;         /* the end: what the stage wrote is read */
    pt_u64 drained_bytes;  /* read since the end */
    pt_u64 unpassed_bytes; /* when all was over: the destination was full */
    pt_u64 lost_bytes;     /* of the backlog: the log had them no more */
};

struct pt_output {
    struct pt_output_channel channels[2];
    int n_channels;
    int channel_of[2]; /* of stdout and of stderr; -1 = closed */
    struct pt_log log;
    bool ending;
    pt_u64 grace_ns;                    /* the end: until then what others write is passed on, too */
    bool more;                          /* the last pump stopped before everything was done */
    pt_u64 passed_bytes;                /* taken by the destinations */
    int drainer_problem;                /* errno: who was left behind cannot write any more */
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

/* The stage's root has ended: pump what it wrote, and what the rest of it writes in its last moments, as `> >(tee)` in
 * a script does. False while the destination is full or more is left. */
bool pt_output_drain(struct pt_output *output, pt_u64 now_ns);

/* Complete the log, close. What a full destination did not take is not passed on. Somebody who still holds what the
 * stage wrote to gets a process that reads on into the log; what he writes from now on is not passed on. */
void pt_output_finish(struct pt_output *output);

/* After the end: one sentence per thing that went wrong with passing on or logging; none if all is well. */
void pt_output_notes(const struct pt_output *output, struct pt_str *out);

#endif
