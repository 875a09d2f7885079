/* SPDX-License-Identifier: MIT
 *
 * stacks/waits.c - Owns: the meaning of system calls that wait, and deadlocks. Threads: main only. State: none. Never:
 * calls a thread deadlocked that could go on by itself, or by a thread that was not looked at.
 */
#include "waits.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu_profile/python/remote.h"
#include "util/small_file.h"
#include "util/str.h"
#include "registers.h"

enum { MUTEX_OWNER = 8, PIPE_PEERS_SHOWN = 4 }; /* glibc, x86-64 */

static bool is_in(const struct pt_look_thread *thread, const char *part)
{
    for (size_t i = 0; i < thread->lines.n && i < 8; i++)
        if (thread->lines.items[i].function && strstr(thread->lines.items[i].function, part))
            return true;
    return false;
}

static const char *name_of(struct pt_look *look, const struct pt_look_thread *thread, pt_u32 tid)
{
    const struct pt_look_thread *other = pt_look_find(look, tid);
    if (!other)
        return pt_look_text(look, "thread %u, which is not there (any more)", tid);
    return other->process == thread->process ? pt_look_text(look, "thread %u", tid)
                                             : pt_look_text(look, "thread %u of process %u", tid, other->process->pid);
}

static void needs(struct pt_look_thread *thread, pt_u32 tid)
{
    pt_vec_push(&thread->waits_for, tid);
}

struct futex {
    unsigned long long address;
    pt_u32 value, word; /* expected when it began to wait, and now */
    bool has_word, is_pi, is_limited;
};

static pt_u32 mutex_owner(const struct pt_look_thread *thread, const struct futex *futex)
{
    pt_u32 owner = 0;
    if (futex->is_pi && futex->has_word)
        return futex->word & FUTEX_TID_MASK;
    if (futex->value == 2 && futex->word == 2 && is_in(thread, "pthread_mutex") &&
        !pt_remote_read(thread->process->pid, futex->address + MUTEX_OWNER, &owner, sizeof owner))
        return 0;
    return owner;
}

static const char *kind_of_futex(const struct pt_look_thread *thread)
{
    static const struct {
        const char *part, *what;
    } kinds[] = {
        {"take_gil", "the GIL"},
        {"PyEval_RestoreThread", "the GIL"},
        {"PyEval_AcquireThread", "the GIL"},
        {"pthread_cond", "a condition variable"},
        {"sem_", "a semaphore"},
        {"pthread_barrier", "a barrier"},
        {"pthread_rwlock", "a reader-writer lock"},
        {"pthread_mutex", "a mutex"},
        {"lll_lock_wait", "a lock"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_in(thread, kinds[i].part))
            return kinds[i].what;
    return "a futex";
}

static const char *of_futex(struct pt_look *look, struct pt_look_thread *thread)
{
    const pt_u32 command = (pt_u32)thread->arguments[1] & FUTEX_CMD_MASK;
    struct futex futex = {.address = thread->arguments[0],
                          .value = (pt_u32)thread->arguments[2],
                          .is_pi = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2,
                          .is_limited = thread->arguments[3] != 0};
    futex.has_word = pt_remote_read(thread->process->pid, futex.address, &futex.word, sizeof futex.word);
    const char *until = futex.is_limited ? ", for a limited time" : "";
    const pt_u32 owner = mutex_owner(thread, &futex);
    const struct pt_look_thread *joined = pt_look_find(look, futex.value);
    const bool joins = !owner && futex.has_word && futex.word == futex.value && joined && joined != thread &&
                       joined->process == thread->process;
    if ((owner || joins) && !futex.is_limited) /* with a limit it goes on by itself */
        needs(thread, owner ? owner : futex.value);
    if (owner)
        return pt_look_text(look, "waits for the mutex at 0x%llx, held by %s%s", futex.address,
                            name_of(look, thread, owner), until);
    if (joins)
        return pt_look_text(look, "waits for thread %u to end (pthread_join)%s", futex.value, until);
    return pt_look_text(look, "waits for %s at 0x%llx%s", kind_of_futex(thread), futex.address, until);
}

/* ---- children ---- */

static void needs_process(struct pt_look_thread *thread, const struct pt_look_process *process)
{
    for (size_t i = 0; i < process->threads.n; i++)
        needs(thread, process->threads.items[i]->tid);
}

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
        if (n++ < PIPE_PEERS_SHOWN)
            pt_str_printf(&text, " %u%s", process->pid, is_stopped);
        needs_process(thread, process);
    }
    if (!n)
        pt_str_add(&text, " none was found");
    const char *result = pt_look_text(look, "%s%s", pt_str_text(&text), n > PIPE_PEERS_SHOWN ? " and others" : "");
    pt_str_fini(&text);
    return result;
}

/* ---- descriptors ---- */

