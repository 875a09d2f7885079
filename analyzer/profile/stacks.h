/* SPDX-License-Identifier: MIT
 *
 * profile/stacks.h - the call stacks of each stage with what they cost: where in the code its time and memory went.
 *
 * Analyses add them; rules look for the place of a finding, and for what is called on the way to it. They are in no
 * report: tables have them as text. Zeroed = empty.
 */
#ifndef PT_PROFILE_STACKS_H
#define PT_PROFILE_STACKS_H

#include <stdbool.h>

#include "proftrace/types.h"
#include "util/map.h"
#include "util/vec.h"

/* What a stack cost, in seconds or bytes. */
enum pt_stack_cost {
    PT_STACK_CPU_S,
    PT_STACK_FAULT_S,     /* of it, the kernel's work for pages that were missing */
    PT_STACK_ALLOCATOR_S, /* of it, in the allocator */
    PT_STACK_STEPS_S,     /* of it, the main threads' on the critical path, and what that may wait for of others; but
                             for imports and the end of the process */
    PT_STACK_IMPORTS_S,   /* of it, the same in imports and at the end of the process */
    PT_STACK_FORWARD_S,   /* of that of steps, outside of backward passes, which do again what the forward ones did */
    PT_STACK_PREPARING_S, /* of steps, outside of a framework's operations */
    PT_STACK_CRITICAL_S,  /* of steps, those of the critical thread that computes most */
    PT_STACK_CRITICAL_OWN_S,      /* of that, outside of a framework's operations */
    PT_STACK_TRAINING_S,          /* of the critical ones, those from the first of its training to the last */
    PT_STACK_TRAINING_OWN_S,      /* of that, outside of a framework's operations */
    PT_STACK_BESIDE_S,            /* of training, outside of loaders, modules, backward passes and optimizers */
    PT_STACK_BEHIND_S,            /* of that, called behind the backward pass of each step */
    PT_STACK_BEHIND_OWN_S,        /* of that, outside of operations on tensors */
    PT_STACK_IN_CALLS_S,          /* of training, in recorded calls */
    PT_STACK_CRITICAL_IN_CALLS_S, /* of the critical ones, in recorded calls */
    PT_STACK_BACKWARD_S,          /* of the critical ones, in backward passes */
    PT_STACK_FETCH_S,             /* of the steps, where a data loader without workers reads samples */
    PT_STACK_CALL_S,              /* in recorded calls of a part of the time account, waiting or running */
    PT_STACK_MAIN_CALL_S,         /* of it, the main thread's */
    PT_STACK_MAINS_CALL_S,        /* of it, the main threads' of all processes */
    PT_STACK_LAST_CALL_S,         /* in those calls, but for who waits for a process that itself runs commands */
    PT_STACK_READ_AGAIN_S,        /* to read files again: where they are read, or the commands started that do */
    PT_STACK_WORKER_S,            /* on a CPU, or in such calls: the main threads' of workers */
    PT_STACK_IN_WORKER_S,         /* of CPU, that of all threads of workers, but for one that is the program itself */
    PT_STACK_RANK_S,              /* of both, what the late rank's main thread has more than those of the others */
    PT_STACK_ALLOCATED_BYTES,
    PT_STACK_HELD_BYTES,    /* of it, what lived when the memory of its process was at its peak */
    PT_STACK_GROWTH_BYTES,  /* of it, what stayed while the memory of its process grew */
    PT_STACK_CHURN_BYTES,   /* of it, released at once */
    PT_STACK_GROWING_BYTES, /* of it, where blocks become larger each time */
    PT_STACK_SIZE_UPS,      /* times that one was larger than the one before, by a power of two; no seconds, no bytes */
    PT_STACK_SIZE_DOWNS,    /* or smaller */
    PT_STACK__COUNT
};

enum {
    PT_FRAME_IS_NAMED = 1,    /* `function` is its name; otherwise it is that of its file, in brackets */
    PT_FRAME_SERVES = 2,      /* libc, the kernel, allocators, ourselves, what calls what it was given */
    PT_FRAME_IS_PYTHON = 4,   /* the interpreter */
    PT_FRAME_IS_CUT = 8,      /* what called this was not found */
    PT_FRAME_IS_JIT = 16,     /* made while the program ran */
    PT_FRAME_OF_PYTHON = 32,  /* a function in Python: of a library's, PT_FRAME_SERVES */
    PT_FRAME_OF_PROGRAM = 64, /* such a one of the program's own, though it is installed as libraries are */
};

struct pt_stack_frame {
    const char *function;
    const char *file;   /* of the source; NULL = unknown */
    const char *module; /* the program or library; NULL = none */
    pt_u32 line;        /* 0 = unknown */
    pt_u32 flags;
};

/* Of these 20 of any code, the innermost; then own functions only: whoever judges a function must find it in all stacks
 * that it called. */
enum { PT_STACK_FRAMES = 48, PT_STACK_FRAMES_OF_ANY = 20, PT_STACK_ANY_PART = 32 };

struct pt_stack {
    pt_u32 stage;
    pt_u32 part; /* of the time account, of a call; others PT_STACK_ANY_PART */
    double cost[PT_STACK__COUNT];
    const struct pt_stack_frame *frames; /* the innermost first */
    pt_u32 n;
};

struct pt_stacks {
    PT_VEC(struct pt_stack);
    struct pt_intern texts;
    struct pt_arena frames;
};

/* The frames and their texts are copied: equal texts have equal addresses. Valid until the next one is added. */
struct pt_stack *pt_stacks_add(struct pt_stacks *stacks, pt_u32 stage, const struct pt_stack_frame *frames, pt_u32 n);
void pt_stacks_free(struct pt_stacks *stacks);

#endif
