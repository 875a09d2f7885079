/* SPDX-License-Identifier: MIT
 *
 * stacks/descriptors.c - Owns: the meaning of descriptors that somebody waits for. Threads: main only. State: none.
 * Never: touches a file that a process waits for: its server may not answer us either.
 */
#include "descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu_profile/code_modules.h"
#include "cpu_profile/python/remote.h"
#include "util/auto.h"
#include "util/small_file.h"
#include "util/str.h"
#include "channel_ends.h"
#include "needs.h"

enum { PEERS_TOLD = 3, DESCRIPTORS_MOST = 256, DESCRIPTORS_TOLD = 4 };

const char *pt_peer_name(struct pt_look *look, pt_u32 pid)
{
    char name[64];
    const struct pt_look_process *process = pt_look_find_process(look, pid);
    if (!pt_small_file_word(name, sizeof name, "/proc/%u/comm", pid))
        return pt_look_text(look, "process %u", pid);
    return pt_look_text(look, "process %u (%s%s)", pid, name, process ? "" : ", not one of these");
}

/* ---- file systems ---- */

/* The last one mounted that `path` lies below: an octal escape in a mount point (a space) hides it, no more. */
static void file_system(pt_u32 pid, const char *path, char *ret_kind, size_t size)
{
    PT_AUTO(pt_freep) char *table = pt_asprintf("/proc/%u/mountinfo", pid), *line = NULL;
    PT_AUTO(pt_fclosep) FILE *file = fopen(table, "re");
    size_t room = 0, longest = 0;
    ret_kind[0] = 0;
    while (file && getline(&line, &room, file) > 0) {
        char at[1024], kind[64];
        const char *behind = strstr(line, " - ");
        if (!behind || sscanf(line, "%*d %*d %*s %*s %1023s", at) != 1 || sscanf(behind, " - %63s", kind) != 1)
            continue;
        const size_t n = strlen(at);
        const bool is_below = !strcmp(at, "/") || (!strncmp(path, at, n) && (path[n] == '/' || !path[n]));
        if (is_below && n >= longest) {
            longest = n;
            snprintf(ret_kind, size, "%s", kind);
        }
    }
}

static const char *served_by_others(const char *kind)
{
    static const char *const kinds[] = {"fuse",   "nfs",  "cifs",   "smb3", "9p",      "ceph",
                                        "lustre", "gpfs", "beegfs", "afs",  "virtiofs"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(kind, kinds[i], strlen(kinds[i])))
            return ", whose server has not answered";
    return "";
}

/* Whoever opens one waits for somebody at its other end. */
static bool is_fifo(pt_u32 pid, const char *path)
{
    PT_AUTO(pt_freep) char *seen_from_here = pt_asprintf("/proc/%u/root%s", pid, path);
    struct stat status;
    return fstatat(AT_FDCWD, seen_from_here, &status, AT_NO_AUTOMOUNT) == 0 && S_ISFIFO(status.st_mode);
}

static const char *name_file(struct pt_look *look, const struct pt_look_thread *thread, const char *path)
{
    char kind[64];
    if (path[0] != '/')
        return path;
    const pt_u32 pid = thread->process->seen_by;
    const char *inside = pt_code_path_below_root((pid_t)pid, path);
    file_system(pid, inside, kind, sizeof kind);
    const char *server = served_by_others(kind);
    if (!*server && is_fifo(pid, inside))
        return pt_look_text(look, "%s, a FIFO: until somebody opens its other end", path);
    return kind[0] ? pt_look_text(look, "%s, on %s%s", path, kind, server) : path;
}

static const char *whole_path(struct pt_look *look, const struct pt_look_thread *thread, const char *path)
{
    char link[32], folder[1024];
    snprintf(link, sizeof link, "/proc/%u/cwd", thread->process->seen_by);
    const ssize_t n = path[0] == '/' ? 0 : readlink(link, folder, sizeof folder - 1);
    if (n <= 0)
        return pt_look_text(look, "%s", path);
    folder[n] = 0;
    return pt_look_text(look, "%s/%s", folder, path);
}

