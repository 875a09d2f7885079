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
#ifndef PT_CORE_SOCKET_NAME_H
#define PT_CORE_SOCKET_NAME_H

#include "compiler.h"
#include "text.h"

/* A fresh socket, from the arguments of socket(). */
pt_u32 pt_socket_kind_id(int domain, int type, int protocol);
/* An address that the program passed, as the other side of `fd`: the kernel must have read it. */
pt_u32 pt_socket_address_id(int fd, const void *address, pt_u32 bytes);
/* An address that belongs to no socket. */
pt_u32 pt_plain_address_id(const void *address, pt_u32 bytes);
/* The other side, as the kernel knows it. */
pt_u32 pt_socket_peer_id(int fd);
/* The own address, and the same of a socket that waits there. */
pt_u32 pt_socket_local_id(int fd);
pt_u32 pt_socket_bound_id(int fd);
/* "pipe:[inode]", "socket:[inode]". */
pt_u32 pt_inode_id(int fd, const char *kind);

/* For the descriptor table: the best name of a socket that was made behind our back; 0 = none better than the kernel's
 * own. Signals blocked. */
int pt_socket_describe(struct pt_text *text, int fd);

#endif
