/* SPDX-License-Identifier: MIT
 *
 * stacks/waits.c - Owns: the meaning of system calls that wait, at one instant. Threads: main only. State: none. Never:
 * says of a thread that moved in the meantime that it waits.
 */
#include "waits.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/small_file.h"
#include "util/str.h"
#include "circles.h"
#include "descriptors.h"
#include "futexes.h"
#include "idle.h"
#include "needs.h"
#include "registers.h"
#include "wants.h"

enum { CHILDREN_TOLD = 4 };

/* ---- children ---- */

static const char *child(struct pt_look *look, struct pt_look_thread *thread, pt_i64 pid)
{
    struct pt_str text = {0};
    const char *is_stopped = "";
    pt_str_add(&text, pid > 0 ? "waits for its child to end:" : "waits for one of its children to end:");
    size_t n = 0;
    for (size_t i = 0; i < look->processes.n; i++) {
        const struct pt_look_process *process = look->processes.items[i];
        if (process->ppid != thread->process->pid || (pid > 0 && process->pid != (pt_u32)pid))
            continue;
        is_stopped = process->state == 'T' ? " (stopped)" : "";
        if (n++ < CHILDREN_TOLD)
            pt_str_printf(&text, " %u%s", process->pid, is_stopped);
        pt_needs_process(thread, process->pid);
    }
    if (!n)
        pt_str_add(&text, " none was found");
    const char *result = pt_look_text(look, "%s%s", pt_str_text(&text), n > CHILDREN_TOLD ? " and others" : "");
    pt_str_fini(&text);
    return result;
}

/* ---- descriptors ---- */

/* In /proc/locks the one that waits has the number of the lock it waits for, and an arrow. 0 = not found. */
static pt_u32 holder_of_file(pt_u32 waiter)
{
    FILE *locks = fopen("/proc/locks", "re");
    char line[256];
    pt_u32 number, pid, seen = 0, holder = 0, found = 0;
    while (locks && !found && fgets(line, sizeof line, locks)) {
        if (sscanf(line, "%u: -> %*s %*s %*s %u", &number, &pid) == 2)
            found = pid == waiter && number == seen ? holder : 0;
        else if (sscanf(line, "%u: %*s %*s %*s %u", &number, &pid) == 2) {
            seen = number;
            holder = pid;
        }
    }
    if (locks)
        fclose(locks);
    return found;
}

/* No step of a circle: whoever shares the open file can give the lock back, too. */
static const char *of_file_lock(struct pt_look *look, struct pt_look_thread *thread)
{
    const char *file = pt_descriptor_wait(look, thread, (int)thread->arguments[0], false);
    const pt_u32 holder = holder_of_file(thread->process->pid);
    thread->may_go_on = true;
    if (!holder)
        return pt_look_text(look, "waits for the lock of the file of descriptor %s", file);
    pt_needs_process(thread, holder);
    return pt_look_text(look, "waits for the lock of the file of descriptor %s, held by %s", file,
                        pt_peer_name(look, holder));
}

enum argument { NOTHING, READS, WRITES, SEVERAL, PATH, PATH_AT };

/* What waits, the kind of its first arguments, and the words before them. */
static const struct {
    short call;
    unsigned char has;
    const char *verb;
} calls[] = {
    {SYS_read, READS, "waits for data from"},
    {SYS_readv, READS, "waits for data from"},
    {SYS_pread64, READS, "waits for data from"},
    {SYS_recvfrom, READS, "waits for data from"},
    {SYS_recvmsg, READS, "waits for data from"},
    {SYS_write, WRITES, "waits for room to write to"},
    {SYS_writev, WRITES, "waits for room to write to"},
    {SYS_pwrite64, WRITES, "waits for room to write to"},
    {SYS_sendto, WRITES, "waits for room to write to"},
    {SYS_sendmsg, WRITES, "waits for room to write to"},
    {SYS_fsync, WRITES, "waits until all is on disk of"},
    {SYS_fdatasync, WRITES, "waits until all is on disk of"},
    {SYS_close, WRITES, "closes"},
    {SYS_fstat, READS, "asks about"},
    {SYS_getdents64, READS, "lists"},
    {SYS_ioctl, READS, "is in ioctl(2) of"},
    {SYS_accept, READS, "waits for a connection on"},
    {SYS_accept4, READS, "waits for a connection on"},
    {SYS_connect, READS, "waits to be connected through"},
    {SYS_epoll_wait, SEVERAL, NULL},
    {SYS_epoll_pwait, SEVERAL, NULL},
    {SYS_epoll_pwait2, SEVERAL, NULL},
    {SYS_poll, SEVERAL, NULL},
    {SYS_ppoll, SEVERAL, NULL},
    {SYS_select, SEVERAL, NULL},
    {SYS_pselect6, SEVERAL, NULL},
    {SYS_open, PATH, "opens"},
    {SYS_openat, PATH_AT, "opens"},
    {SYS_stat, PATH, "asks about"},
    {SYS_lstat, PATH, "asks about"},
    {SYS_newfstatat, PATH_AT, "asks about"},
    {SYS_statx, PATH_AT, "asks about"},
    {SYS_access, PATH, "asks about"},
    {SYS_faccessat, PATH_AT, "asks about"},
    {SYS_faccessat2, PATH_AT, "asks about"},
    {SYS_statfs, PATH, "asks about the file system of"},
    {SYS_readlink, PATH, "asks about"},
    {SYS_unlink, PATH, "removes"},
    {SYS_unlinkat, PATH_AT, "removes"},
    {SYS_rename, PATH, "renames"},
    {SYS_mkdir, PATH, "makes"},
    {SYS_execve, PATH, "starts"},
    {SYS_nanosleep, NOTHING, "sleeps until a time"},
    {SYS_clock_nanosleep, NOTHING, "sleeps until a time"},
    {SYS_pause, NOTHING, "waits for a signal"},
    {SYS_rt_sigsuspend, NOTHING, "waits for a signal"},
    {SYS_rt_sigtimedwait, NOTHING, "waits for a signal"},
    {SYS_vfork, NOTHING, "waits for its child to start a program or to end"},
    {SYS_semop, NOTHING, "waits for a semaphore of System V"},
    {SYS_semtimedop, NOTHING, "waits for a semaphore of System V"},
    {SYS_sync, NOTHING, "waits until all is on disk"},
    {SYS_io_uring_enter, NOTHING, "waits for an io_uring"},
};

