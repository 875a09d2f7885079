/* SPDX-License-Identifier: MIT
 *
 * output/copy.c - Owns: the copying from what a stage writes to, to the log and to our own stdout and stderr. Threads:
 * main only. Never: waits, changes a byte.
 */
#include "copy.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "launcher/status_line.h"

#define PUMP_BYTES (4u << 20)      /* per pump; then signals and samples are handled */
#define READ_PAUSE_NS 5000000u     /* a writer of many small lines does not wake us for each */
#define DRAIN_MAX_BYTES (1u << 20) /* at the end: what a channel can hold; another process may still write */
/* For processes that see the end of their input only when the stage has ended, as tee does. They may wait for a CPU:
 * with 100 ms the last line was in the log alone now and then, on a machine whose hypervisor took its CPUs that long.
 */
#define GRACE_NS 300000000u
#define BACKLOG_MAX (1u << 20) /* pieces of the log; beyond, the stage has to wait */

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
    output->passed_bytes += taken;
    if (line && taken && !sink->problem && !sink->discards)
        pt_status_line_passed(line, bytes[taken - 1], now_ns);
    return taken;
}

static bool is_empty(const struct pt_output_piece *piece)
{
    return piece->at == piece->n;
}

static bool has_backlog(const struct pt_output_channel *channel)
{
    return channel->backlog_at < channel->backlog.n;
}

static void make_tail_head(struct pt_output_channel *channel)
{
    const struct pt_output_piece empty = {.bytes = channel->head.bytes};
    channel->head = channel->tail;
    channel->tail = empty;
}

/* ---- what waits ---- */
static void push_extent(struct pt_output_channel *channel, off_t at, size_t n)
{
    struct pt_output_extent *last = has_backlog(channel) ? &channel->backlog.items[channel->backlog.n - 1] : NULL;
    if (last && last->at + (off_t)last->n == at)
        last->n += n;
    else if (n)
        pt_vec_push(&channel->backlog, ((struct pt_output_extent){at, n}));
}

static void load_head(const struct pt_log *log, struct pt_output_channel *channel)
{
    struct pt_output_extent *first = &channel->backlog.items[channel->backlog_at];
    const size_t wanted = first->n < PT_OUTPUT_PIECE_BYTES ? first->n : PT_OUTPUT_PIECE_BYTES;
    channel->head.at = 0;
    channel->head.n = pt_log_read(log, first->at, channel->head.bytes, wanted);
    channel->lost_bytes += wanted - channel->head.n;
    first->at += (off_t)wanted;
    first->n -= wanted;
    if (first->n)
        return;
    channel->backlog_at++;
    if (!has_backlog(channel))
        channel->backlog_at = channel->backlog.n = 0;
}

/* Forwards all that is pending, as far as the destination takes it. */
static void pass_waiting(struct pt_output *output, struct pt_output_channel *channel, pt_u64 now_ns)
{
    for (size_t copied_bytes = 0; copied_bytes < PUMP_BYTES;) {
        struct pt_output_piece *head = &channel->head;
        if (is_empty(head) && has_backlog(channel))
            load_head(&output->log, channel);
        else if (is_empty(head) && !is_empty(&channel->tail))
            make_tail_head(channel);
        else if (is_empty(head))
            return;
        const size_t taken = pass(output, channel, head->bytes + head->at, head->n - head->at, now_ns);
        head->at += taken;
        copied_bytes += taken;
        if (channel->sink.blocked)
            return;
    }
    output->more = true;
}

/* ---- reading ---- */
/* A stopped terminal stops the stage, as it would without us. */
static bool may_read(const struct pt_output_channel *channel)
{
    return !channel->all_read && is_empty(&channel->tail) &&
           (channel->kind == PT_OUTPUT_PIPE ? channel->backlog.n - channel->backlog_at < BACKLOG_MAX
                                            : is_empty(&channel->head));
}

static ssize_t read_tail(struct pt_output_channel *channel)
{
    ssize_t n;
    do
        n = read(channel->read_fd, channel->tail.bytes, PT_OUTPUT_PIECE_BYTES);
    while (n < 0 && errno == EINTR);
    return n;
}

static void take(struct pt_output *output, struct pt_output_channel *channel, size_t n, pt_u64 now_ns)
{
    struct pt_output_piece *tail = &channel->tail;
    const size_t logged = pt_log_write(&output->log, tail->bytes, n);
    *tail = (struct pt_output_piece){tail->bytes, 0, n};
    if (is_empty(&channel->head) && !has_backlog(channel)) {
        make_tail_head(channel);
        pass_waiting(output, channel, now_ns);
        return;
    }
    push_extent(channel, pt_log_end(&output->log) - (off_t)logged, logged);
    tail->at = logged;
}

