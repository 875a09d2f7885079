/* SPDX-License-Identifier: MIT
 *
 * stacks/registers.h - where a thread is: its registers and a copy of its stack.
 */
#ifndef PT_STACKS_REGISTERS_H
#define PT_STACKS_REGISTERS_H

#include "cpu_profile/perf_rings.h"
#include "types.h"

enum { PT_STACK_BYTES = 256 << 10 };

struct pt_registers {
    pt_u64 values[PT_REG__COUNT]; /* by enum pt_perf_reg */
    pt_u8 *stack;                 /* PT_STACK_BYTES, the caller's */
    pt_u64 n_stack;
};

/* Of one that is in a system call or waits for a page: only its stack pointer and instruction, nobody is stopped.
 * `thread` gets its call. False: it runs, or may not be looked at (errno). */
bool pt_registers_of_waiting(struct pt_look_thread *thread, struct pt_registers *ret_registers);
/* The same place as before: what was read in between belongs together. */
bool pt_registers_still_there(const struct pt_look_thread *thread, const struct pt_registers *registers);
/* Its system call and the arguments now. False: it runs, or is in another call than `thread` says. */
bool pt_registers_same_call(const struct pt_look_thread *thread);
/* How long it took until a thread stopped, or was let alone, and how long it was stopped. */
struct pt_stop_times {
    pt_u64 waited_ns, stopped_ns;
};
/* All of them, by stopping it; `while_stopped` is called before it goes on. False with errno; EBUSY: a debugger has it;
 * ETIMEDOUT: it does not stop. */
bool pt_registers_of_stopped(struct pt_look_thread *thread, struct pt_registers *ret_registers,
                             void (*while_stopped)(void *context), void *context, struct pt_stop_times *ret_times);
/* May its system call end with EINTR when the thread is stopped, also without a signal handler? signal(7) */
bool pt_is_disturbed_by_stops(const struct pt_look_thread *thread);

#endif
