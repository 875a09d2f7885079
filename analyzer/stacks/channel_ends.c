/* SPDX-License-Identifier: MIT
 *
 * stacks/channel_ends.c - Owns: the ends of pipes and sockets on this machine. Threads: main only. Never: opens what a
 * process has open; asks a name service.
 */
#include "channel_ends.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "util/auto.h"
#include "util/process_stat.h"
#include "util/small_file.h"

struct end {
    pt_u64 inode;
    pt_u32 pid;
    int fd;
};

struct pt_channel_ends {
    struct {
        PT_VEC(struct end);
    } ends; /* by inode */
    bool is_whole;
};

/* ---- who has what ---- */

static bool is_of_our_sessions(const struct pt_look *look, pt_u32 pid)
{
    struct pt_process_stat stat;
    if (!pt_process_stat_of((pid_t)pid, &stat))
        return false;
    for (size_t i = 0; i < look->processes.n; i++)
        if (look->processes.items[i]->session == (pt_u32)stat.session)
            return true;
    return false;
}

static void list_ends(struct pt_look *look, pt_u32 pid)
{
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%u/fd", pt_living_thread(pid));
    DIR *directory = opendir(path);
    const struct dirent *entry;
    /* Whoever may not be read got its descriptors from an ancestor: one of another session has none of ours. */
    if (!directory && errno == EACCES && is_of_our_sessions(look, pid))
        look->channel_ends->is_whole = false;
    while (directory && (entry = readdir(directory))) {
        unsigned long long inode;
        const ssize_t n = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (sscanf(target, "pipe:[%llu]", &inode) != 1 && sscanf(target, "socket:[%llu]", &inode) != 1)
            continue;
        const struct end end = {inode, pid, (int)strtol(entry->d_name, NULL, 10)};
        pt_vec_push(&look->channel_ends->ends, end);
    }
    if (directory)
        closedir(directory);
}

static int by_inode(const void *a, const void *b)
{
    const struct end *one = a, *other = b;
    return (one->inode > other->inode) - (one->inode < other->inode);
}

static void scan(struct pt_look *look)
{
    DIR *directory = opendir("/proc");
    const struct dirent *entry;
    look->channel_ends = pt_calloc(1, sizeof *look->channel_ends);
    look->channel_ends->is_whole = directory != NULL;
    while (directory && (entry = readdir(directory))) {
        const pt_u32 pid = (pt_u32)strtoul(entry->d_name, NULL, 10);
        if (pid)
            list_ends(look, pid);
    }
    if (directory)
        closedir(directory);
    if (look->channel_ends->ends.n)
        qsort(look->channel_ends->ends.items, look->channel_ends->ends.n, sizeof *look->channel_ends->ends.items,
              by_inode);
}

static bool is_for(const struct end *end, enum pt_end want)
{
    char text[256];
    const char *at = NULL;
    if (want == PT_END_ANY)
        return true;
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/fdinfo/%d", pt_living_thread(end->pid), end->fd) > 0)
        at = strstr(text, "flags:");
    if (!at)
        return false;
    const long mode = strtol(at + 6, NULL, 8) & O_ACCMODE;
    return mode == O_RDWR || mode == (want == PT_END_READ ? O_RDONLY : O_WRONLY);
}

bool pt_channel_ends_holders(struct pt_look *look, pt_u64 inode, enum pt_end want, struct pt_holders *holders)
{
    if (!look->channel_ends)
        scan(look);
    size_t low = 0, high = look->channel_ends->ends.n;
    const struct end *ends = look->channel_ends->ends.items;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ends[middle].inode < inode)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < look->channel_ends->ends.n && ends[i].inode == inode; i++) {
        bool is_known = false;
        for (size_t j = 0; j < holders->n; j++)
            is_known |= holders->items[j] == ends[i].pid;
        if (!is_known && is_for(&ends[i], want))
            pt_vec_push(holders, ends[i].pid);
    }
    return look->channel_ends->is_whole;
}

void pt_channel_ends_close(struct pt_channel_ends *channel_ends)
{
    if (channel_ends)
        free(channel_ends->ends.items);
    free(channel_ends);
}

/* ---- sockets ---- */

/* The kernel writes addresses as words of its own byte order. */
static void write_address(const char *hex, pt_u32 port, char *to, size_t size)
{
    pt_u32 words[4] = {0};
    char text[INET6_ADDRSTRLEN] = "?";
    const size_t n = strlen(hex) / 8;
    for (size_t i = 0; i < n && i < 4; i++)
        sscanf(hex + 8 * i, "%8x", &words[i]);
    if (n == 1)
        inet_ntop(AF_INET, words, text, sizeof text);
    else
        inet_ntop(AF_INET6, words, text, sizeof text);
    snprintf(to, size, n == 1 ? "%s:%u" : "[%s]:%u", text, port);
}