/* After the end: `n` is what read returned. */
static bool is_all(const struct pt_output *output, const struct pt_output_channel *channel, ssize_t n, pt_u64 now_ns)
{
    if (n > 0)
        return channel->drained_bytes > DRAIN_MAX_BYTES;
    return n == 0 || errno != EAGAIN || now_ns >= output->grace_ns;
}

static void read_some(struct pt_output *output, struct pt_output_channel *channel, pt_u64 now_ns)
{
    size_t copied_bytes = 0;
    while (copied_bytes < PUMP_BYTES && may_read(channel)) {
        const ssize_t n = read_tail(channel);
        channel->drained_bytes += output->ending && n > 0 ? (pt_u64)n : 0;
        if (output->ending)
            channel->all_read = is_all(output, channel, n, now_ns);
        if (n <= 0)
            break;
        copied_bytes += (size_t)n;
        take(output, channel, (size_t)n, now_ns);
        if (channel->kind == PT_OUTPUT_PIPE && !output->ending && n < (ssize_t)PT_OUTPUT_PIECE_BYTES)
            break;
    }
    output->more = output->more || copied_bytes >= PUMP_BYTES;
    /* A stage that writes much would fill the pipe during the pause, and wait. */
    if (copied_bytes)
        channel->next_read_ns = copied_bytes < channel->capacity_bytes / 4 ? now_ns + READ_PAUSE_NS : 0;
}

bool pt_output_read_rest(struct pt_output *output, struct pt_output_channel *channel)
{
    pt_u64 unpassed = channel->head.n - channel->head.at + channel->tail.n - channel->tail.at;
    for (size_t i = channel->backlog_at; i < channel->backlog.n; i++)
        unpassed += channel->backlog.items[i].n;
    ssize_t n = 1;
    for (size_t rest = 0; n > 0 && rest <= DRAIN_MAX_BYTES; rest += (size_t)n) {
        if ((n = read_tail(channel)) <= 0)
            break;
        (void)pt_log_write(&output->log, channel->tail.bytes, (size_t)n);
        unpassed += channel->all_read ? 0 : (pt_u64)n;
    }
    channel->unpassed_bytes = unpassed;
    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* ---- all ---- */
/* `yes | head`: a command without us would have been told. */
static void end_with_reader(struct pt_output_channel *channel)
{
    if (channel->sink.problem != EPIPE || channel->read_fd < 0)
        return;
    close(channel->read_fd);
    channel->read_fd = -1;
    channel->all_read = true;
    channel->head.n = channel->tail.n = channel->head.at = channel->tail.at = 0;
    channel->backlog.n = channel->backlog_at = 0;
}

void pt_output_pump(struct pt_output *output, pt_u64 now_ns)
{
    output->more = false;
    for (int i = 0; i < output->n_channels; i++) {
        pass_waiting(output, &output->channels[i], now_ns);
        if (output->ends_with_reader)
            end_with_reader(&output->channels[i]);
        read_some(output, &output->channels[i], now_ns);
    }
}

void pt_output_close_child(struct pt_output_channel *channel)
{
    if (channel->child_fd >= 0)
        close(channel->child_fd);
    channel->child_fd = -1;
}

bool pt_output_drain(struct pt_output *output, pt_u64 now_ns)
{
    if (!output->ending)
        output->grace_ns = now_ns + GRACE_NS;
    output->ending = true;
    for (int i = 0; i < output->n_channels; i++)
        pt_output_close_child(&output->channels[i]);
    pt_output_pump(output, now_ns);
    bool done = true;
    for (int i = 0; i < output->n_channels; i++) {
        const struct pt_output_channel *channel = &output->channels[i];
        done =
            done && channel->all_read && is_empty(&channel->head) && is_empty(&channel->tail) && !has_backlog(channel);
    }
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
    for (int i = 0; i < output->n_channels; i++) {
        const struct pt_output_channel *channel = &output->channels[i];
        const bool is_paused = now_ns < channel->next_read_ns && !output->ending;
        if (channel->sink.blocked)
            ret_fds[n++] = pt_outlet_poll(&channel->sink);
        if (may_read(channel) && is_paused)
            lower(due_ns, channel->next_read_ns);
        else if (may_read(channel))
            ret_fds[n++] = (struct pollfd){.fd = channel->read_fd, .events = POLLIN};
        if (may_read(channel) && output->ending)
            lower(due_ns, output->grace_ns);
    }
    if (output->more)
        lower(due_ns, now_ns);
    return n;
}
