/* SPDX-License-Identifier: MIT
 *
 * Owns: which stacks belong to a finding, and which of their frames says most. Threads: one. Never: reads a name back
 * from a table.
 */
#include "finding_stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"
#include "util/toolchain.h"

#define PART(part) ((pt_u64)1 << (part))
#define DISK_PARTS                                                                                                     \
    (PART(PT_PART_file_read) | PART(PT_PART_file_write) | PART(PT_PART_file_meta) | PART(PT_PART_page_fault))

#define OF_ALL "all CPU time"

/* What of a stack counts, and what the shares of places are of; the second of both where no stack has any of the first.
 * Whoever reads "80 % of" beside another finding's must see that it is of something else. */
static const struct question {
    enum pt_stack_cost cost, otherwise;
    const char *what, *what_otherwise;
} questions[] = {
    [PT_PLACE_NOWHERE] = {PT_STACK__COUNT, PT_STACK__COUNT, NULL, NULL},
    [PT_PLACE_WAIT] = {PT_STACK_MAIN_CALL_S, PT_STACK_CALL_S, "that time", "that time of all threads"},
    [PT_PLACE_WAIT_OF_ALL] = {PT_STACK_CALL_S, PT_STACK_CALL_S, "that time of all threads", NULL},
    [PT_PLACE_WORKERS] = {PT_STACK_WORKER_S, PT_STACK_MAIN_CALL_S, "the workers' time", "the main thread's waits"},
    [PT_PLACE_DISK] = {PT_STACK_CALL_S, PT_STACK_MAIN_CALL_S, "that time of all threads", "that time"},
    [PT_PLACE_READ_AGAIN] = {PT_STACK_READ_AGAIN_S, PT_STACK_CALL_S, "that time", "that time of all threads"},
    [PT_PLACE_IMPORT] = {PT_STACK_CALL_S, PT_STACK_MAIN_CALL_S, "that time of all threads", "that time"},
    [PT_PLACE_STEPS] = {PT_STACK_STEPS_S, PT_STACK_CPU_S, "the CPU time without imports", OF_ALL},
    [PT_PLACE_FORWARD] = {PT_STACK_FORWARD_S, PT_STACK_STEPS_S, "the CPU time outside of backward passes",
                          "the CPU time without imports"},
    [PT_PLACE_PREPARING] = {PT_STACK_PREPARING_S, PT_STACK_CPU_S, "the CPU time outside of the framework", OF_ALL},
    [PT_PLACE_IMPORTING] = {PT_STACK_IMPORTS_S, PT_STACK_IMPORTS_S, "the CPU time of imports", NULL},
    [PT_PLACE_TRAINING] = {PT_STACK_TRAINING_S, PT_STACK_STEPS_S, "the CPU time of the training",
                           "the CPU time without imports"},
    [PT_PLACE_BESIDE] = {PT_STACK_BESIDE_S, PT_STACK_BESIDE_S, "the CPU time beside the steps", NULL},
    [PT_PLACE_BEHIND] = {PT_STACK_BEHIND_S, PT_STACK_BESIDE_S, "the CPU time behind the backward passes",
                         "the CPU time beside the steps"},
    [PT_PLACE_FETCH] = {PT_STACK_FETCH_S, PT_STACK_PREPARING_S, "the CPU time of loading",
                        "the CPU time outside of the framework"},
    [PT_PLACE_FETCH_WAIT] = {PT_STACK_CALL_S, PT_STACK_CALL_S, "that time", NULL},
    [PT_PLACE_HAND_OVER] = {PT_STACK_MAIN_CALL_S, PT_STACK_CALL_S, "that time", "that time of all threads"},
    [PT_PLACE_HANDED_OVER] = {PT_STACK_MAIN_CALL_S, PT_STACK_MAIN_CALL_S, "that time", NULL},
    [PT_PLACE_IN_LOOP] = {PT_STACK_MAIN_CALL_S, PT_STACK_CALL_S, "the time in its calls",
                          "the time in these calls of all threads"},
    [PT_PLACE_RANK] = {PT_STACK_RANK_S, PT_STACK_RANK_S, "what it has more", NULL},
    [PT_PLACE_CPU] = {PT_STACK_CPU_S, PT_STACK_CPU_S, OF_ALL, NULL},
    [PT_PLACE_FAULT] = {PT_STACK_FAULT_S, PT_STACK_FAULT_S, "the page faults", NULL},
    [PT_PLACE_FORK] = {PT_STACK_CPU_S, PT_STACK_CPU_S, "the forking", NULL},
    [PT_PLACE_ALLOCATED] = {PT_STACK_ALLOCATED_BYTES, PT_STACK_ALLOCATED_BYTES, "the bytes allocated", NULL},
    [PT_PLACE_GROWTH] = {PT_STACK_GROWTH_BYTES, PT_STACK_GROWTH_BYTES, "the growth", NULL},
    [PT_PLACE_HELD] = {PT_STACK_HELD_BYTES, PT_STACK_HELD_BYTES, "what they held", NULL},
    [PT_PLACE_CHURN] = {PT_STACK_ALLOCATOR_S, PT_STACK_CHURN_BYTES, "the allocator's time",
                        "the bytes released at once"},
};

