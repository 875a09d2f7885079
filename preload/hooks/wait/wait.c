/* SPDX-License-Identifier: MIT
 *
 * wait.c - hooks of the calls that wait for descriptors, time, signals, children and messages.
 *
 * Entered by any thread of the host, in signal handlers, and in vfork children. All are cancellation points and may be
 * jumped out of: nothing is held across the real call, and a call that never returned is no event. Never reads what the
 * program passed before the kernel has read it (except select's timeout: see there).
 */
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "core/file/presence.h"
#include "core/names/fd_table.h"
#include "hooks/hook.h"

#define NS_PER_S 1000000000
#define FOR_EVER (-1)
#define UNKNOWN (-2)

/* ---- descriptors ---- */

PT_ALWAYS_INLINE void watched(pt_u64 start, pt_u64 end, int fd, int ret, pt_i32 timeout, pt_u32 count)
{
    /* With io off, closes and copies are not followed: the table would have old names. */
    const pt_u32 path = pt_switches.io ? pt_fd_path(fd) : 0;
    pt_spent(PT_EV_wait_poll, start, end, fd, pt_result_and(ret, path), pt_words((pt_u32)timeout, count));
}

/* Milliseconds, rounded up: what is not "do not wait" is not 0. */
static pt_i32 to_ms(pt_i64 seconds, pt_i64 fraction, pt_i64 fractions_per_ms)
{
    if (seconds < 0 || fraction < 0)
        return UNKNOWN; /* the kernel refuses it */
    if (seconds >= INT_MAX / 1000)
        return INT_MAX;
    return (pt_i32)(seconds * 1000 + (fraction + fractions_per_ms - 1) / fractions_per_ms);
}

static pt_i64 timeout_ns(long ret, const struct timespec *timeout)
{
    if (!timeout)
        return FOR_EVER;
    if (ret < 0 && pt_errno() != EINTR && pt_errno() != EAGAIN)
        return UNKNOWN;
    return timeout->tv_sec < INT_MAX ? timeout->tv_sec * NS_PER_S + timeout->tv_nsec : LONG_MAX;
}

static pt_i32 timeout_ms(long ret, const struct timespec *timeout)
{
    if (!timeout)
        return FOR_EVER;
    if (ret < 0 && pt_errno() != EINTR)
        return UNKNOWN;
    return to_ms(timeout->tv_sec, timeout->tv_nsec, 1000000);
}

/* The first descriptor that is ready; if poll found none, the first that it waited for. */
PT_ALWAYS_INLINE void polled(pt_u64 start, pt_u64 end, const struct pollfd *fds, nfds_t count, int ret, pt_i32 timeout)
{
    nfds_t first = 0;
    if (ret > 0)
        while (first + 1 < count && !fds[first].revents)
            first++;
    watched(start, end, ret >= 0 && count ? fds[first].fd : -1, ret, timeout, (pt_u32)count);
}

PT_ALWAYS_INLINE void took_events(pt_u64 start, pt_u64 end, int fd, int most, int ret, pt_i32 timeout)
{
    watched(start, end, fd, ret, timeout, (pt_u32)most);
}

struct sets {
    const fd_set *of[3]; /* to read, to write, exceptional; each may be missing */
};

/* The sets may be larger than an fd_set. */
static int first_of(struct sets sets, int count)
{
    for (int word = 0; word * NFDBITS < count; word++) {
        unsigned long bits = 0;
        for (int i = 0; i < 3; i++)
            bits |= sets.of[i] ? (unsigned long)((const fd_mask *)sets.of[i])[word] : 0;
        if (bits)
            return word * NFDBITS + __builtin_ctzl(bits);
    }
    return -1;
}

/* The first descriptor that is ready: the kernel has left only those. When the time was over it has emptied the sets,
 * and before the call nobody may read them; but the highest one watched is count - 1, unless the caller passed more
 * than it had to: then there is no such descriptor, mostly. A wait that a signal ended was for no descriptor, as with
 * poll. */
static int which_of(struct sets sets, int count, int ret)
{
    if (ret)
        return ret > 0 ? first_of(sets, count) : -1;
    if (!sets.of[0] && !sets.of[1] && !sets.of[2])
        return -1;
    return pt_switches.io && pt_fd_path(count - 1) ? count - 1 : -1;
}

static PT_NOINLINE void selected(pt_u64 start, pt_u64 end, int count, struct sets sets, int ret, pt_i32 timeout)
{
    watched(start, end, which_of(sets, count, ret), ret, timeout, (pt_u32)count);
}

/* ---- time ---- */

static PT_NOINLINE void slept(pt_u64 start, pt_u64 end, clockid_t clock, pt_i32 result, int is_absolute, pt_i64 ns)
{
    pt_spent(PT_EV_wait_sleep, start, end, clock, pt_words((pt_u32)result, is_absolute != 0), (pt_u64)ns);
}

/* An interrupted call has written the remaining time, perhaps over the requested one. */
static pt_i64 asked_ns(pt_i32 result, const struct timespec *asked, const struct timespec *left)
{
    if (result && (result != -EINTR || asked == left))
        return -1;
    return asked->tv_sec < INT_MAX ? asked->tv_sec * NS_PER_S + asked->tv_nsec : LONG_MAX;
}

static pt_i32 thread_result(int ret)
{
    return ret == 0 ? 0 : ret == -1 ? -EINTR : -EINVAL;
}

/* ---- signals ---- */