/* Those that wait at one end of a pipe or socket: only there is it known who lets them go on. */
static bool is_transfer(long call)
{
    return call == SYS_read || call == SYS_readv || call == SYS_write || call == SYS_writev || call == SYS_recvfrom ||
           call == SYS_recvmsg || call == SYS_sendto || call == SYS_sendmsg;
}

static const char *of_row(struct pt_look *look, struct pt_look_thread *thread, size_t row)
{
    const char *verb = calls[row].verb;
    switch ((enum argument)calls[row].has) {
    case SEVERAL:
        return pt_descriptors_wait(look, thread);
    case PATH:
    case PATH_AT:
        return pt_look_text(look, "%s %s", verb, pt_descriptor_path(look, thread, calls[row].has == PATH_AT));
    case READS:
    case WRITES:
        thread->may_go_on |= !is_transfer(thread->call);
        return pt_look_text(look, "%s descriptor %s", verb,
                            pt_descriptor_wait(look, thread, (int)thread->arguments[0], calls[row].has == WRITES));
    case NOTHING:
        break;
    }
    return verb;
}

static const char *of_call(struct pt_look *look, struct pt_look_thread *thread)
{
    if (thread->call == SYS_futex)
        return pt_futex_wait(look, thread);
    if (thread->call == SYS_flock || thread->call == SYS_fcntl) /* no other fcntl waits */
        return of_file_lock(look, thread);
    if (thread->call == SYS_wait4)
        return child(look, thread, (int)thread->arguments[0]);
    if (thread->call == SYS_waitid)
        return child(look, thread, thread->arguments[0] == P_PID ? (int)thread->arguments[1] : -1);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].call == thread->call)
            return of_row(look, thread, i);
    return pt_look_text(look, "is in system call %ld", thread->call);
}

static const char *what_it_does(struct pt_look *look, struct pt_look_thread *thread)
{
    if (thread->state == 'Z' || thread->state == 'X')
        return "has ended";
    if (thread->state == 'T')
        return pt_look_text(look, "is stopped by a signal; `kill -CONT %u` lets it go on", thread->process->pid);
    if (thread->state == 't')
        return pt_look_text(look, "is stopped by a debugger, process %u", thread->process->traced_by);
    if (thread->call >= 0)
        return of_call(look, thread);
    return thread->state == 'D'   ? "waits for a page of its memory to be read, or for a device"
           : thread->state == 'S' ? "goes on: it was at different places while it was looked at"
                                  : "runs";
}

/* ---- at one instant ---- */

static pt_u64 count_switches(const struct pt_look_thread *thread)
{
    char text[4096];
    uint64_t voluntary = 0, forced = 0;
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/task/%u/status", thread->process->pid, thread->tid) > 0) {
        pt_small_file_number(text, "voluntary_ctxt_switches:", &voluntary);
        pt_small_file_number(text, "nonvoluntary_ctxt_switches:", &forced);
    }
    return voluntary + forced;
}

static struct pt_look_thread *thread_at(const struct pt_look *look, size_t i)
{
    return (struct pt_look_thread *)(uintptr_t)look->by_tid.entries[i].value;
}

/* Whoever asks again and again for a lock is between two calls at times. */
static bool is_in_it_again(const struct pt_look_thread *thread)
{
    enum { TRIES = 5 };
    for (int i = 0; i < TRIES; i++) {
        if (pt_registers_same_call(thread))
            return true;
        if (thread->call != SYS_futex)
            break;
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    return false;
}

/* From here to drop_moved, what waits is as it was: what is read of locks in between belongs together. */
static void settle(struct pt_look *look)
{
    bool was_stopped = false;
    for (size_t i = 0; i < look->by_tid.n; i++)
        was_stopped |= thread_at(look, i)->was_stopped;
    if (was_stopped) /* it has to come back to its wait */
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    for (size_t i = 0; i < look->by_tid.n; i++) {
        struct pt_look_thread *thread = thread_at(look, i);
        thread->switches = count_switches(thread);
        if (thread->call >= 0 && !is_in_it_again(thread))
            thread->call = -1;
    }
}

static void drop_moved(struct pt_look *look)
{
    for (size_t i = 0; i < look->by_tid.n; i++) {
        struct pt_look_thread *thread = thread_at(look, i);
        if (!thread->asks_again && count_switches(thread) != thread->switches)
            thread->may_go_on = true;
    }
}

void pt_look_waits(struct pt_look *look)
{
    settle(look);
    for (size_t i = 0; i < look->by_tid.n; i++) {
        struct pt_look_thread *thread = thread_at(look, i);
        thread->does = what_it_does(look, thread);
        thread->wants = pt_wants(thread);
    }
    drop_moved(look);
    pt_look_idle(look); /* takes a moment for each CPU: by now it is known what moved */
    pt_look_conclude(look);
}
