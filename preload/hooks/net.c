/* SPDX-License-Identifier: MIT
 *
 * net.c - hooks of the calls that make, connect and use sockets and pipes, and of those that look names up.
 *
 * Entered by any thread of the host, in signal handlers, and in vfork children. Holds nothing across the real call (all
 * may be cancelled or jumped out of). Gives descriptors their names, once per connection; reads and writes on them find
 * the names in the descriptor table. Addresses of the program are read only when the kernel has read them.
 */
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/names/fd_table.h"
#include "core/names/intern.h"
#include "core/names/socket_name.h"
#include "hook.h"

enum { CALL_BIND = 1, CALL_LISTEN, CALL_SHUTDOWN }; /* net_setup's `call` */

/* With io off, closes and copies are not followed: the table would have old names. */
PT_ALWAYS_INLINE pt_u32 path_of(int fd)
{
    return pt_switches.io ? pt_fd_path(fd) : 0;
}

/* ---- made ---- */

static PT_NOINLINE void made_socket(pt_u64 start, pt_u64 end, int domain, int type, int protocol, int ret)
{
    const pt_u32 path = pt_socket_kind_id(domain, type, protocol);
    pt_spent(PT_EV_net_socket, start, end, ret, pt_result_and(ret, path), pt_words(0, ~0u));
    pt_fd_opened(ret, path);
}

/* The two ends of a pipe share one inode, those of a socket pair have two. */
static PT_NOINLINE void made_two(pt_u64 start, pt_u64 end, const char *kind, const int fds[2], int ret)
{
    if (ret != 0) {
        pt_spent(PT_EV_net_socket, start, end, -1, pt_result_and(ret, 0), pt_words(0, ~0u));
        return;
    }
    const int first = fds[0], second = fds[1];
    const pt_u32 path = pt_inode_id(first, kind);
    const pt_u32 to_path = kind[0] == 'p' ? path : pt_inode_id(second, kind);
    pt_spent(PT_EV_net_socket, start, end, first, pt_words((pt_u32)first, path), pt_words(to_path, (pt_u32)second));
    pt_fd_opened(first, path);
    pt_fd_opened(second, to_path);
}

/* ---- connected ---- */

/* Does the result of connect prove that the kernel has read the address? Other errors, like EPERM, may come from a
 * filter before it looks. */
static int address_was_read(int ret)
{
    static const pt_u8 errors[] = {EINPROGRESS, EINTR,       EALREADY,     EISCONN,    ECONNREFUSED,
                                   ETIMEDOUT,   ENETUNREACH, EHOSTUNREACH, ECONNRESET, EADDRNOTAVAIL,
                                   EADDRINUSE,  ENOENT,      EAGAIN};
    const int error = pt_errno();
    if (ret == 0)
        return 1;
    for (unsigned i = 0; i < sizeof errors; i++)
        if (error == errors[i])
            return 1;
    return 0;
}

static PT_NOINLINE void connected(pt_u64 start, pt_u64 end, int fd, const struct sockaddr *address, socklen_t bytes,
                                  int ret)
{
    const int is_under_way = ret < 0 && (pt_errno() == EINPROGRESS || pt_errno() == EINTR);
    pt_u32 peer = 0, local = 0;
    if (address_was_read(ret))
        pt_socket_connect_ids(fd, address, bytes, &peer, ret == 0 || is_under_way ? &local : 0);
    pt_spent(PT_EV_net_connect, start, end, fd, pt_result_and(ret, peer), pt_words(local, 0));
    if (ret == 0 || is_under_way)
        pt_fd_opened(fd, peer); /* 0 when it was disconnected: the table looks it up again */
}

static PT_NOINLINE void accepted(pt_u64 start, pt_u64 end, int fd, int ret)
{
    const pt_u32 path = path_of(fd);
    pt_u32 peer = 0, local = 0;
    if (ret >= 0)
        pt_socket_accept_ids(ret, &peer, &local);
    pt_spent(PT_EV_net_accept, start, end, fd, pt_result_and(ret, peer), pt_words(local, path));
    pt_fd_opened(ret, peer);
}

