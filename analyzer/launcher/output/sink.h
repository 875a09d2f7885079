/* SPDX-License-Identifier: MIT
 *
 * output/sink.h - writes to one of our own descriptors without ever waiting for its reader, which may be a pager that
 * does not read or a terminal stopped by Ctrl-S.
 */
#ifndef PT_LAUNCHER_OUTPUT_SINK_H
#define PT_LAUNCHER_OUTPUT_SINK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_outlet {
    int fd;     /* ours; -1 = closed */
    int own_fd; /* the same terminal or pipe opened once more, non-blocking; -1 = by the shared descriptor */
    bool is_terminal;
    bool is_socket;
    bool can_block;
    bool discards; /* /dev/null */
    bool blocked;  /* it was full: poll before the next write */
    int problem;   /* errno of the failure: everything after it is thrown away */
    uint64_t lost_bytes;
};

/* Is it something that a child would have inherited, open for writing? */
bool pt_outlet_is_open(int fd);
void pt_outlet_open(struct pt_outlet *ret_sink, int fd);
void pt_outlet_close(struct pt_outlet *sink);

/* Returns how many bytes were taken: fewer than n when it is full. After a problem it takes everything. */
size_t pt_outlet_write(struct pt_outlet *sink, const char *bytes, size_t n);
/* What to wait for when it is full. */
struct pollfd pt_outlet_poll(const struct pt_outlet *sink);

#endif
