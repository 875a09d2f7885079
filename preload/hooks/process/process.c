/* SPDX-License-Identifier: MIT
 *
 * process.c - hooks of fork, exit, system, pthread_create and thrd_create.
 *
 * Entered by any thread, in forked and vfork children. vfork and clone are not hooked: their child would return through
 * our frame on its parent's stack. Nothing has to be done at an exit; its hook only records how the process ended.
 */
#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>
#include <utmp.h>

#include "core/file/attach.h"
#include "core/file/prepare.h"
#include "core/names/intern.h"
#include "core/names/path.h"
#include "core/private.h"
#include "core/process.h"
#include "core/real/next.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "core/valgrind.h"
#include "hooks/file/file_io.h"
#include "hooks/file/sandbox.h"
#include "hooks/file/stdio.h"
#include "hooks/file/stdio_char.h"
#include "hooks/file/stdio_format.h"
#include "hooks/hook.h"
#include "exec.h"

CUSTOM(void, exit, (int status), (status))
CUSTOM(void, _exit, (int status), (status))
CUSTOM(void, _Exit, (int status), (status))
CUSTOM(void, quick_exit, (int status), (status))

/* The child's copy of our state is wiped, and it would open a file of its own at its first event. It does so at
 * once, because that first event may be made by a child of vfork in its memory: the file would then carry the wrong
 * process. */
static PT_NOINLINE void forked(pt_u64 start, pt_u64 end, pid_t child)
{
    if (child != 0)
        pt_spent(PT_EV_proc_fork, start, end, 0, pt_result_and(child, 0), 0);
    else
        pt_thread_attach_forked();
}

static PT_NOINLINE void commanded(pt_u64 start, pt_u64 end, const char *command, int status)
{
    const pt_u32 text = status != -1 ? pt_intern_redacted(command) : 0;
    pt_spent(PT_EV_proc_system, start, end, 0, pt_words((pt_u32)status, text), 0);
}

/* A child has no use for the caller's working memory, which would only be copied. Not MADV_DONTFORK: in the hole
 * something of the child could lie when a child of that one uses the place again (start_memory.c). */
static void leave_working_memory(struct pt_tracer_thread *t)
{
    if (!t->priv || t->is_left_to_none)
        return;
    t->is_left_to_none = 1;
    if (pt_may_call() && !pt_is_below_valgrind) /* its child would not know */
        pt_syscall3(SYS_madvise, t->priv, sizeof *t->priv, MADV_WIPEONFORK);
}

/* What each child would do again, which begins without its parent's pages of libc: find what it calls, if it is that
 * of a shell. */
static PT_NOINLINE void prepare_forks(void)
{
    static pt_u32 is_done;
    leave_working_memory(pt_self);
    if (is_done)
        return;
    is_done = 1;
    PT_RESOLVE(exit);
    PT_RESOLVE(_exit);
    pt_exec_find_functions();
    pt_io_find_functions();
    pt_stdio_find_functions();
    pt_format_find_functions();
    pt_char_find_functions();
}

#define HOOK_FORK(name)                                                                                                \
    CUSTOM(pid_t, name, (void), ())                                                                                    \
    PT_EXPORT pid_t name(void)                                                                                         \
    {                                                                                                                  \
        if (pt_unlikely(!pt_switches.io))                                                                              \
            return real_##name();                                                                                      \
        prepare_forks();                                                                                               \
        const pt_u64 start = pt_clock();                                                                               \
        const pid_t ret = real_##name();                                                                               \
        const pt_u64 end = pt_clock();                                                                                 \
        forked(start, end, ret);                                                                                       \
        return ret;                                                                                                    \
    }
HOOK_FORK(fork)
HOOK_FORK(__fork)
HOOK_FORK(_Fork)
HOOK(int, system, (const char *command), (command), io, commanded(start, end, command, ret))
/* Its first event may be an allocation; then it would move the head while this thread counts in it. */
static void expect_thread(void)
{
    if (pt_switches.io || pt_switches.heap)
        pt_thread_expect();
}

CUSTOM(int, pthread_create,
       (pthread_t * thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument),
       (thread, attributes, routine, argument))

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    expect_thread();
    if (pt_unlikely(!pt_switches.io))
        return real_pthread_create(thread, attributes, routine, argument);
    const pt_u64 start = pt_clock();
    const int ret = real_pthread_create(thread, attributes, routine, argument);
    const pt_u64 end = pt_clock();
    pt_spent(PT_EV_thread_create, start, end, 0, pt_words((pt_u32)-ret, 0), (pt_u64)routine);
    return ret;
}

