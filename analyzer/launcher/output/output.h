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
 * stopped stops the stage. Elsewhere it gets a pipe, which is read at once: a slow reader never slows the stage: what
 * it has not read yet waits in the log. When the log cannot be written, the stage waits for the reader.
 *
 * A process that outlives the stage still writes into the log, through a process of ours (output/drainer.h) that ends
 * with it. When the launcher itself is killed by SIGKILL, the stage's next write fails with a broken pipe, as under any
 * `| tee`.
 *
 * What differs from running without us: a full-screen program that switches its stdout to raw keys does not change the
 * real terminal; where we write into a file, the stage sees a pipe. Logs have no limit of size.
 */
#ifndef PT_LAUNCHER_OUTPUT_OUTPUT_H
#define PT_LAUNCHER_OUTPUT_OUTPUT_H

#include "util/error.h"
#include "util/str.h"
#include "copy.h"

/* `stage` is any text; the log's name is then output->log.name. Exit code 125 on failure: no log can be made. */
int pt_output_open(struct pt_output *ret_output, int logs_dir_fd, const char *stage, struct pt_error *err);

/* What the child gets as 1 and 2; -1 = it stays closed. */
void pt_output_child_fds(const struct pt_output *output, int ret_fds[2]);

/* The window was resized. True: the stage got SIGWINCH before its terminal had the new size; send it again. */
bool pt_output_resize(struct pt_output *output);

/* Complete the log, close. What a full destination did not take is not forwarded. If a process still has the stage's
 * output open, a process of ours goes on reading it into the log; it is not forwarded any more. */
void pt_output_finish(struct pt_output *output);

/* After the end: one sentence for each failure in forwarding or logging; none if there was none. */
void pt_output_notes(const struct pt_output *output, struct pt_str *out);

#endif
