/* SPDX-License-Identifier: MIT
 *
 * finding_stacks.h - the call stacks that a finding is about: where the program waits for it, computes, forks or
 * allocates.
 */
#ifndef PT_RULES_FINDING_STACKS_H
#define PT_RULES_FINDING_STACKS_H

#include <string.h>

#include "finding.h"

/* Workers wait in these for more work, or for each other: it is none of their samples. Bits by enum pt_time_part. */
#define PT_PARTS_OF_IDLE_WORKERS                                                                                       \
    (1ull << PT_PART_data_wait | 1ull << PT_PART_idle | 1ull << PT_PART_lock | 1ull << PT_PART_gil_wait |              \
     1ull << PT_PART_runnable | 1ull << PT_PART_unattributed)

struct pt_finding_stack {
    const struct pt_stack_frame *frames;
    pt_u32 n, n_serving; /* the first ones are the kernel's, libc's, an allocator's ...: what the program called */
    double cost;
    const struct pt_stack_frame *in; /* of the function that the finding is about; NULL = it is about none */
};

struct pt_finding_stacks {
    PT_VEC(struct pt_finding_stack);
    double cost;      /* of all */
    const char *what; /* that a place has a share of: "the waiting"; NULL = such a finding has no stacks */
    bool is_of_rest;  /* what other findings explain is left out */
    bool is_of_line;  /* of one line of the program: it has no share of them */
};

void pt_finding_stacks(const struct pt_profile *profile, const struct pt_finding *finding,
                       struct pt_finding_stacks *ret_stacks);
void pt_finding_stacks_free(struct pt_finding_stacks *stacks);

/* Of a file of Python that has `file` in its path. */
static inline bool pt_is_python_in(const struct pt_stack_frame *frame, const char *file)
{
    return frame->flags & PT_FRAME_OF_PYTHON && frame->file && strstr(frame->file, file);
}

/* Whether PyTorch's loader called it, in the process that trains. */
bool pt_is_in_loader(const struct pt_stack *stack);
/* Whether that loader takes samples from an iterator: of an IterableDataset, which each of its workers has a copy of.
 */
bool pt_is_iterated(const struct pt_stack *stack);
/* Whether the first workers of a loader would all give the same samples: those of an iterator, which nobody divides. */
bool pt_would_repeat_samples(const struct pt_profile *profile, const struct pt_finding *finding);

/* The frame of multiprocessing that a process begins with which was forked or spawned for some work: around it a forked
 * one has those of whoever forked it. n = there is none. */
pt_u32 pt_start_of_worker(const struct pt_stack_frame *frames, pt_u32 n);

/* The frame that a user knows it by: of the function that the finding is about, else the nearest one that has a name
 * and is neither libc's, the kernel's, the interpreter's nor a standard library's; NULL = it has none. */
const struct pt_stack_frame *pt_named_frame(const struct pt_finding_stack *stack);
/* The innermost one of the program's own files; NULL = none. */
const struct pt_stack_frame *pt_program_frame(const struct pt_finding_stack *stack);

#endif