static pt_u64 parts_of(const struct pt_finding *finding)
{
    if (finding->place_kind == PT_PLACE_DISK)
        return DISK_PARTS;
    if (finding->place_kind == PT_PLACE_IMPORT)
        return PART(PT_PART_file_read) | PART(PT_PART_file_meta);
    if (finding->place_kind == PT_PLACE_WORKERS)
        return ~PT_PARTS_OF_IDLE_WORKERS;
    if (finding->place_kind == PT_PLACE_RANK || finding->place_kind == PT_PLACE_HAND_OVER ||
        finding->place_kind == PT_PLACE_HANDED_OVER)
        return ~(pt_u64)0;
    const bool is_wait = finding->place_kind == PT_PLACE_WAIT || finding->place_kind == PT_PLACE_WAIT_OF_ALL ||
                         finding->place_kind == PT_PLACE_READ_AGAIN || finding->place_kind == PT_PLACE_FETCH_WAIT ||
                         finding->place_kind == PT_PLACE_IN_LOOP;
    return is_wait ? PART(finding->part) : PART(PT_STACK_ANY_PART);
}

/* What a finding costs is counted over these threads: sleeps over the main threads of all processes, the waits in calls
 * on files and the network over all threads, waits for commands where these are run, what one thread waits for in
 * another over the one that has to. */
static enum pt_stack_cost cost_of_waits(enum pt_time_part part)
{
    const bool is_of_all = pt_part_is_of_files(part) || part == PT_PART_network;
    return part == PT_PART_sleep        ? PT_STACK_MAINS_CALL_S
           : part == PT_PART_child_wait ? PT_STACK_LAST_CALL_S
           : is_of_all                  ? PT_STACK_CALL_S
                                        : PT_STACK_MAIN_CALL_S;
}

/* What of libc the program called, down to the kernel. */
static pt_u32 n_serving(const struct pt_stack *stack)
{
    pt_u32 n = 0;
    while (n < stack->n && stack->frames[n].flags & PT_FRAME_SERVES)
        n++;
    return n;
}

static bool calls(const struct pt_stack *stack, pt_u32 n, const char *const *names)
{
    for (pt_u32 i = 0; i < n; i++)
        for (const char *const *name = names; *name; name++)
            if (strstr(stack->frames[i].function, *name))
                return true;
    return false;
}

bool pt_is_in_loader(const struct pt_stack *stack)
{
    for (pt_u32 i = 0; i < stack->n; i++)
        if (stack->frames[i].flags & PT_FRAME_OF_PYTHON && strstr(stack->frames[i].file, "/torch/utils/data/"))
            return true;
    return false;
}

