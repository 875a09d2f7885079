/* SPDX-License-Identifier: MIT
 *
 * stacks/registers.c - Owns: stops. Threads: main only, and one of its own for each stop. Never: leaves a thread
 * stopped or traced; sends a signal; writes into a process.
 */
#include "registers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/process_stat.h"
#include "util/small_file.h"

/* A thread that sleeps uninterruptibly does not stop: after that time it is let alone. One that waits for a CPU stops
 * when it gets one, and until then nothing is taken from it. */
#define STOP_WAIT_NS 20000000
#define STOP_WAIT_FOR_CPU_NS 200000000

static bool read_place(const struct pt_look_thread *thread, struct pt_syscall *ret_place)
{
    char text[256];
    errno = 0;
    return pt_small_file_peek(text, sizeof text, "/proc/%u/task/%u/syscall", thread->process->pid, thread->tid) > 0 &&
           pt_syscall_parse(text, ret_place);
}

/* As much as there is between the stack pointer and the end of the mapping. */
static void copy_stack(pt_u32 pid, struct pt_registers *registers)
{
    enum { PAGE = 4096 };
    pt_u64 at = registers->values[PT_REG_RSP], n = 0;
    while (n < PT_STACK_BYTES) {
        const pt_u64 to_page = PAGE - at % PAGE;
        pt_u64 want = n ? 16 * PAGE : to_page;
        want = want < PT_STACK_BYTES - n ? want : PT_STACK_BYTES - n;
        struct iovec to = {registers->stack + n, want}, from = {(void *)(uintptr_t)at, want};
        const ssize_t got = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);
        if (got <= 0)
            break;
        n += (pt_u64)got;
        at += (pt_u64)got;
        if ((pt_u64)got < want)
            break;
    }
    registers->n_stack = n;
}

bool pt_registers_of_waiting(struct pt_look_thread *thread, struct pt_registers *ret_registers)
{
    struct pt_syscall place;
    if (!read_place(thread, &place))
        return false;
    thread->call = place.call;
    memcpy(thread->arguments, place.arguments, sizeof thread->arguments);
    for (int i = 0; i < PT_REG__COUNT; i++)
        ret_registers->values[i] = 0;
    ret_registers->values[PT_REG_RSP] = place.sp;
    ret_registers->values[PT_REG_RIP] = place.pc;
    copy_stack(thread->process->seen_by, ret_registers);
    return ret_registers->n_stack > 0;
}

bool pt_registers_still_there(const struct pt_look_thread *thread, const struct pt_registers *registers)
{
    struct pt_syscall place;
    return read_place(thread, &place) && place.call == thread->call && place.sp == registers->values[PT_REG_RSP] &&
           place.pc == registers->values[PT_REG_RIP];
}

bool pt_registers_same_call(const struct pt_look_thread *thread)
{
    struct pt_syscall place;
    return read_place(thread, &place) && place.call == thread->call &&
           !memcmp(place.arguments, thread->arguments, sizeof place.arguments);
}

/* ---- stopping ---- */

/* Of its end nothing is taken: we may be its parent, who is to learn of it elsewhere. *ret_signal: what stopped it if
 * we did not, and what it must still get; else 0. */
static bool wait_for_stop(const struct pt_look_thread *thread, int *ret_signal)
{
    const pid_t tid = (pid_t)thread->tid;
    const bool is_scheduled = thread->state == 'R' || thread->state == 'S';
    const pt_u64 until_ns = pt_monotonic_ns() + (is_scheduled ? STOP_WAIT_FOR_CPU_NS : STOP_WAIT_NS);
    *ret_signal = 0;
    for (;;) {
        siginfo_t info = {0};
        const int got = waitid(P_PID, (id_t)tid, &info, WSTOPPED | __WALL | WNOHANG);
        if (got == 0 && info.si_pid == tid) {
            *ret_signal = info.si_status >> 8 == PTRACE_EVENT_STOP ? 0 : info.si_status & 0x7f;
            return true;
        }
        if (got < 0 && errno != EINTR)
            return false;
        if (pt_monotonic_ns() > until_ns) {
            errno = ETIMEDOUT;
            return false;
        }
        const struct timespec little = {0, 20000};
        nanosleep(&little, NULL);
    }
}

