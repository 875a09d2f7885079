/* SPDX-License-Identifier: MIT
 *
 * output_copy.c - Owns: the copying from what a stage writes to, to the log and to our own stdout and stderr. Threads:
 * main only. Never: waits, changes a byte.
 */
#include "output_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "status_line.h"

#define TURN_BYTES (4u << 20)      /* of a pump, then others have their turn */
#define QUIET_NS 5000000u          /* a writer of many small lines does not wake us for each */
#define LOOK_NS 50000000u          /* without inotify */
#define LOOK_SELDOM_NS 500000000u  /* with it: some file systems forget to tell */
#define DRAIN_MAX_BYTES (1u << 20) /* of a terminal on which somebody goes on writing; it holds 64 KiB at most */

/* ---- passing on ---- */
static size_t pass(struct pt_output *output, struct pt_output_channel *channel, const char *bytes, size_t n,
                   pt_u64 now_ns)
{
    struct pt_outlet *sink = &channel->sink;
    struct pt_status_line *line = output->status_line;
    if (line && !sink->problem && !sink->discards && !pt_status_line_erase(line) && sink->is_terminal) {
        sink->blocked = true;
        return 0;
    }
    const size_t taken = pt_outlet_write(sink, bytes, n);
    if (line && taken && !sink->problem && !sink->discards)
        pt_status_line_passed(line, bytes[taken - 1], now_ns);
    return taken;
}

/* ---- a terminal ---- */
static void pump_terminal(struct pt_output *output, struct pt_output_channel *channel, pt_u64 now_ns)
{
    for (size_t turn = 0; turn < TURN_BYTES;) {
        if (channel->pending_at == channel->pending_n) {
            const ssize_t n = read(channel->read_fd, channel->pending, PT_OUTPUT_PIECE_BYTES);
            if (n < 0 && errno == EINTR)
                continue;
            channel->pending_at = channel->pending_n = 0;
            if (n <= 0 || (output->ending && channel->drained_bytes > DRAIN_MAX_BYTES)) {
                channel->done = output->ending;
                return;
            }
            channel->pending_n = (size_t)n;
            channel->drained_bytes += output->ending ? (pt_u64)n : 0;
            turn += (size_t)n;
            pt_log_write(&output->log, channel->pending, (size_t)n);
        }
        channel->pending_at += pass(output, channel, channel->pending + channel->pending_at,
                                    channel->pending_n - channel->pending_at, now_ns);
        if (channel->sink.blocked)
            return;
    }
    output->more = true;
}

/* ---- a file ---- */
static off_t size_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_size : 0;
}

/* A script that says `> /dev/stdout` empties the file and starts anew: so do we. */
static void check_rewritten(struct pt_output *output, struct pt_output_channel *channel, off_t size)
{
    char now[sizeof channel->tail];
    const off_t at = channel->passed - (off_t)channel->tail_n;
    const bool same =
        size >= channel->passed && size >= channel->logged &&
        (!channel->tail_n || (pread(channel->read_fd, now, channel->tail_n, at) == (ssize_t)channel->tail_n &&
                              memcmp(now, channel->tail, channel->tail_n) == 0));
    if (same)
        return;
    channel->passed = channel->logged = 0;
    channel->tail_n = 0;
    output->truncations++;
    if (channel->end > size)
        channel->end = size;
}

static void remember_tail(struct pt_output_channel *channel, const char *bytes, size_t n)
{
    if (!n)
        return;
    channel->tail_n = n < sizeof channel->tail ? n : sizeof channel->tail;
    memcpy(channel->tail, bytes + n - channel->tail_n, channel->tail_n);
}

static char piece[PT_OUTPUT_PIECE_BYTES];