/* Before Python 3.11 a function has no class in its name: of the two called fetch, one asks an iterator. */
static bool iterates(const struct pt_stack *stack, pt_u32 at)
{
    static const char file[] = "/torch/utils/data/_utils/fetch.py";
    const struct pt_stack_frame *frame = &stack->frames[at];
    if (!pt_python_is_function(frame, file, "_IterableDatasetFetcher.fetch"))
        return false;
    if (strchr(frame->function, '.'))
        return true;
    while (at > 0 && !(stack->frames[at - 1].flags & PT_FRAME_OF_PYTHON))
        at--;
    return at > 0 && (pt_python_is_function(&stack->frames[at - 1], "", "__iter__") ||
                      pt_python_is_function(&stack->frames[at - 1], "", "__next__"));
}

bool pt_is_iterated(const struct pt_stack *stack)
{
    for (pt_u32 i = 0; i < stack->n; i++)
        if (iterates(stack, i))
            return true;
    return false;
}

/* Python's ways to other processes, and who builds on them. */
static bool is_of_hand_over(const struct pt_stack_frame *frame)
{
    static const char *const files[] = {"/concurrent/futures/", "/joblib/", "/torch/utils/data/"};
    if (frame->flags & PT_FRAME_OF_PYTHON && pt_python_in_multiprocessing(frame->file))
        return true;
    for (size_t i = 0; frame->flags & PT_FRAME_OF_PYTHON && i < sizeof files / sizeof *files; i++)
        if (strstr(frame->file, files[i]))
            return true;
    return false;
}

static bool hands_over(const struct pt_stack *stack)
{
    for (pt_u32 i = 0; i < stack->n; i++)
        if (is_of_hand_over(&stack->frames[i]))
            return true;
    return false;
}

pt_u32 pt_start_of_worker(const struct pt_stack_frame *frames, pt_u32 n)
{
    for (pt_u32 i = 0; i < n; i++)
        if (pt_python_is_function(&frames[i], "/process.py", "BaseProcess._bootstrap") &&
            pt_python_in_multiprocessing(frames[i].file))
            return i;
    return n;
}

/* A line of the program's own that hands over: a pool's helper threads, which do it for the main thread, have none. */
static bool hands_over_itself(const struct pt_stack *stack)
{
    const struct pt_stack_frame *own = pt_python_own_frame(stack->frames, stack->n);
    for (const struct pt_stack_frame *frame = stack->frames; own && frame < own; frame++)
        if (is_of_hand_over(frame))
            return pt_start_of_worker(stack->frames, stack->n) == stack->n;
    return false;
}

static const struct pt_stack_frame *innermost_of(const struct pt_stack *stack, const struct pt_finding *finding)
{
    for (pt_u32 i = 0; finding->in_function && i < stack->n; i++)
        if (stack->frames[i].flags & PT_FRAME_OF_PYTHON && stack->frames[i].file == finding->in_file &&
            pt_python_is_part_of(stack->frames[i].function, finding->in_function) &&
            (!finding->in_line || stack->frames[i].line == finding->in_line))
            return &stack->frames[i];
    return NULL;
}

/* libc's fork, __libc_fork, arch_fork, _Fork, and popen. Who joins a thread waits for no lock. */
static bool belongs(const struct pt_finding *finding, const struct pt_stack *stack, pt_u32 n)
{
    static const char *const forks[] = {"fork", "Fork", "proc_open", NULL}, *const joins[] = {"join", NULL};
    if (finding->place_kind == PT_PLACE_FORK)
        return calls(stack, n, forks);
    if (finding->place_kind == PT_PLACE_IMPORT)
        return pt_python_imports(stack->frames, stack->n);
    if (finding->place_kind == PT_PLACE_FETCH_WAIT)
        return pt_is_in_loader(stack);
    if (finding->place_kind == PT_PLACE_HAND_OVER)
        return hands_over_itself(stack);
    if (finding->place_kind == PT_PLACE_HANDED_OVER)
        return hands_over(stack);
    return finding->place_kind != PT_PLACE_WAIT_OF_ALL || !calls(stack, n, joins);
}