static const char *descriptor(struct pt_look *look, struct pt_look_thread *thread, const char *verb)
{
    char path[64], target[512];
    const int fd = (int)thread->arguments[0];
    snprintf(path, sizeof path, "/proc/%u/fd/%d", thread->process->pid, fd);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    return pt_look_text(look, "%s descriptor %d (%s)", verb, fd, n > 0 ? target : "not open any more");
}

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
    const char *what = descriptor(look, thread, "waits for the lock of the file of");
    const pt_u32 holder = holder_of_file(thread->process->pid);
    return holder ? pt_look_text(look, "%s, held by process %u", what, holder) : what;
}

/* Calls on a descriptor, their first argument, and others that say all by themselves. */
static const struct {
    long call;
    const char *verb;
    bool has_descriptor;
} calls[] = {
    {SYS_read, "waits for data from", true},
    {SYS_readv, "waits for data from", true},
    {SYS_pread64, "waits for data from", true},
    {SYS_recvfrom, "waits for data from", true},
    {SYS_recvmsg, "waits for data from", true},
    {SYS_write, "waits for room to write to", true},
    {SYS_writev, "waits for room to write to", true},
    {SYS_pwrite64, "waits for room to write to", true},
    {SYS_sendto, "waits for room to write to", true},
    {SYS_sendmsg, "waits for room to write to", true},
    {SYS_accept, "waits for a connection on", true},
    {SYS_accept4, "waits for a connection on", true},
    {SYS_connect, "waits to be connected through", true},
    {SYS_epoll_wait, "waits for events of", true},
    {SYS_epoll_pwait, "waits for events of", true},
    {SYS_poll, "waits for one of some descriptors (poll)", false},
    {SYS_ppoll, "waits for one of some descriptors (poll)", false},
    {SYS_select, "waits for one of some descriptors (select)", false},
    {SYS_pselect6, "waits for one of some descriptors (select)", false},
    {SYS_nanosleep, "sleeps until a time", false},
    {SYS_clock_nanosleep, "sleeps until a time", false},
    {SYS_pause, "waits for a signal", false},
    {SYS_rt_sigsuspend, "waits for a signal", false},
    {SYS_rt_sigtimedwait, "waits for a signal", false},
};

static const char *of_call(struct pt_look *look, struct pt_look_thread *thread)
{
    if (thread->call == SYS_futex)
        return of_futex(look, thread);
    if (thread->call == SYS_flock || thread->call == SYS_fcntl) /* no other fcntl waits */
        return of_file_lock(look, thread);
    if (thread->call == SYS_wait4)
        return child(look, thread, (int)thread->arguments[0]);
    if (thread->call == SYS_waitid)
        return child(look, thread, thread->arguments[0] == P_PID ? (int)thread->arguments[1] : -1);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].call == thread->call)
            return calls[i].has_descriptor ? descriptor(look, thread, calls[i].verb) : calls[i].verb;
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
    return thread->state == 'D'   ? "waits for a device (uninterruptible)"
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
        if (thread->call >= 0 && !pt_registers_same_call(thread))
            thread->call = -1;
    }
}

static void drop_moved(struct pt_look *look)
{
    for (size_t i = 0; i < look->by_tid.n; i++) {
        struct pt_look_thread *thread = thread_at(look, i);
        if (thread->waits_for.n && count_switches(thread) != thread->switches)
            thread->waits_for.n = 0;
    }
}

/* ---- circles ---- */

static bool all_are_stuck(const struct pt_look *look, const struct pt_look_thread *thread)
{
    for (size_t i = 0; i < thread->waits_for.n; i++) {
        const struct pt_look_thread *other = pt_look_find(look, thread->waits_for.items[i]);
        if (!other || !other->is_deadlocked)
            return false;
    }
    return thread->waits_for.n > 0;
}

/* Any of those that a thread waits for could let it go on: deadlocked are the most threads that wait only for one
 * another. Returns how many. */
static size_t find_deadlocked(struct pt_look *look)
{
    size_t n = 0;
    bool is_changed = true;
    for (size_t i = 0; i < look->by_tid.n; i++) {
        struct pt_look_thread *thread = thread_at(look, i);
        thread->is_deadlocked = thread->waits_for.n > 0;
    }
    while (is_changed) {
        is_changed = false;
        n = 0;
        for (size_t i = 0; i < look->by_tid.n; i++) {
            struct pt_look_thread *thread = thread_at(look, i);
            if (thread->is_deadlocked && !all_are_stuck(look, thread))
                thread->is_deadlocked = !(is_changed = true);
            n += thread->is_deadlocked;
        }
    }
    return n;
}

void pt_look_waits(struct pt_look *look)
{
    struct pt_str text = {0};
    settle(look);
    for (size_t i = 0; i < look->by_tid.n; i++)
        thread_at(look, i)->does = what_it_does(look, thread_at(look, i));
    drop_moved(look);
    if (!find_deadlocked(look))
        return;
    for (size_t i = 0; i < look->by_tid.n; i++)
        if (thread_at(look, i)->is_deadlocked)
            pt_str_printf(&text, "%s %u", text.n ? "," : "", thread_at(look, i)->tid);
    pt_vec_push(&look->conclusions,
                pt_look_text(look, "deadlock: these threads wait only for one another:%s", pt_str_text(&text)));
    pt_str_fini(&text);
}
