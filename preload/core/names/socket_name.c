/* SPDX-License-Identifier: MIT
 *
 * socket_name.c - asks the kernel who is at the ends of a socket, and writes addresses.
 *
 * Entered from hooks of the network family after the real call, and from the descriptor table. Raw system calls only,
 * which leave errno alone; the text is built in the thread's private memory with signals blocked. Never allocates.
 */
#include "socket_name.h"

#include <stddef.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/file/attach.h"
#include "core/private.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "intern.h"

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in in4;
        struct sockaddr_in6 in6;
        struct sockaddr_un path;
        struct sockaddr_storage room;
    };
    pt_u32 bytes;
};

/* ---- protocols ---- */

/* What a socket of this kind is called; its first word is the protocol. */
static const char *kind_name(int domain, int type, int protocol)
{
    if (domain == AF_UNIX)
        return "unix socket";
    if (domain == AF_NETLINK)
        return "netlink socket";
    if (domain == AF_VSOCK)
        return "vsock socket";
    if (domain != AF_INET && domain != AF_INET6)
        return "other socket";
    switch (protocol) {
    case IPPROTO_TCP:
    case IPPROTO_MPTCP: /* its other end may be plain TCP */
        return "tcp socket";
    case IPPROTO_UDP:
        return "udp socket";
    case IPPROTO_SCTP:
        return "sctp socket";
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        return "icmp socket";
    default:
        return type == SOCK_STREAM ? "tcp socket" : type == SOCK_DGRAM ? "udp socket" : "ip socket";
    }
}

static int option_of(int fd, int option)
{
    int value = -1;
    socklen_t bytes = sizeof value;
    return pt_syscall6(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&value, (long)&bytes, 0) == 0 ? value : -1;
}

/* A socket that is asked about, and the text about it. */
struct work {
    struct pt_text text;
    int fd;           /* -1 = none */
    const char *kind; /* NULL = not asked yet */
    pt_u64 mask;
};

static const char *kind_of(struct work *work, int domain)
{
    if (!work->kind)
        work->kind =
            kind_name(domain, 0, domain == AF_INET || domain == AF_INET6 ? option_of(work->fd, SO_PROTOCOL) : 0);
    return work->kind;
}

/* ---- addresses as text ---- */

static void add_ipv4(struct pt_text *text, const pt_u8 *bytes)
{
    for (int i = 0; i < 4; i++) {
        if (i)
            pt_text_byte(text, '.');
        pt_text_number(text, bytes[i], 0);
    }
}

/* The longest run of zeros is written as "::", as everybody writes it (RFC 5952). */
static void add_ipv6(struct pt_text *text, const pt_u8 *bytes)
{
    int from = -1, length = 1;
    for (int i = 0; i < 8; i++) {
        int n = 0;
        while (i + n < 8 && !bytes[2 * (i + n)] && !bytes[2 * (i + n) + 1])
            n++;
        if (n > length) {
            from = i;
            length = n;
        }
        i += n;
    }
    for (int i = 0; i < 8; i++) {
        if (i == from) {
            pt_text_add(text, "::");
            i += length - 1;
            continue;
        }
        if (i && i != from + length)
            pt_text_byte(text, ':');
        const pt_u32 group = (pt_u32)bytes[2 * i] << 8 | bytes[2 * i + 1];
        pt_text_hex(text, group, group > 0xfff ? 4 : group > 0xff ? 3 : group > 0xf ? 2 : 1);
    }
}

static void add_port(struct pt_text *text, in_port_t port)
{
    if (!port) /* raw sockets, and addresses to be looked up */
        return;
    pt_text_byte(text, ':');
    pt_text_number(text, ntohs(port), 0);
}