/* In a line of which another finding says what it does. */
static bool is_explained(const struct pt_finding *finding, const struct pt_stack *stack)
{
    for (pt_u32 i = 0; i < finding->n_explained; i++)
        for (pt_u32 j = 0; j < stack->n; j++)
            if (stack->frames[j].flags & PT_FRAME_OF_PYTHON && stack->frames[j].file == finding->explained[i].file &&
                stack->frames[j].line == finding->explained[i].line)
                return true;
    return false;
}

static void add_all(const struct pt_profile *profile, const struct pt_finding *finding, enum pt_stack_cost cost,
                    struct pt_finding_stacks *stacks)
{
    const pt_u64 parts = parts_of(finding);
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != finding->stage || !(stack->cost[cost] > 0) || !(parts >> stack->part & 1))
            continue;
        if (is_explained(finding, stack))
            continue;
        const pt_u32 serving = n_serving(stack);
        const struct pt_stack_frame *in = innermost_of(stack, finding);
        if ((finding->in_function && !in) || !belongs(finding, stack, serving))
            continue;
        pt_vec_push(stacks, ((struct pt_finding_stack){stack->frames, stack->n, serving, stack->cost[cost], in}));
        stacks->cost += stack->cost[cost];
    }
}

/* Samples from outside and places from within are of the same time: where Python is known it says more. */
static void keep_python(struct pt_finding_stacks *stacks)
{
    size_t n = 0;
    double cost = 0;
    for (size_t i = 0; i < stacks->n; i++) {
        if (!pt_python_own_frame(stacks->items[i].frames, stacks->items[i].n))
            continue;
        cost += stacks->items[i].cost;
        stacks->items[n++] = stacks->items[i];
    }
    if (!n)
        return;
    stacks->n = n;
    stacks->cost = cost;
}

static void add_of_hand_over(const struct pt_profile *profile, const struct pt_finding *finding,
                             struct pt_finding_stacks *stacks)
{
    struct pt_finding handed = *finding;
    handed.place_kind = PT_PLACE_HANDED_OVER;
    stacks->what = questions[handed.place_kind].what;
    add_all(profile, &handed, questions[handed.place_kind].cost, stacks);
}

/* Those of another part of the time. */
static void add_all_beside(const struct pt_profile *profile, const struct pt_finding *finding, enum pt_time_part part,
                           enum pt_stack_cost cost, struct pt_finding_stacks *stacks)
{
    struct pt_finding beside = *finding;
    beside.part = part;
    add_all(profile, &beside, cost, stacks);
}

void pt_finding_stacks(const struct pt_profile *profile, const struct pt_finding *finding,
                       struct pt_finding_stacks *ret_stacks)
{
    const struct question *question = &questions[finding->place_kind];
    *ret_stacks = (struct pt_finding_stacks){.what = question->what};
    if (!question->what || finding->stage < 0)
        return;
    add_all(profile, finding, finding->place_kind == PT_PLACE_WAIT ? cost_of_waits(finding->part) : question->cost,
            ret_stacks);
    /* Its calls may be too short to be seen: then the loop. */
    if (!ret_stacks->n && finding->place_kind == PT_PLACE_IN_LOOP)
        add_all_beside(profile, finding, PT_PART_idle, question->cost, ret_stacks);
    if (!ret_stacks->n && question->otherwise != question->cost) {
        ret_stacks->what = question->what_otherwise;
        add_all(profile, finding, question->otherwise, ret_stacks);
    }
    if (!ret_stacks->n && finding->place_kind == PT_PLACE_HAND_OVER)
        add_of_hand_over(profile, finding, ret_stacks);
    /* Who waits for a command's output waits in a pipe. */
    if (!ret_stacks->n && finding->place_kind == PT_PLACE_WAIT && finding->part == PT_PART_child_wait)
        add_all_beside(profile, finding, PT_PART_data_wait, cost_of_waits(finding->part), ret_stacks);
    keep_python(ret_stacks);
    ret_stacks->is_of_rest = finding->n_explained;
    ret_stacks->is_of_line = finding->in_line;
}