CUSTOM(int, thrd_create, (thrd_t * thread, thrd_start_t routine, void *argument), (thread, routine, argument))

/* It tells less of what went wrong. */
static int error_of(int result)
{
    return result == thrd_success ? 0 : result == thrd_nomem ? ENOMEM : EAGAIN;
}

int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    expect_thread();
    if (pt_unlikely(!pt_switches.io))
        return real_thrd_create(thread, routine, argument);
    const pt_u64 start = pt_clock();
    const int ret = real_thrd_create(thread, routine, argument);
    const pt_u64 end = pt_clock();
    pt_spent(PT_EV_thread_create, start, end, 0, pt_words((pt_u32)-error_of(ret), 0), (pt_u64)routine);
    return ret;
}

/* libc replaces the files behind the standard descriptors: their old names are wrong now. */
static PT_NOINLINE void standard_replaced(int is_so)
{
    for (int fd = 0; is_so && fd <= 2; fd++)
        pt_fd_forget(fd);
}

CUSTOM(int, daemon, (int keep_directory, int keep_files), (keep_directory, keep_files))

/* The caller ends inside libc, and its child goes on from here. */
int daemon(int keep_directory, int keep_files)
{
    if (pt_unlikely(!pt_switches.io))
        return real_daemon(keep_directory, keep_files);
    const int speaks_for_process = !pt_process_is_vfork_child();
    if (speaks_for_process)
        pt_process_note_end(PT_PROCESS_EXITED, 0);
    const int ret = real_daemon(keep_directory, keep_files);
    if (ret == 0)
        pt_thread_attach_forked(); /* as the child of any fork: see forked() */
    else if (speaks_for_process)
        pt_process_note_alive();
    standard_replaced(ret == 0 && !keep_files);
    if (ret == 0 && !keep_directory)
        pt_path_moved();
    return ret;
}

/* libc closes the descriptor when it has become the standard ones. */
static PT_NOINLINE void became_terminal(int fd, int result)
{
    standard_replaced(result == 0);
    if (result == 0 && fd > 2)
        pt_fd_forget(fd);
}

HOOK(int, login_tty, (int fd), (fd), io, became_terminal(fd, ret); (void)start; (void)end)
/* Before glibc 2.34 it is in libutil, and calls fork, which is our hook, as any program does. Where libc is, is asked
 * by a name that no other library has: some have a fork of their own. */
static PT_NOINLINE void forked_with_terminal(pt_u64 start, pt_u64 end, pid_t child)
{
    standard_replaced(child == 0);
    if (child == 0 || pt_next_are_together("forkpty", "gnu_get_libc_version"))
        forked(start, end, child);
}

HOOK(int, forkpty, (int *terminal, char *name, const struct termios *mode, const struct winsize *size),
     (terminal, name, mode, size), io, forked_with_terminal(start, end, ret))

/* A thread in strict mode ends itself by number, too: it may not be asked who it is. */
static PT_NOINLINE int vfork_child_leaves(void)
{
    const int is_one =
        pt_sandbox_vfork_child_leaves() || (pt_switches.io && pt_may_call() && pt_process_is_vfork_child());
    if (is_one)
        pt_fd_vfork_child_leaves();
    return is_one;
}

/* 0 where nobody is to speak for the process. */
static PT_NOINLINE int exiting(int status)
{
    if (vfork_child_leaves())
        return 0;
    if (pt_switches.io)
        pt_point(PT_EV_proc_exit, 0, 0, pt_words((pt_u32)status, 0), 0);
    return pt_switches.io;
}

static PT_NOINLINE void ending(int status)
{
    if (exiting(status))
        pt_process_note_end(PT_PROCESS_EXITED, status & 0xff);
}

void pt_exiting_by_number(int is_whole_process, int status)
{
    if (is_whole_process)
        ending(status);
    else
        vfork_child_leaves();
}

void pt_becoming_by_number(void)
{
    if (pt_switches.io && pt_may_call() && pt_process_is_vfork_child())
        pt_fd_vfork_child_leaves();
}

void exit(int status)
{
    if (exiting(status))
        pt_process_note_exit(status);
    real_exit(status);
    __builtin_unreachable();
}

void _exit(int status)
{
    ending(status);
    real__exit(status);
    __builtin_unreachable();
}

void _Exit(int status)
{
    ending(status);
    real__Exit(status);
    __builtin_unreachable();
}

void quick_exit(int status)
{
    ending(status);
    real_quick_exit(status);
    __builtin_unreachable();
}
