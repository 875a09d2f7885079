/* SPDX-License-Identifier: MIT
 *
 * stacks/channel_ends.h - which processes have a pipe or a socket open, and what a socket is connected to.
 */
#ifndef PT_STACKS_CHANNEL_ENDS_H
#define PT_STACKS_CHANNEL_ENDS_H

#include "types.h"

struct pt_channel_ends;

enum pt_end { PT_END_ANY, PT_END_READ, PT_END_WRITE };

struct pt_holders {
    PT_VEC(pt_u32); /* process ids, each once */
};

/* Of the machine's processes that may be read, by a scan of /proc at the first call. Returns false where one that could
 * have it may not be read. `holders` is added to. */
bool pt_channel_ends_holders(struct pt_look *look, pt_u64 inode, enum pt_end end, struct pt_holders *holders);

struct pt_socket {
    pt_u64 peer_inode; /* 0 = it is on another machine, or not known */
    bool is_listening;
    char name[160]; /* "TCP 127.0.0.1:4000 to 127.0.0.1:80"; "" = not known */
};

void pt_channel_ends_socket(pt_u32 pid, pt_u64 inode, struct pt_socket *ret_socket);
void pt_channel_ends_close(struct pt_channel_ends *channel_ends);

#endif