static void add_in6(struct pt_text *text, const struct sockaddr_in6 *address)
{
    const pt_u8 *bytes = address->sin6_addr.s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address->sin6_addr)) {
        add_ipv4(text, bytes + 12);
    } else {
        pt_text_byte(text, '[');
        add_ipv6(text, bytes);
        if (address->sin6_scope_id) {
            pt_text_byte(text, '%');
            pt_text_number(text, address->sin6_scope_id, 0);
        }
        pt_text_byte(text, ']');
    }
    add_port(text, address->sin6_port);
}

/* An abstract name begins with a zero byte and may hold more of them; a path ends at one. */
static void add_unix(struct pt_text *text, const struct address *address)
{
    const pt_u32 bytes = address->bytes - (pt_u32)offsetof(struct sockaddr_un, sun_path);
    const int is_abstract = !address->path.sun_path[0];
    for (pt_u32 i = 0; i < bytes && i < sizeof address->path.sun_path; i++) {
        const char c = address->path.sun_path[i];
        if (!c && !is_abstract)
            break;
        pt_text_byte(text, c ? c : '@');
    }
}

/* 0 = it has no name: an unbound end of a unix socket, a family without text, a port that is not taken yet. */
static int is_named(const struct address *address)
{
    if (address->bytes < sizeof address->any.sa_family)
        return 0;
    switch (address->any.sa_family) {
    case AF_INET:
        return address->bytes >= sizeof address->in4;
    case AF_INET6:
        return address->bytes >= offsetof(struct sockaddr_in6, sin6_scope_id);
    case AF_UNIX:
        return address->bytes > offsetof(struct sockaddr_un, sun_path);
    default:
        return 0;
    }
}

static void add_address(struct pt_text *text, const struct address *address)
{
    switch (address->any.sa_family) {
    case AF_INET:
        add_ipv4(text, (const pt_u8 *)&address->in4.sin_addr);
        add_port(text, address->in4.sin_port);
        break;
    case AF_INET6:
        add_in6(text, &address->in6);
        break;
    default:
        add_unix(text, address);
    }
}

static void add_with_protocol(struct work *work, const char *between, const struct address *address)
{
    for (const char *kind = kind_of(work, address->any.sa_family); *kind != ' '; kind++)
        pt_text_byte(&work->text, *kind);
    pt_text_add(&work->text, between);
    add_address(&work->text, address);
}

/* ---- what the kernel knows ---- */

static int ask(long call, int fd, struct address *ret)
{
    ret->room.ss_family = AF_UNSPEC;
    ret->in6.sin6_scope_id = 0;
    ret->bytes = sizeof ret->room;
    if (pt_syscall3(call, fd, &ret->room, &ret->bytes) != 0)
        return -1;
    if (ret->bytes > sizeof ret->room)
        ret->bytes = sizeof ret->room;
    return 0;
}

/* The end that connects to a unix socket usually has no name: it is named by its process. */
static int describe_peer(struct work *work)
{
    struct address address;
    struct ucred peer = {0, 0, 0};
    socklen_t bytes = sizeof peer;
    if (ask(SYS_getpeername, work->fd, &address) < 0)
        return 0;
    if (is_named(&address)) {
        add_with_protocol(work, " ", &address);
        return 1;
    }
    if (address.any.sa_family != AF_UNIX || ask(SYS_getsockname, work->fd, &address) < 0 || !is_named(&address))
        return 0;
    add_with_protocol(work, " ", &address);
    if (pt_syscall6(SYS_getsockopt, work->fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&bytes, 0) == 0) {
        pt_text_add(&work->text, " (pid ");
        pt_text_number(&work->text, (pt_u64)peer.pid, 0);
        pt_text_byte(&work->text, ')');
    }
    return 1;
}

static int describe_local(struct work *work, const char *between)
{
    struct address address;
    if (ask(SYS_getsockname, work->fd, &address) < 0 || !is_named(&address))
        return 0;
    if (address.any.sa_family != AF_UNIX && !address.in4.sin_port) /* at the same place in IPv6 */
        return 0;
    add_with_protocol(work, between, &address);
    return 1;
}

