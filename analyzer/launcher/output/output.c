/* SPDX-License-Identifier: MIT
 *
 * output.c - Owns: which channels a stage has, and their life. Threads: main only. Never: reads our stdin.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fd.h"
#include "util/mem.h"
#include "util/text/fmt.h"
#include "drainer.h"
#include "terminal.h"

/* The largest size that an unprivileged process may request; little memory compared with that of a stage. */
#define PIPE_BYTES (1 << 20)

/* ---- what we have ---- */
static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void find_channels(struct pt_output *output)
{
    for (int i = 0; i < 2; i++) {
        const int fd = STDOUT_FILENO + i;
        output->channel_of[i] = -1;
        if (!pt_outlet_is_open(fd))
            continue;
        /* One for both, so that their order is kept. */
        if (i && output->n_channels && same_file(STDOUT_FILENO, fd)) {
            output->channel_of[i] = 0;
            continue;
        }
        struct pt_output_channel *channel = &output->channels[output->n_channels];
        *channel = (struct pt_output_channel){.child_fd = -1, .read_fd = -1};
        pt_outlet_open(&channel->sink, fd);
        channel->kind = channel->sink.is_terminal ? PT_OUTPUT_TERMINAL : PT_OUTPUT_PIPE;
        output->channel_of[i] = output->n_channels++;
    }
}

static int open_pipe(struct pt_output_channel *channel, struct pt_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return pt_fail_code(err, 125, "cannot make a pipe for the stage's output: %s", strerror(errno));
    channel->read_fd = pt_fd_above_standard(ends[0]);
    channel->child_fd = pt_fd_above_standard(ends[1]);
    /* Each end has flags of its own: the stage's blocks. */
    if (channel->read_fd < 0 || channel->child_fd < 0 || fcntl(channel->read_fd, F_SETFL, O_NONBLOCK) < 0)
        return pt_fail_code(err, 125, "cannot make a pipe for the stage's output: %s", strerror(errno));
    /* Many pipes of one user, and it stays small. */
    int bytes = fcntl(channel->read_fd, F_SETPIPE_SZ, PIPE_BYTES);
    if (bytes < 0)
        bytes = fcntl(channel->read_fd, F_GETPIPE_SZ);
    channel->capacity_bytes = bytes > 0 ? (size_t)bytes : PIPE_BUF;
    return 0;
}

static int open_channel(struct pt_output_channel *channel, struct pt_error *err)
{
    channel->head.bytes = pt_malloc(PT_OUTPUT_PIECE_BYTES);
    channel->tail.bytes = pt_malloc(PT_OUTPUT_PIECE_BYTES);
    if (channel->kind == PT_OUTPUT_TERMINAL &&
        pt_terminal_like(channel->sink.fd, &channel->read_fd, &channel->child_fd) == 0)
        return 0;
    /* No pseudo-terminal to be had (none left, no /dev/pts): a pipe will do. */
    channel->kind = PT_OUTPUT_PIPE;
    return open_pipe(channel, err);
}

int pt_output_open(struct pt_output *ret_output, int logs_dir_fd, const char *stage, struct pt_error *err)
{
    *ret_output = (struct pt_output){.log.fd = -1};
    find_channels(ret_output);
    int result = pt_log_open(&ret_output->log, logs_dir_fd, stage, err);
    for (int i = 0; i < ret_output->n_channels && result == 0; i++)
        result = open_channel(&ret_output->channels[i], err);
    if (result < 0)
        pt_output_finish(ret_output);
    return result;
}

void pt_output_child_fds(const struct pt_output *output, int ret_fds[2])
{
    for (int i = 0; i < 2; i++)
        ret_fds[i] = output->channel_of[i] < 0 ? -1 : output->channels[output->channel_of[i]].child_fd;
}

bool pt_output_resize(struct pt_output *output)
{
    bool changed = false;
    for (int i = 0; i < output->n_channels; i++) {
        const struct pt_output_channel *channel = &output->channels[i];
        if (channel->kind == PT_OUTPUT_TERMINAL && pt_terminal_resize(channel->read_fd, channel->sink.fd))
            changed = true;
    }
    return changed;
}

/* ---- the end ---- */
/* The figures for the notes are kept. */
static void close_channel(struct pt_output_channel *channel)
{
    if (channel->read_fd >= 0)
        close(channel->read_fd);
    channel->read_fd = -1;
    free(channel->head.bytes);
    free(channel->tail.bytes);
    free(channel->backlog.items);
    channel->head.bytes = channel->tail.bytes = NULL;
    channel->backlog.items = NULL;
    channel->kind = PT_OUTPUT_NONE;
    pt_outlet_close(&channel->sink);
}

void pt_output_finish(struct pt_output *output)
{
    int held_fds[2], n_held = 0;
    for (int i = 0; i < output->n_channels; i++) {
        struct pt_output_channel *channel = &output->channels[i];
        pt_output_close_child(channel);
        if (channel->read_fd >= 0 && pt_output_read_rest(output, channel))
            held_fds[n_held++] = channel->read_fd;
    }
    if (n_held && pt_drainer_start(held_fds, n_held, &output->log) < 0)
        output->drainer_problem = errno;
    for (int i = 0; i < output->n_channels; i++)
        close_channel(&output->channels[i]);
    output->channel_of[0] = output->channel_of[1] = -1;
    pt_log_close(&output->log);
}

static void note_unpassed(const struct pt_output *output, const struct pt_output_channel *channel, struct pt_str *out)
{
    const char *name = channel->sink.fd == STDOUT_FILENO ? "stdout" : "stderr";
    if (channel->sink.problem && output->log.problem) /* as by the same full disk */
        pt_str_printf(out, "%s could not be written any more (%s): it misses %s, which may not be in logs/%s either. ",
                      name, strerror(channel->sink.problem), pt_fmt_bytes(channel->sink.lost_bytes).text,
                      output->log.name);
    else if (channel->sink.problem)
        pt_str_printf(out, "%s could not be written any more (%s): the rest is only in logs/%s. ", name,
                      strerror(channel->sink.problem), output->log.name);
    else if (channel->unpassed_bytes)
        pt_str_printf(out, "%s did not take the last %s%s%s. ", name, pt_fmt_bytes(channel->unpassed_bytes).text,
                      output->log.problem ? "" : ": they are only in logs/",
                      output->log.problem ? "" : output->log.name);
    if (channel->lost_bytes)
        pt_str_printf(out, "%s misses %s: logs/%s was emptied while they waited there. ", name,
                      pt_fmt_bytes(channel->lost_bytes).text, output->log.name);
}

void pt_output_notes(const struct pt_output *output, struct pt_str *out)
{
    for (int i = 0; i < output->n_channels; i++)
        note_unpassed(output, &output->channels[i], out);
    if (output->log.problem)
        pt_str_printf(out, "logs/%s is not complete: %s. ", output->log.name, strerror(output->log.problem));
    if (output->drainer_problem)
        pt_str_printf(out, "what it left running cannot write to its output any more: %s. ",
                      strerror(output->drainer_problem));
}