const char *pt_descriptor_path(struct pt_look *look, const struct pt_look_thread *thread, int index)
{
    char text[1024] = "";
    const pt_u64 address = thread->arguments[index];
    /* Up to the end of its page, and then what is behind it. */
    const size_t first = 4096 - address % 4096 < sizeof text - 1 ? 4096 - address % 4096 : sizeof text - 1;
    if (!pt_remote_read(thread->process->seen_by, address, text, first))
        return "?";
    if (!memchr(text, 0, first) &&
        !pt_remote_read(thread->process->seen_by, address + first, text + first, sizeof text - 1 - first))
        text[first] = 0;
    return name_file(look, thread, whole_path(look, thread, text));
}

/* ---- pipes and sockets ---- */

static bool has_holder(const struct pt_holders *holders, pt_u32 pid)
{
    for (size_t i = 0; i < holders->n; i++)
        if (holders->items[i] == pid)
            return true;
    return false;
}

/* Who is there, and that the thread waits for them. */
static const char *at_other_end(struct pt_look *look, struct pt_look_thread *thread, pt_u64 inode, enum pt_end end)
{
    const char *verb = end == PT_END_WRITE ? "written by" : end == PT_END_READ ? "read by" : "connected to";
    struct pt_holders holders = {0};
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const bool is_whole = pt_channel_ends_holders(look, inode, end, &holders);
    const pt_u32 own = thread->process->pid;
    const bool is_own = has_holder(&holders, own);
    size_t told = 0;
    for (size_t i = 0; i < holders.n; i++) {
        pt_needs_process(thread, holders.items[i]);
        if (holders.items[i] != own && told++ < PEERS_TOLD)
            pt_str_printf(&text, "%s%s", told > 1 ? ", " : "", pt_peer_name(look, holders.items[i]));
    }
    if (told > PEERS_TOLD)
        pt_str_printf(&text, " and %zu others", told - PEERS_TOLD);
    if (!is_whole || !holders.n || pt_may_be_signalled(look, thread->process))
        thread->may_go_on = true;
    free(holders.items);
    if (told)
        return pt_look_text(look, "%s %s%s", verb, pt_str_text(&text), is_own ? " and this one" : "");
    return is_own ? pt_look_text(look, "%s nobody but this process itself%s", verb,
                                 is_whole ? "" : ", as far as can be seen")
                  : "nobody that can be seen has its other end";
}

static const char *name_socket(struct pt_look *look, struct pt_look_thread *thread, pt_u64 inode)
{
    struct pt_socket found;
    pt_channel_ends_socket(thread->process->pid, inode, &found);
    if (!found.name[0])
        return "socket";
    if (found.is_listening || !found.peer_inode) {
        thread->may_go_on = true;
        return pt_look_text(look, "%s", found.name);
    }
    return pt_look_text(look, "%s, %s", found.name, at_other_end(look, thread, found.peer_inode, PT_END_ANY));
}

static const char *name_target(struct pt_look *look, struct pt_look_thread *thread, const char *target, bool writes)
{
    unsigned long long inode;
    if (sscanf(target, "pipe:[%llu]", &inode) == 1)
        return pt_look_text(look, "%s, %s", target,
                            at_other_end(look, thread, inode, writes ? PT_END_READ : PT_END_WRITE));
    if (sscanf(target, "socket:[%llu]", &inode) == 1)
        return name_socket(look, thread, inode);
    thread->may_go_on = true;
    if (!strncmp(target, "/dev/pts/", 9) || !strcmp(target, "/dev/tty"))
        return pt_look_text(look, "%s, a terminal: somebody types", target);
    return name_file(look, thread, target);
}

const char *pt_descriptor_wait(struct pt_look *look, struct pt_look_thread *thread, int fd, bool writes)
{
    char path[64], target[1024];
    snprintf(path, sizeof path, "/proc/%u/fd/%d", thread->process->seen_by, fd);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    if (n <= 0) {
        thread->may_go_on = true;
        return pt_look_text(look, "%d (not open any more)", fd);
    }
    return pt_look_text(look, "%d (%s)", fd, name_target(look, thread, target, writes));
}

/* ---- several ---- */

struct wanted {
    PT_VEC(struct pollfd);
    bool is_cut;
};

static void want(struct wanted *wanted, int fd, short events)
{
    const struct pollfd one = {.fd = fd, .events = events};
    wanted->is_cut |= wanted->n >= DESCRIPTORS_MOST;
    if (wanted->n < DESCRIPTORS_MOST)
        pt_vec_push(wanted, one);
}

