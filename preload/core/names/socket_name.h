/* SPDX-License-Identifier: MIT
 *
 * socket_name.h - what a socket is called: by its other side, so that both ends of a connection can be matched.
 *
 *   tcp 127.0.0.1:8080         connected to it; udp, sctp ... likewise, IPv6 as [::1]:53
 *   unix /run/x.sock           connected to it; unix @name is an abstract one
 *   unix /run/x.sock (pid 7)   accepted there, from a process
 *   tcp bound 0.0.0.0:8080     waiting there, connected to none
 *   tcp socket                 neither
 *   socket:[12345]             one of a pair, the kernel's own name
 *
 * IPv4 inside IPv6 is written as IPv4: the other side calls it so. All ids are 0 when the kernel may not be asked (a
 * sandbox) or has no answer. A few raw system calls each, so once per connection.
 */
#ifndef PT_CORE_NAMES_SOCKET_NAME_H
#define PT_CORE_NAMES_SOCKET_NAME_H

#include "core/compiler.h"
#include "core/text.h"

/* A fresh socket, from the arguments of socket(). */
pt_u32 pt_socket_kind_id(int domain, int type, int protocol);
/* An address that belongs to no socket: readable. */
pt_u32 pt_plain_address_id(const void *address, pt_u32 bytes);
/* Both ends after connect. The address is the program's: the kernel must have read it. ret_local may be NULL. What
 * cannot be known is left as it is. */
void pt_socket_connect_ids(int fd, const void *address, pt_u32 bytes, pt_u32 *ret_peer, pt_u32 *ret_local);
/* Both ends of a connection that was accepted. */
void pt_socket_accept_ids(int fd, pt_u32 *ret_peer, pt_u32 *ret_local);
/* Where it waits. */
pt_u32 pt_socket_bound_id(int fd);
/* "pipe:[inode]", "socket:[inode]". */
pt_u32 pt_inode_id(int fd, const char *kind);

/* For the descriptor table: the best name of a socket that was made behind our back; 0 = none better than the kernel's
 * own. Signals blocked. */
int pt_socket_describe(struct pt_text *text, int fd);

#endif
