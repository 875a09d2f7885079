/* SPDX-License-Identifier: MIT
 *
 * output/channel.h - what a stage writes to, where that goes, and what is still on its way.
 */
#ifndef PT_LAUNCHER_OUTPUT_CHANNEL_H
#define PT_LAUNCHER_OUTPUT_CHANNEL_H

#include <sys/types.h>

#include "proftrace/schema.h"
#include "util/vec.h"
#include "log.h"
#include "sink.h"

struct pt_status_line;

#define PT_OUTPUT_PIECE_BYTES (128u * 1024)

enum pt_output_kind { PT_OUTPUT_NONE, PT_OUTPUT_TERMINAL, PT_OUTPUT_PIPE };

/* A piece of the log that is not forwarded yet. */
struct pt_output_extent {
    off_t at;
    size_t n;
};

struct pt_output_piece {
    char *bytes;
    size_t at, n; /* forwarded up to `at` */
};

/* One pipe or terminal that the stage writes to, and its destination. What was read and is not forwarded yet is,
 * from old to new: the head; pieces of the log; the tail, which the log did not take. */
struct pt_output_channel {
#define PT_OUTPUT_PIECE_BYTES (128u * 1024)

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
    pt_u64 next_read_ns;   /* not read again before this time */
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
    bool ends_with_reader; /* who reads our output has gone: the command's next write fails, as without us */
    bool ending;
    pt_u64 grace_ns;                    /* after the stage's end: until then what others write is forwarded, too */
    bool more;                          /* the last pump stopped before everything was done */
    pt_u64 passed_bytes;                /* taken by the destinations */
    int drainer_problem;                /* errno: processes that outlive the stage cannot write any more */
    struct pt_status_line *status_line; /* may be NULL; erased before anything is forwarded */
};

#endif