static size_t read_piece(const struct pt_output_channel *channel, off_t from, off_t to)
{
    const size_t wanted = to - from < (off_t)sizeof piece ? (size_t)(to - from) : sizeof piece;
    const ssize_t n = wanted ? pread(channel->read_fd, piece, wanted, from) : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Both at once while they are at the same place, which spares reading twice. */
static void pump_file(struct pt_output *output, struct pt_output_channel *channel, pt_u64 now_ns)
{
    const bool wants_log = output->log.fd >= 0;
    off_t size = size_of(channel->read_fd);
    check_rewritten(output, channel, size);
    if (channel->end >= 0 && size > channel->end)
        size = channel->end;
    size_t turn = 0;
    for (size_t n; wants_log && channel->logged < size && turn < TURN_BYTES; turn += n) {
        const bool both = channel->logged == channel->passed && !channel->sink.blocked;
        if (!(n = read_piece(channel, channel->logged, size)))
            break;
        pt_log_write(&output->log, piece, n);
        channel->logged += (off_t)n;
        const size_t taken = both ? pass(output, channel, piece, n, now_ns) : 0;
        channel->passed += (off_t)taken;
        remember_tail(channel, piece, taken);
    }
    if (channel->sink.discards || channel->sink.problem) {
        channel->passed = size;
        channel->tail_n = 0;
    }
    channel->sink.blocked = false;
    for (size_t n; channel->passed < size && !channel->sink.blocked && turn < TURN_BYTES; turn += n) {
        if (!(n = read_piece(channel, channel->passed, size)))
            break;
        const size_t taken = pass(output, channel, piece, n, now_ns);
        channel->passed += (off_t)taken;
        remember_tail(channel, piece, taken);
    }
    const bool logged = !wants_log || channel->logged >= size;
    output->more = output->more || (!channel->sink.blocked && channel->passed < size) || !logged;
    channel->done = channel->end >= 0 && channel->passed >= size && logged;
}

void pt_output_account(struct pt_output *output, struct pt_output_channel *channel)
{
    const off_t size = channel->kind == PT_OUTPUT_FILE && channel->read_fd >= 0 ? size_of(channel->read_fd) : 0;
    const bool wants_log = output->log.fd >= 0;
    for (size_t n; wants_log && channel->logged < size && (n = read_piece(channel, channel->logged, size));
         channel->logged += (off_t)n)
        pt_log_write(&output->log, piece, n);
    channel->unpassed_bytes = channel->pending_n - channel->pending_at;
    if (size > channel->passed && !channel->sink.problem && !channel->sink.discards)
        channel->unpassed_bytes = (pt_u64)(size - channel->passed);
}

/* ---- all ---- */
void pt_output_pump(struct pt_output *output, pt_u64 now_ns)
{
    char events[4096] __attribute__((aligned(8)));
    while (output->notify_fd >= 0 && read(output->notify_fd, events, sizeof events) > 0)
        ;
    output->more = false;
    for (int i = 0; i < output->n_channels; i++) {
        struct pt_output_channel *channel = &output->channels[i];
        if (channel->kind == PT_OUTPUT_TERMINAL && !channel->done)
            pump_terminal(output, channel, now_ns);
        else if (channel->kind == PT_OUTPUT_FILE)
            pump_file(output, channel, now_ns);
    }
    output->quiet_ns = now_ns + QUIET_NS;
}

bool pt_output_drain(struct pt_output *output, pt_u64 now_ns)
{
    if (!output->ending) {
        output->ending = true;
        for (int i = 0; i < output->n_channels; i++)
            if (output->channels[i].kind == PT_OUTPUT_FILE)
                output->channels[i].end = size_of(output->channels[i].read_fd);
    }
    pt_output_pump(output, now_ns);
    bool done = true;
    for (int i = 0; i < output->n_channels; i++)
        done = done && output->channels[i].done;
    return done;
}

static void lower(pt_u64 *due_ns, pt_u64 to_ns)
{
    if (to_ns < *due_ns)
        *due_ns = to_ns;
}

int pt_output_poll_fds(const struct pt_output *output, pt_u64 now_ns, struct pollfd *ret_fds, pt_u64 *due_ns)
{
    int n = 0;
    bool has_file = false;
    for (int i = 0; i < output->n_channels; i++) {
        const struct pt_output_channel *channel = &output->channels[i];
        has_file = has_file || channel->kind == PT_OUTPUT_FILE;
        if (channel->sink.blocked)
            ret_fds[n++] = pt_outlet_poll(&channel->sink);
        else if (channel->kind == PT_OUTPUT_TERMINAL && !channel->done)
            ret_fds[n++] = (struct pollfd){.fd = channel->read_fd, .events = POLLIN};
    }
    if (output->more)
        lower(due_ns, now_ns);
    if (!has_file)
        return n;
    const bool watching = output->notify_fd >= 0;
    if (watching && now_ns >= output->quiet_ns)
        ret_fds[n++] = (struct pollfd){.fd = output->notify_fd, .events = POLLIN};
    else if (watching)
        lower(due_ns, output->quiet_ns);
    lower(due_ns, now_ns + (watching ? LOOK_SELDOM_NS : LOOK_NS));
    return n;
}