static bool of_poll(const struct pt_look_thread *thread, struct wanted *wanted)
{
    struct pollfd polled[DESCRIPTORS_MOST];
    const pt_u64 n = thread->arguments[1] < DESCRIPTORS_MOST ? thread->arguments[1] : DESCRIPTORS_MOST;
    wanted->is_cut = n != thread->arguments[1];
    if (n && !pt_remote_read(thread->process->seen_by, thread->arguments[0], polled, n * sizeof *polled))
        return false;
    for (pt_u64 i = 0; i < n; i++)
        if (polled[i].fd >= 0)
            want(wanted, polled[i].fd, polled[i].events);
    return true;
}

static bool of_select(const struct pt_look_thread *thread, struct wanted *wanted)
{
    static const short events[] = {POLLIN, POLLOUT, POLLPRI};
    const int n = (int)thread->arguments[0] < FD_SETSIZE ? (int)thread->arguments[0] : FD_SETSIZE;
    for (int i = 0; i < 3; i++) {
        fd_set set;
        if (thread->arguments[i + 1] &&
            !pt_remote_read(thread->process->seen_by, thread->arguments[i + 1], &set, (size_t)(n + 63) / 64 * 8))
            return false;
        for (int fd = 0; thread->arguments[i + 1] && fd < n; fd++)
            if (FD_ISSET(fd, &set))
                want(wanted, fd, events[i]);
    }
    return true;
}

/* "tfd:        5 events:       19 data: ..." */
static bool of_epoll(const struct pt_look_thread *thread, struct wanted *wanted)
{
    PT_AUTO(pt_freep)
    char *path = pt_asprintf("/proc/%u/fdinfo/%d", thread->process->seen_by, (int)thread->arguments[0]), *line = NULL;
    PT_AUTO(pt_fclosep) FILE *file = fopen(path, "re");
    size_t room = 0;
    int fd;
    unsigned events;
    while (file && getline(&line, &room, file) > 0)
        if (sscanf(line, "tfd: %d events: %x", &fd, &events) == 2)
            want(wanted, fd, (short)events);
    return file != NULL;
}

static bool has_limit(const struct pt_look_thread *thread)
{
    switch (thread->call) {
    case SYS_poll:
        return (int)thread->arguments[2] >= 0;
    case SYS_ppoll:
        return thread->arguments[2] != 0;
    case SYS_select:
    case SYS_pselect6:
        return thread->arguments[4] != 0;
    default:
        return (int)thread->arguments[3] >= 0;
    }
}

static bool read_wanted(const struct pt_look_thread *thread, struct wanted *wanted)
{
    switch (thread->call) {
    case SYS_poll:
    case SYS_ppoll:
        return of_poll(thread, wanted);
    case SYS_select:
    case SYS_pselect6:
        return of_select(thread, wanted);
    default:
        return of_epoll(thread, wanted);
    }
}

static void put_wanted(struct pt_look *look, struct pt_look_thread *thread, const struct wanted *wanted,
                       struct pt_str *text)
{
    for (size_t i = 0; i < wanted->n; i++) {
        const bool writes = (wanted->items[i].events & (POLLIN | POLLOUT)) == POLLOUT;
        const char *one = pt_descriptor_wait(look, thread, wanted->items[i].fd, writes);
        if (i < DESCRIPTORS_TOLD)
            pt_str_printf(text, "%s%s", i ? "; " : "", one);
    }
    if (wanted->n > DESCRIPTORS_TOLD)
        pt_str_printf(text, "; and %zu others", wanted->n - DESCRIPTORS_TOLD);
}

const char *pt_descriptors_wait(struct pt_look *look, struct pt_look_thread *thread)
{
    struct wanted wanted = {0};
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const bool is_read = read_wanted(thread, &wanted);
    const char *until = has_limit(thread) ? ", for a limited time" : "";
    thread->may_go_on |= !is_read || wanted.is_cut || *until;
    put_wanted(look, thread, &wanted, &text);
    const size_t n = wanted.n;
    free(wanted.items);
    if (!is_read)
        return pt_look_text(look, "waits for some descriptors%s", until);
    if (!n)
        return *until ? "sleeps until a time" : "waits for a signal";
    return pt_look_text(look, "waits for %sdescriptor %s%s", n > 1 ? "one of " : "", pt_str_text(&text), until);
}
