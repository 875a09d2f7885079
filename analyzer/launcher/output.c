/* SPDX-License-Identifier: MIT
 *
 * output.c - Owns: which channels a stage has, and their life. Threads: main only. Never: reads our stdin.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../util/fmt.h"
#include "../util/mem.h"
#include "output_copy.h"
#include "output_terminal.h"

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
        *channel = (struct pt_output_channel){.child_fd = -1, .read_fd = -1, .end = -1};
        pt_outlet_open(&channel->sink, fd);
        channel->kind = channel->sink.is_terminal ? PT_OUTPUT_TERMINAL : PT_OUTPUT_FILE;
        output->channel_of[i] = output->n_channels++;
    }
}

/* No pseudo-terminal to be had (none left, no /dev/pts): a file will do. */
static void open_terminals(struct pt_output *output)
{
    for (int i = 0; i < output->n_channels; i++) {
        struct pt_output_channel *channel = &output->channels[i];
        if (channel->kind != PT_OUTPUT_TERMINAL)
            continue;
        if (pt_terminal_like(channel->sink.fd, &channel->read_fd, &channel->child_fd) < 0)
            channel->kind = PT_OUTPUT_FILE;
        else
            channel->pending = pt_malloc(PT_OUTPUT_PIECE_BYTES);
    }
}

/* ---- files ---- */
static void follow(struct pt_output *output, const char *name)
{
    if (output->notify_fd < 0)
        output->notify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    char path[200];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", output->log.dir_fd, name);
    if (output->notify_fd >= 0 && inotify_add_watch(output->notify_fd, path, IN_MODIFY) < 0) {
        close(output->notify_fd);
        output->notify_fd = -1;
    }
}

static int open_to_read(struct pt_output *output, struct pt_output_channel *channel, const char *name,
                        struct pt_error *err)
{
    const int fd = openat(output->log.dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    channel->read_fd = fd >= 0 && fd <= 2 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd;
    if (channel->read_fd != fd)
        close(fd);
    if (channel->read_fd < 0)
        return pt_fail_code(err, 125, "cannot read logs/%s: %s", name, strerror(errno));
    follow(output, name);
    return 0;
}

static int open_files(struct pt_output *output, int logs_dir_fd, const char *stage, struct pt_error *err)
{
    /* A single file is the log itself. Two, or one beside a terminal, are copied into it as they grow. */
    const bool direct = output->n_channels == 1 && output->channels[0].kind == PT_OUTPUT_FILE;
    bool want_raw[2] = {false, false};
    for (int i = 0; i < output->n_channels && !direct; i++)
        want_raw[output->channels[i].sink.fd - STDOUT_FILENO] = output->channels[i].kind == PT_OUTPUT_FILE;
    int raw_fds[2];
    if (pt_log_open(&output->log, logs_dir_fd, stage, want_raw, raw_fds, err) < 0)
        return -1;
    int result = 0;
    for (int i = 0; i < output->n_channels; i++) {
        struct pt_output_channel *channel = &output->channels[i];
        const int which = channel->sink.fd - STDOUT_FILENO;
        if (channel->kind != PT_OUTPUT_FILE)
            continue;
        channel->child_fd = direct ? output->log.fd : raw_fds[which];
        const char *name = direct ? output->log.name : output->log.raw_name[which];
        if (result == 0)
            result = open_to_read(output, channel, name, err);
    }
    if (direct)
        output->log.fd = -1;
    return result;
}

int pt_output_open(struct pt_output *ret_output, int logs_dir_fd, const char *stage, struct pt_error *err)
{
    *ret_output = (struct pt_output){.notify_fd = -1, .log.fd = -1};
    find_channels(ret_output);
    open_terminals(ret_output);
    if (open_files(ret_output, logs_dir_fd, stage, err) == 0)
        return 0;
    pt_output_finish(ret_output, false);
    return -1;
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
/* What the notes tell is kept. */
static void close_channel(struct pt_output_channel *channel)
{
    if (channel->child_fd >= 0)
        close(channel->child_fd);
    if (channel->read_fd >= 0)
        close(channel->read_fd);
    channel->child_fd = channel->read_fd = -1;
    free(channel->pending);
    channel->pending = NULL;
    channel->kind = PT_OUTPUT_NONE;
    pt_outlet_close(&channel->sink);
}

void pt_output_finish(struct pt_output *output, bool somebody_left)
{
    for (int i = 0; i < output->n_channels; i++) {
        if (output->channels[i].kind != PT_OUTPUT_NONE)
            pt_output_account(output, &output->channels[i]);
        close_channel(&output->channels[i]);
    }
    if (output->notify_fd >= 0)
        close(output->notify_fd);
    output->notify_fd = -1;
    output->channel_of[0] = output->channel_of[1] = -1;
    pt_log_close(&output->log, somebody_left);
}

void pt_output_notes(const struct pt_output *output, struct pt_str *out)
{
    for (int i = 0; i < output->n_channels; i++) {
        const struct pt_output_channel *channel = &output->channels[i];
        const char *name = channel->sink.fd == STDOUT_FILENO ? "stdout" : "stderr";
        if (channel->sink.problem)
            pt_str_printf(out, "%s could not be written any more (%s): the rest is only in logs/%s. ", name,
                          strerror(channel->sink.problem), output->log.name);
        else if (channel->unpassed_bytes)
            pt_str_printf(out, "%s did not take the last %s: they are only in logs/%s. ", name,
                          pt_fmt_bytes(channel->unpassed_bytes).text, output->log.name);
    }
    if (output->log.problem)
        pt_str_printf(out, "logs/%s is not complete: %s. ", output->log.name, strerror(output->log.problem));
    if (output->truncations)
        pt_str_printf(out, "logs/%s was emptied by the stage itself (as `> /dev/stderr` does). ", output->log.name);
}