struct inet_line {
    char local[40], remote[40];
    pt_u32 local_port, remote_port, state;
    unsigned long long inode;
};

static bool read_inet_line(FILE *file, struct inet_line *ret_line)
{
    char *text = NULL;
    size_t room = 0;
    bool is_read = false, is_end = false;
    while (!is_read && !is_end) {
        is_end = getline(&text, &room, file) <= 0;
        is_read = !is_end && sscanf(text, " %*u: %39[0-9A-F]:%x %39[0-9A-F]:%x %x %*s %*s %*s %*u %*u %llu",
                                    ret_line->local, &ret_line->local_port, ret_line->remote, &ret_line->remote_port,
                                    &ret_line->state, &ret_line->inode) == 6;
    }
    free(text);
    return is_read;
}

static pt_u64 find_other_end(pt_u32 pid, const char *table, const struct inet_line *line)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("/proc/%u/net/%s", pid, table);
    PT_AUTO(pt_fclosep) FILE *file = fopen(path, "re");
    struct inet_line other;
    while (file && read_inet_line(file, &other))
        if (other.local_port == line->remote_port && other.remote_port == line->local_port &&
            !strcmp(other.local, line->remote) && !strcmp(other.remote, line->local))
            return other.inode;
    return 0;
}

static bool read_inet(pt_u32 pid, const char *table, pt_u64 inode, struct pt_socket *ret_socket)
{
    enum { LISTENING = 10 };
    PT_AUTO(pt_freep) char *path = pt_asprintf("/proc/%u/net/%s", pid, table);
    PT_AUTO(pt_fclosep) FILE *file = fopen(path, "re");
    struct inet_line line;
    char local[64], remote[64];
    while (file && read_inet_line(file, &line)) {
        if (line.inode != inode)
            continue;
        const char *protocol = table[0] == 't' ? "TCP" : "UDP";
        write_address(line.local, line.local_port, local, sizeof local);
        write_address(line.remote, line.remote_port, remote, sizeof remote);
        ret_socket->is_listening = table[0] == 't' && line.state == LISTENING;
        if (line.remote_port)
            snprintf(ret_socket->name, sizeof ret_socket->name, "%s to %s", protocol, remote);
        else
            snprintf(ret_socket->name, sizeof ret_socket->name, "%s at %s", protocol, local);
        ret_socket->peer_inode = line.remote_port ? find_other_end(pid, table, &line) : 0;
        return true;
    }
    return false;
}

/* Of our own network namespace; an inode of another one is not found. */
static bool read_unix(pt_u64 inode, struct pt_socket *ret_socket)
{
    const struct {
        struct nlmsghdr head;
        struct unix_diag_req ask;
    } request = {{sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0},
                 {AF_UNIX, 0, 0, ~0u, (pt_u32)inode, UDIAG_SHOW_PEER, {~0u, ~0u}}};
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } answer;
    PT_AUTO(pt_closep) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0 || send(fd, &request, sizeof request, 0) != (ssize_t)sizeof request)
        return false;
    const ssize_t n = recv(fd, &answer, sizeof answer, MSG_DONTWAIT);
    if (n < (ssize_t)(sizeof answer.head + sizeof(struct unix_diag_msg)) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    const struct unix_diag_msg *message = NLMSG_DATA(&answer.head);
    const struct nlattr *attribute = (const struct nlattr *)(message + 1);
    ssize_t left = n - (ssize_t)((const char *)attribute - answer.bytes);
    for (; left >= (ssize_t)sizeof *attribute && attribute->nla_len >= sizeof *attribute && attribute->nla_len <= left;
         left -= NLA_ALIGN(attribute->nla_len)) {
        pt_u32 peer;
        if (attribute->nla_type == UNIX_DIAG_PEER && attribute->nla_len >= sizeof *attribute + sizeof peer) {
            memcpy(&peer, attribute + 1, sizeof peer);
            ret_socket->peer_inode = peer;
        }
        attribute = (const struct nlattr *)((const char *)attribute + NLA_ALIGN(attribute->nla_len));
    }
    ret_socket->is_listening = message->udiag_state == 10;
    snprintf(ret_socket->name, sizeof ret_socket->name, "UNIX socket");
    return true;
}

void pt_channel_ends_socket(pt_u32 pid, pt_u64 inode, struct pt_socket *ret_socket)
{
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6"};
    *ret_socket = (struct pt_socket){0};
    if (read_unix(inode, ret_socket))
        return;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (read_inet(pid, tables[i], inode, ret_socket))
            return;
}
