/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about what Python is slow at and a library does at once: rows of a table taken one by one, patterns
 * compiled again and again. Threads: one. Never: names what is done once, as a pattern that is kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"
#include "rules/custom.h"
#include "rules/general.h"
#include "own_lines.h"

/* Where it is most of what is done there, the rest is done for the same rows, or with the same pattern, and goes too.
 */
#define MOSTLY 0.5

static bool is_in(const struct pt_stack_frame *frame, const char *file, const char *function)
{
    return frame->flags & PT_FRAME_OF_PYTHON && frame->file && strstr(frame->file, file) &&
           strstr(frame->function, function);
}

/* ---- patterns ---- */

enum { PATTERN, COMPILER, ALL };
/* The rest of what looks for a pattern: a pattern that is found among those kept is compiled by nobody. */
#define LEAST_COMPILER 0.25

/* Before Python 3.11 the module was one file, with its compiler beside it. */
static bool is_of_re(const struct pt_stack_frame *frame, const char *function)
{
    return (is_in(frame, "/re/__init__.py", function) || is_in(frame, "/re.py", function)) &&
           !strcmp(frame->function, function);
}

static bool is_compiler(const struct pt_stack_frame *frame)
{
    return is_in(frame, "/re/_compiler.py", "") || is_in(frame, "/re/_parser.py", "") ||
           is_in(frame, "/sre_compile.py", "") || is_in(frame, "/sre_parse.py", "");
}

/* Who calls re.compile means to keep what it makes; who calls re.sub with a text has it looked for each time, and
 * compiled each time if there are more of them than the module keeps. */
static void add_patterns(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    const struct pt_stack_frame *own = pt_line_frame(stack);
    const double s = stack->cost[PT_STACK_STEPS_S];
    bool looks = false, compiles = false, keeps = false;
    for (const struct pt_stack_frame *frame = stack->frames; frame < own; frame++) {
        looks |= is_of_re(frame, "_compile");
        keeps |= is_of_re(frame, "compile");
        compiles |= is_compiler(frame);
    }
    sums[PATTERN] += looks && !keeps ? s : 0;
    sums[COMPILER] += looks && !keeps && compiles ? s : 0;
    sums[ALL] += s;
}