void pt_finding_stacks_free(struct pt_finding_stacks *stacks)
{
    free(stacks->items);
    *stacks = (struct pt_finding_stacks){0};
}

/* ---- frames ---- */

/* Where programs begin, and what standard libraries put between a program and its own code. */
static bool says_nothing(const char *function)
{
    static const char *const beginnings[] = {"std::", "__gnu_cxx::", "void std::", "_start", "__clone"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(function, beginnings[i], strlen(beginnings[i])))
            return true;
    return false;
}

const struct pt_stack_frame *pt_named_frame(const struct pt_finding_stack *stack)
{
    const struct pt_stack_frame *frames = stack->frames, *python = pt_python_own_frame(frames, stack->n);
    if (stack->in || python)
        return stack->in ? stack->in : python;
    const struct pt_stack_frame *of_toolchain = NULL;
    pt_u32 i = stack->n_serving;
    for (; i < stack->n && !(frames[i].flags & (PT_FRAME_IS_PYTHON | PT_FRAME_IS_CUT)); i++) {
        if (!(frames[i].flags & PT_FRAME_IS_NAMED) || frames[i].flags & PT_FRAME_SERVES ||
            says_nothing(frames[i].function))
            continue;
        if (!pt_is_of_toolchain(frames[i].file)) /* its author looks for who called that */
            return &frames[i];
        of_toolchain = of_toolchain ? of_toolchain : &frames[i];
    }
    return of_toolchain;
}

const struct pt_stack_frame *pt_program_frame(const struct pt_finding_stack *stack)
{
    const struct pt_stack_frame *frames = stack->frames;
    for (pt_u32 i = stack->n_serving; i < stack->n && !(frames[i].flags & PT_FRAME_IS_CUT); i++)
        if (!(frames[i].flags & PT_FRAME_SERVES) && (frames[i].module || frames[i].flags & PT_FRAME_IS_JIT))
            return &frames[i];
    return NULL;
}

/* ---- samples that come from an iterator ---- */

/* These divide their samples among workers themselves; Keras's loader can be given none. */
static bool is_divided(const struct pt_stack *stack)
{
    static const char *const files[] = {"/datasets/iterable_dataset.py",
                                        "/webdataset/",
                                        "/torchdata/nodes/",
                                        "/torchdata/datapipes/",
                                        "/litdata/",
                                        "/streaming/base/",
                                        "/keras/src/trainers/data_adapters/"};
    for (pt_u32 i = 0; i < stack->n; i++)
        for (size_t j = 0; j < sizeof files / sizeof *files; j++)
            if (pt_is_python_in(&stack->frames[i], files[j]))
                return true;
    return false;
}

/* Of the loaders in a finding's stacks; NAN = there is none. Which of them is the training's, and which a validation's,
 * no stack says: the one that loads most. */
static double iterated_share(const struct pt_profile *profile, const struct pt_finding *finding)
{
    struct pt_finding_stacks stacks;
    double iterated = 0, loaded = 0;
    pt_finding_stacks(profile, finding, &stacks);
    for (size_t i = 0; i < stacks.n; i++) {
        const struct pt_stack stack = {.frames = stacks.items[i].frames, .n = stacks.items[i].n};
        loaded += pt_is_in_loader(&stack) ? stacks.items[i].cost : 0;
        iterated += pt_is_iterated(&stack) && !is_divided(&stack) ? stacks.items[i].cost : 0;
    }
    pt_finding_stacks_free(&stacks);
    return loaded > 0 ? iterated / loaded : NAN;
}

bool pt_would_repeat_samples(const struct pt_profile *profile, const struct pt_finding *finding)
{
    struct pt_finding loading = *finding;
    const double share = iterated_share(profile, finding);
    loading.place_kind = PT_PLACE_FETCH;
    return (isnan(share) ? iterated_share(profile, &loading) : share) > 0.5;
}