static PT_NOINLINE void was_bound(pt_u64 start, pt_u64 end, int fd, int ret)
{
    const pt_u32 path = ret == 0 ? pt_socket_bound_id(fd) : path_of(fd);
    pt_spent(PT_EV_net_setup, start, end, fd, pt_result_and(ret, path), pt_words(CALL_BIND, 0));
    if (path && ret == 0)
        pt_fd_opened(fd, path);
}

static PT_NOINLINE void set_up(pt_u64 start, pt_u64 end, int fd, pt_u32 call, int argument, int ret)
{
    pt_spent(PT_EV_net_setup, start, end, fd, pt_result_and(ret, path_of(fd)), pt_words(call, (pt_u32)argument));
}

/* ---- received and sent ---- */

/* What is only looked at will be received again; what lies in the queue of errors was sent. */
PT_ALWAYS_INLINE int moves_nothing(pt_u32 kind, int flags)
{
    return kind == PT_EV_net_receive && pt_unlikely(flags & (MSG_PEEK | MSG_ERRQUEUE));
}

/* Inlined: a hook of send must cost little more than its two clock readings. */
PT_ALWAYS_INLINE void moved(pt_u32 kind, pt_u64 start, pt_u64 end, int fd, int flags, long ret)
{
    const int is_message = ret >= 0 && !moves_nothing(kind, flags);
    const long result = ret < 0 || is_message ? ret : 0;
    pt_spent(kind, start, end, fd, pt_result_and(result, path_of(fd)), pt_words((pt_u32)flags, (pt_u32)is_message));
}

static PT_NOINLINE void moved_messages(pt_u32 kind, pt_u64 start, pt_u64 end, int fd, const struct mmsghdr *messages,
                                       int flags, int ret)
{
    pt_u64 bytes = 0;
    if (ret > 0 && moves_nothing(kind, flags))
        ret = 0;
    for (int i = 0; i < ret; i++)
        bytes += messages[i].msg_len;
    const pt_i32 result = ret < 0 ? -pt_errno() : bytes < INT_MAX ? (pt_i32)bytes : INT_MAX;
    pt_spent(kind, start, end, fd, pt_words((pt_u32)result, path_of(fd)),
             pt_words((pt_u32)flags, ret > 0 ? (pt_u32)ret : 0));
}

/* ---- names ---- */

static PT_NOINLINE void resolved(pt_u64 start, pt_u64 end, const char *name, const char *service, int result)
{
    const pt_u32 name_id = pt_intern_string(name);
    pt_spent(PT_EV_net_resolve, start, end, 0, pt_words((pt_u32)result, name_id),
             pt_words(pt_intern_string(service), 0));
}

static PT_NOINLINE void resolved_address(pt_u64 start, pt_u64 end, const struct sockaddr *address, socklen_t bytes,
                                         int result)
{
    const int was_read = result == 0 || result == EAI_NONAME;
    const pt_u32 name = was_read && address ? pt_plain_address_id(address, bytes) : 0;
    pt_spent(PT_EV_net_resolve, start, end, 0, pt_words((pt_u32)result, name), 0);
}

static PT_NOINLINE void resolved_bytes(pt_u64 start, pt_u64 end, const void *address, socklen_t bytes, int family,
                                       int result)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    const int was_read = result == 0 || result == -HOST_NOT_FOUND;
    pt_u32 name = 0;
    if (was_read && family == AF_INET && bytes == sizeof in4.sin_addr) {
        __builtin_memcpy(&in4.sin_addr, address, sizeof in4.sin_addr);
        name = pt_plain_address_id(&in4, sizeof in4);
    } else if (was_read && family == AF_INET6 && bytes == sizeof in6.sin6_addr) {
        __builtin_memcpy(&in6.sin6_addr, address, sizeof in6.sin6_addr);
        name = pt_plain_address_id(&in6, sizeof in6);
    }
    pt_spent(PT_EV_net_resolve, start, end, 0, pt_words((pt_u32)result, name), 0);
}

/* The reentrant functions return an error number, or 0 without a result. */
static int host_result(int error, struct hostent *const *found, const int *why)
{
    return error ? -error : *found ? 0 : -*why;
}

#include "net.def"