bool pt_rule_patterns_compiled_again(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_own_lines lines;
    struct pt_own_line most = {0};
    double s = 0;
    if (stage < 0)
        return false;
    pt_own_lines(profile, stage, add_patterns, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        const struct pt_own_line *line = &lines.items[i];
        if (!(line->sums[COMPILER] > LEAST_COMPILER * line->sums[PATTERN]))
            continue;
        s += line->sums[PATTERN];
        most = line->sums[PATTERN] > most.sums[PATTERN] ? *line : most;
    }
    pt_own_lines_free(&lines);
    if (!most.file || !(s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    /* One pattern with all alternatives also looks through each text once. */
    const bool is_mostly = most.sums[PATTERN] >= MOSTLY * most.sums[ALL];
    finding->gain_upper_s = s + (is_mostly ? most.sums[ALL] - most.sums[PATTERN] : 0);
    pt_finding_is_of_line(finding, &most);
    pt_finding_add_evidence(finding, "patterns_s", pt_real(s));
    pt_finding_add_evidence(finding, "in_line_s", pt_real(most.sums[ALL]));
    return true;
}

/* ---- rows ---- */

/* A loop over the rows of a table: the lines of a function from the first that takes a row to the last. */
struct loop {
    const char *file, *function; /* interned */
    pt_u32 first, last;
    double rows_s, all_s; /* to make rows and take values out of them; all that is done in the loop */
};

struct loops {
    PT_VEC(struct loop);
    double unknown_s; /* of a generator that was seen without who asks it */
};

static bool makes_rows(const struct pt_stack_frame *frame)
{
    return is_in(frame, "/pandas/core/frame.py", "iterrows") ||
           pt_python_is_function(frame, "/pandas/core/apply.py", "FrameColumnApply.series_generator");
}

/* By labels, as df.loc[i, "a"] = x. Whole columns, and rows that a mask chooses, go that way, too, but their time is
 * in native code. */
static bool sets_cell(const struct pt_stack_frame *frame)
{
    return pt_python_is_function(frame, "/pandas/core/indexing.py", "Indexer.__setitem__");
}

static bool takes_row(const struct pt_stack_frame *frame)
{
    return makes_rows(frame) || sets_cell(frame);
}

static bool is_in_python(const struct pt_stack *stack)
{
    return stack->n && stack->frames->flags & PT_FRAME_OF_PYTHON;
}

/* For each row, or for each column: of the short turns of a generator the callers are seldom known, of this one always.
 */
static bool asks_for_rows(const struct pt_stack_frame *frame)
{
    return pt_python_is_function(frame, "/pandas/core/apply.py", "FrameApply.apply_series_generator");
}

/* Each row is a Series; so is a column, of which nobody takes single values in such a number. */
static bool takes_value(const struct pt_stack_frame *frame)
{
    return pt_python_is_function(frame, "/pandas/core/series.py", "Series.__getitem__") ||
           pt_python_is_function(frame, "/pandas/core/series.py", "Series._get_value") ||
           pt_python_is_function(frame, "/pandas/core/generic.py", "NDFrame.__getattr__");
}

static const struct pt_stack_frame *end_of(const struct pt_stack *stack)
{
    return stack->frames + stack->n;
}

/* Of the frames from one on outwards the first that is so; NULL = none. */
static const struct pt_stack_frame *outwards(const struct pt_stack *stack, const struct pt_stack_frame *from,
                                             bool is_so(const struct pt_stack_frame *frame))
{
    for (const struct pt_stack_frame *frame = from; frame < end_of(stack); frame++)
        if (is_so(frame))
            return frame;
    return NULL;
}

static bool is_library(const struct pt_stack_frame *frame)
{
    return is_in(frame, "/pandas/core/", "");
}

static bool is_programs(const struct pt_stack_frame *frame)
{
    return pt_python_is_own(frame) && !is_library(frame);
}

static struct loop *loop_of(struct loops *loops, const struct pt_stack_frame *frame)
{
    for (size_t i = 0; i < loops->n; i++)
        if (loops->items[i].file == frame->file && loops->items[i].function == frame->function)
            return &loops->items[i];
    pt_vec_push(
        loops,
        ((struct loop){.file = frame->file, .function = frame->function, .first = frame->line, .last = frame->line}));
    return &loops->items[loops->n - 1];
}

static void widen(struct loop *loop, const struct pt_stack_frame *in)
{
    loop->first = in->line < loop->first ? in->line : loop->first;
    loop->last = in->line > loop->last ? in->line : loop->last;
}

/* Where rows are made: that the loop is there at all. */
static void find_loop(struct loops *loops, const struct pt_stack *stack)
{
    const struct pt_stack_frame *maker = outwards(stack, stack->frames, takes_row);
    const double s = stack->cost[PT_STACK_STEPS_S];
    if (!maker || (!makes_rows(maker) && !is_in_python(stack)))
        return;
    const struct pt_stack_frame *in = outwards(stack, maker, is_programs);
    if (!in) {
        loops->unknown_s += s;
        return;
    }
    struct loop *loop = loop_of(loops, in);
    loop->rows_s += s;
    widen(loop, in);
}

/* Rows are made, and nobody knows for whom. */
static void find_loop_of_asker(struct loops *loops, const struct pt_stack *stack)
{
    const struct pt_stack_frame *asker = outwards(stack, stack->frames, asks_for_rows);
    const struct pt_stack_frame *in = asker ? outwards(stack, asker, is_programs) : NULL;
    if (in)
        widen(loop_of(loops, in), in);
}

/* The frame of the loop in a stack: the function that holds it, or the one that has handed it to pandas. */
static const struct pt_stack_frame *frame_of(const struct pt_stack *stack, const struct loop *loop)
{
    for (const struct pt_stack_frame *frame = stack->frames; frame < end_of(stack); frame++)
        if (frame->file == loop->file && frame->function == loop->function && frame->line >= loop->first)
            return frame;
    return NULL;
}

/* Of handling rows, not of what is done with them. */
static bool handles_rows(const struct pt_stack_frame *frame)
{
    return takes_value(frame) || asks_for_rows(frame);
}

/* What takes a value out of a row, or hands it on; the nearest function of the program asks for it. */
static void add_values(struct loop *loop, const struct pt_stack *stack)
{
    const struct pt_stack_frame *own = outwards(stack, stack->frames, is_programs);
    const struct pt_stack_frame *value = outwards(stack, stack->frames, handles_rows);
    const struct pt_stack_frame *in = frame_of(stack, loop);
    if (!in || !value || value > own || outwards(stack, stack->frames, takes_row))
        return;
    loop->rows_s += stack->cost[PT_STACK_STEPS_S];
    loop->last = in->line > loop->last ? in->line : loop->last;
}

static void add_all(struct loop *loop, const struct pt_stack *stack)
{
    const struct pt_stack_frame *in = frame_of(stack, loop);
    loop->all_s += in && in->line <= loop->last ? stack->cost[PT_STACK_STEPS_S] : 0;
}

static void for_each(const struct pt_profile *profile, pt_i64 stage, struct loop *loop,
                     void add(struct loop *loop, const struct pt_stack *stack))
{
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage == stage && stack->cost[PT_STACK_STEPS_S] > 0)
            add(loop, stack);
    }
}

static void find_loops(const struct pt_profile *profile, pt_i64 stage, struct loops *loops,
                       void find(struct loops *loops, const struct pt_stack *stack))
{
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage == stage && stack->cost[PT_STACK_STEPS_S] > 0)
            find(loops, stack);
    }
}

static struct loop costliest(const struct pt_profile *profile, pt_i64 stage)
{
    struct loops loops = {0};
    struct loop most = {0};
    find_loops(profile, stage, &loops, find_loop);
    if (!loops.n && loops.unknown_s > 0)
        find_loops(profile, stage, &loops, find_loop_of_asker);
    for (size_t i = 0; i < loops.n; i++) {
        struct loop *loop = &loops.items[i];
        for_each(profile, stage, loop, add_values);
        for_each(profile, stage, loop, add_all);
        most = loop->rows_s > most.rows_s ? *loop : most;
    }
    most.rows_s += loops.unknown_s;
    most.all_s += loops.unknown_s;
    free(loops.items);
    return most;
}

bool pt_rule_rows_one_by_one(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (stage < 0)
        return false;
    const struct loop loop = costliest(profile, stage);
    if (!loop.file || !(loop.rows_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    /* Where rows are the smaller part of the loop, what is done with each may be no arithmetic: images that are read.
     */
    finding->gain_upper_s = loop.rows_s >= MOSTLY * loop.all_s ? fmax(loop.all_s, loop.rows_s) : loop.rows_s;
    pt_finding_is_of_line(finding, &(struct pt_own_line){loop.file, loop.function, loop.first, {0}});
    pt_finding_add_evidence(finding, "rows_s", pt_real(loop.rows_s));
    pt_finding_add_evidence(finding, "in_loop_s", pt_real(loop.all_s));
    return true;
}