static void copy_registers(const struct user_regs_struct *from, pt_u64 to[PT_REG__COUNT])
{
    const pt_u64 values[] = {from->rax, from->rbx, from->rcx, from->rdx, from->rsi, from->rdi,
                             from->rbp, from->rsp, from->rip, from->r8,  from->r9,  from->r10,
                             from->r11, from->r12, from->r13, from->r14, from->r15};
    _Static_assert(sizeof values / sizeof *values == PT_REG__COUNT, "one for each");
    for (int i = 0; i < PT_REG__COUNT; i++)
        to[i] = values[i];
}

struct stop {
    struct pt_look_thread *thread;
    struct pt_registers *registers;
    void (*while_stopped)(void *context);
    void *context;
    struct pt_stop_times times;
    int error;
    bool is_read;
};

/* Seized, not attached: no signal is made up, and a stop of the whole group stays what it was. */
static void *stop_and_read(void *of)
{
    struct stop *stop = of;
    struct pt_look_thread *thread = stop->thread;
    const pid_t tid = (pid_t)thread->tid;
    struct user_regs_struct registers;
    int pending = 0;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
        stop->error = errno == EPERM && thread->process->traced_by ? EBUSY : errno;
        return NULL;
    }
    const pt_u64 begin_ns = pt_monotonic_ns();
    const bool is_stopped = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 && wait_for_stop(thread, &pending);
    const pt_u64 stop_ns = pt_monotonic_ns();
    if (is_stopped) {
        if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0) {
            copy_registers(&registers, stop->registers->values);
            copy_stack(thread->process->seen_by, stop->registers);
            stop->while_stopped(stop->context);
            stop->is_read = true;
        }
    }
    stop->error = errno;
    ptrace(PTRACE_DETACH, tid, NULL, (long)pending);
    stop->times = (struct pt_stop_times){.waited_ns = stop_ns - begin_ns, .stopped_ns = pt_monotonic_ns() - stop_ns};
    thread->was_stopped = true;
    return NULL;
}

/* In a thread of its own: one that does not stop in time cannot be detached, and would stop later, for as long as we
 * live. The kernel lets go of what a thread traced when that ends. */
bool pt_registers_of_stopped(struct pt_look_thread *thread, struct pt_registers *ret_registers,
                             void (*while_stopped)(void *context), void *context, struct pt_stop_times *ret_times)
{
    struct stop stop = {thread, ret_registers, while_stopped, context, {0}, 0, false};
    pthread_t tracer;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int problem = pthread_create(&tracer, NULL, stop_and_read, &stop);
    if (!problem)
        pthread_join(tracer, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *ret_times = stop.times;
    errno = problem ? problem : stop.error;
    return stop.is_read;
}

/* With SO_RCVTIMEO or SO_SNDTIMEO, which nobody outside can ask for, these end early as recv and send do. */
static bool is_on_socket(const struct pt_look_thread *thread)
{
    static const char kind[] = "socket:";
    char name[64], target[sizeof kind];
    snprintf(name, sizeof name, "/proc/%u/task/%u/fd/%d", thread->process->pid, thread->tid, (int)thread->arguments[0]);
    return readlink(name, target, sizeof target) == (ssize_t)sizeof target && !memcmp(target, kind, sizeof kind - 1);
}

bool pt_is_disturbed_by_stops(const struct pt_look_thread *thread)
{
    static const short calls[] = {
        SYS_epoll_wait,   SYS_epoll_pwait,   SYS_epoll_pwait2,  SYS_semop,         SYS_semtimedop, SYS_rt_sigtimedwait,
        SYS_io_getevents, SYS_io_pgetevents, SYS_msgrcv,        SYS_msgsnd,        SYS_recvfrom,   SYS_recvmsg,
        SYS_recvmmsg,     SYS_sendto,        SYS_sendmsg,       SYS_sendmmsg,      SYS_accept,     SYS_accept4,
        SYS_connect,      SYS_pause,         SYS_rt_sigsuspend, SYS_io_uring_enter};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == thread->call)
            return true;
    const bool transfers = thread->call == SYS_read || thread->call == SYS_readv || thread->call == SYS_write ||
                           thread->call == SYS_writev;
    return transfers && is_on_socket(thread);
}