int pt_socket_describe(struct pt_text *text, int fd)
{
    struct work work = {.text = *text, .fd = fd};
    int domain;
    if (!describe_peer(&work) && !describe_local(&work, " bound ")) {
        domain = option_of(fd, SO_DOMAIN);
        if (domain != AF_INET && domain != AF_INET6)
            return 0;
        pt_text_add(&work.text, kind_of(&work, domain));
    }
    *text = work.text;
    return 1;
}

/* ---- ids ---- */

/* Room for texts of the calling thread; 0 = nothing can be asked or recorded now. */
static int work_begin(struct work *work, int fd)
{
    struct pt_tracer_thread *t = pt_may_call() ? pt_thread_attached() : 0;
    if (!t || t->busy)
        return 0;
    work->mask = pt_signals_block();
    work->text = (struct pt_text){t->priv->text, 0, sizeof t->priv->text};
    work->text.bytes[0] = 0;
    work->fd = fd;
    work->kind = 0;
    return 1;
}

/* The id of the text, which is empty again then. */
static pt_u32 take_id(struct work *work)
{
    const pt_u32 id = work->text.length ? pt_intern_bytes(work->text.bytes, work->text.length) : 0;
    work->text.length = 0;
    return id;
}

static void work_end(struct work *work)
{
    pt_signals_restore(work->mask);
}

pt_u32 pt_socket_kind_id(int domain, int type, int protocol)
{
    return pt_intern_string(kind_name(domain, type & 0xf, protocol));
}

/* Of an address that the program passed. */
static int address_of(struct address *ret, const void *from, pt_u32 bytes)
{
    ret->bytes = bytes < sizeof ret->room ? bytes : (pt_u32)sizeof ret->room;
    ret->in6.sin6_scope_id = 0;
    __builtin_memcpy(&ret->room, from, ret->bytes);
    return is_named(ret);
}

pt_u32 pt_plain_address_id(const void *address, pt_u32 bytes)
{
    struct work work;
    struct address copy;
    if (!address_of(&copy, address, bytes) || !work_begin(&work, -1))
        return 0;
    add_address(&work.text, &copy);
    const pt_u32 id = take_id(&work);
    work_end(&work);
    return id;
}

static PT_NOINLINE void describe_address(struct work *work, const void *address, pt_u32 bytes)
{
    struct address copy;
    if (address_of(&copy, address, bytes))
        add_with_protocol(work, " ", &copy);
}

void pt_socket_connect_ids(int fd, const void *address, pt_u32 bytes, pt_u32 *ret_peer, pt_u32 *ret_local)
{
    struct work work;
    if (!work_begin(&work, fd))
        return;
    describe_address(&work, address, bytes);
    *ret_peer = take_id(&work);
    if (ret_local) {
        describe_local(&work, " ");
        *ret_local = take_id(&work);
    }
    work_end(&work);
}

void pt_socket_accept_ids(int fd, pt_u32 *ret_peer, pt_u32 *ret_local)
{
    struct work work;
    if (!work_begin(&work, fd))
        return;
    describe_peer(&work);
    *ret_peer = take_id(&work);
    describe_local(&work, " ");
    *ret_local = take_id(&work);
    work_end(&work);
}

pt_u32 pt_socket_bound_id(int fd)
{
    struct work work;
    if (!work_begin(&work, fd))
        return 0;
    describe_local(&work, " bound ");
    const pt_u32 id = take_id(&work);
    work_end(&work);
    return id;
}

pt_u32 pt_inode_id(int fd, const char *kind)
{
    struct work work;
    struct stat status;
    if (!work_begin(&work, fd))
        return 0;
    if (pt_syscall2(SYS_fstat, fd, &status) == 0) {
        pt_text_add(&work.text, kind);
        pt_text_add(&work.text, ":[");
        pt_text_number(&work.text, status.st_ino, 0);
        pt_text_byte(&work.text, ']');
    }
    const pt_u32 id = take_id(&work);
    work_end(&work);
    return id;
}