static PT_NOINLINE void signalled(pt_u64 start, pt_u64 end, pt_i32 result, pt_i64 timeout)
{
    pt_spent(PT_EV_wait_signal, start, end, 0, pt_words((pt_u32)result, 0), (pt_u64)timeout);
}

/* They never succeed: they end with EINTR. */
static void handled(pt_u64 start, pt_u64 end, int ret)
{
    const pt_i32 result = pt_result(ret);
    signalled(start, end, result == -EINTR ? 0 : result, FOR_EVER);
}

/* ---- children ---- */

/* Programs that only want a child gone pass NULL. How it ended is known to nobody else then, so the kernel writes it to
 * the hook's own stack: the one argument that is not the caller's. A pointer of the caller stays, right or wrong. */
#define TOLD(status) ((status) = (status) ? (status) : &(int){(int)PT_NO_WAIT_STATUS})
#define TOLD_INFO(info) ((info) = (info) ? (info) : &(siginfo_t){0})

static PT_NOINLINE void reaped(pt_u64 start, pt_u64 end, pid_t asked, const int *status, int options, pid_t ret)
{
    const pt_u32 told = ret > 0 ? (pt_u32)*status : PT_NO_WAIT_STATUS;
    if (ret > 0)
        pt_file_look(); /* the child may have truncated it */
    pt_spent(PT_EV_wait_child, start, end, -1, pt_result_and(ret, (pt_u32)asked), pt_words(told, (pt_u32)options));
}

/* The result of waitid in the form of waitpid's. */
static pt_u32 status_of(const siginfo_t *info)
{
    const pt_u32 value = (pt_u32)info->si_status;
    switch (info->si_code) {
    case CLD_EXITED:
        return (value & 0xff) << 8;
    case CLD_KILLED:
        return value;
    case CLD_DUMPED:
        return value | 0x80;
    case CLD_STOPPED:
    case CLD_TRAPPED:
        return value << 8 | 0x7f;
    case CLD_CONTINUED:
        return 0xffff;
    default:
        return PT_NO_WAIT_STATUS;
    }
}

static PT_NOINLINE void reaped_by_id(pt_u64 start, pt_u64 end, idtype_t type, id_t id, const siginfo_t *info,
                                     int options, int ret)
{
    const int has_child_info = ret == 0 && info->si_pid;
    if (has_child_info)
        pt_file_look();
    const pt_i32 result = has_child_info ? info->si_pid : pt_result(ret);
    pt_spent(PT_EV_wait_child, start, end, (pt_i32)type, pt_words((pt_u32)result, type == P_ALL ? ~0u : id),
             pt_words(has_child_info ? status_of(info) : PT_NO_WAIT_STATUS, (pt_u32)options));
}

/* ---- messages and semaphores between processes ---- */

enum { RECEIVES = 1, SENDS = 2, SYSTEM_V = 16 };

/* A POSIX queue is a descriptor: the kernel tells its name at first. With io off, closes and copies are not followed.
 */
static PT_NOINLINE void messaged(pt_u64 start, pt_u64 end, int queue, long ret, pt_u32 call, size_t bytes)
{
    const pt_u32 path = pt_switches.io && !(call & SYSTEM_V) ? pt_fd_path(queue) : 0;
    pt_spent(PT_EV_wait_message, start, end, queue, pt_result_and(ret, path),
             pt_words(call, bytes < UINT_MAX ? (pt_u32)bytes : UINT_MAX));
}

/* The operations lie in the program's memory, which is safe to read only if the kernel has read it: not when the
 * call failed early. */
static PT_NOINLINE void operated(pt_u64 start, pt_u64 end, int set, const struct sembuf *operations, size_t count,
                                 int ret)
{
    const int was_read = count && (ret == 0 || pt_errno() == EAGAIN || pt_errno() == EINTR || pt_errno() == EIDRM);
    const pt_i32 operation = was_read ? operations->sem_op : 0;
    pt_spent(PT_EV_lock_semop, start, end, set, pt_result_and(ret, (pt_u32)operation),
             pt_words(was_read ? operations->sem_num : 0, (pt_u32)count));
}

#include "wait.def"

/* libc closes the descriptor inside. Before: another thread may then have the number. */
int mq_close(mqd_t queue)
{
    if (pt_switches.io)
        pt_fd_forget(queue);
    return real_mq_close(queue);
}

/* The kernel writes what is left over the timeout, so it has to be read before; libc reads it there, too. */
PT_ALWAYS_INLINE int select_recorded(int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *), int count,
                                     struct sets sets, struct timeval *timeout)
{
    fd_set *in = (fd_set *)sets.of[0], *out = (fd_set *)sets.of[1], *bad = (fd_set *)sets.of[2];
    if (pt_unlikely(!pt_switches.waits))
        return real(count, in, out, bad, timeout);
    const pt_i32 ms = timeout ? to_ms(timeout->tv_sec, timeout->tv_usec, 1000) : FOR_EVER;
    const pt_u64 start = pt_clock();
    const int ret = real(count, in, out, bad, timeout);
    selected(start, pt_clock(), count, sets, ret, ms);
    return ret;
}

int select(int count, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout)
{
    return select_recorded(real_select, count, (struct sets){{in, out, bad}}, timeout);
}

int __select(int count, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout)
{
    return select_recorded(real___select, count, (struct sets){{in, out, bad}}, timeout);
}

int hook_sigpause(int mask)
{
    if (pt_unlikely(!pt_switches.waits))
        return real_sigpause(mask);
    const pt_u64 start = pt_clock();
    const int ret = real_sigpause(mask);
    handled(start, pt_clock(), ret);
    return ret;
}
