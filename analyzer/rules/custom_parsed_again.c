/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about what is made of a file each time that it is read again. To read it costs next to nothing, for it
 * is in memory; to parse it may take most of the time. Threads: one. Never: counts what a function drives as its
 * parsing.
 */
#include <math.h>
#include <string.h>

#include "custom.h"
#include "facts/python/frames.h"
#include "read_again.h"
#include "util/auto.h"
#include "util/map.h"

/* Of a function's time, with all that it calls: what it spends on other functions of the program and on a framework's
 * operations must be less than this. */
#define MOST_FOR_OTHERS 0.5
/* Of all that the main thread computes: with more, what is called from the outermost code is the program. */
#define WHOLE_PROGRAM 0.9
#define LEAST_SHARE 0.05
/* What it made is freed where it was held, and pushes the rest out of the caches; measured: a tenth of its own time. */
#define WITH_WHAT_FOLLOWS 1.15
/* A tenth of what YAML in pure Python takes in, the slowest that was measured. Below it a loop computes that
 * looks at a small file now and then. */
#define SLOWEST_PARSER_BYTES_PER_S 20000

struct reader {
    const char *file, *function;
    double own_s; /* in it, and in what it calls but other functions of the program, without a framework */
    struct pt_read_again again;
};

/* By the stacks that a user knows by it. */
static struct reader reader_of(struct pt_profile *profile, pt_i64 stage, const struct pt_stack_frame *frame)
{
    const char *function =
        pt_metrics_format(&profile->metrics, "%.*s", (int)pt_python_named_length(frame->function), frame->function);
    struct reader reader = {frame->file, function, .again = pt_read_again_in(profile, stage, frame->file, function)};
    for (size_t i = 0; reader.again.path && i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage || stack->part != PT_STACK_ANY_PART)
            continue;
        const struct pt_stack_frame *own = pt_python_own_frame(stack->frames, stack->n);
        reader.own_s +=
            own && pt_python_is_part_of(own->function, reader.function) ? stack->cost[PT_STACK_PREPARING_S] : 0;
    }
    return reader;
}

/* Of all functions that read again the one that costs most. */
static struct reader costliest_reader(struct pt_profile *profile, pt_i64 stage)
{
    struct reader most = {0};
    PT_AUTO(pt_map_fini) struct pt_map seen = {0};
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        const struct pt_stack_frame *own =
            (pt_i64)stack->stage == stage && stack->part == PT_STACK_ANY_PART && stack->cost[PT_STACK_PREPARING_S] > 0
                ? pt_python_own_frame(stack->frames, stack->n)
                : NULL;
        if (!own || !own->file || !strcmp(own->function, "<module>") || own->flags & PT_FRAME_SERVES)
            continue;
        pt_u64 *was_seen = pt_map_at(&seen, (uintptr_t)own->function);
        if ((*was_seen)++)
            continue;
        const struct reader reader = reader_of(profile, stage, own);
        if (reader.own_s > most.own_s)
            most = reader;
    }
    return most;
}

/* How far out the function is among the frames; -1 = it is not there. */
static pt_i64 index_of(const struct pt_stack *stack, const char *function)
{
    for (pt_u32 i = stack->n; i-- > 0;)
        if (stack->frames[i].flags & PT_FRAME_OF_PYTHON && pt_python_is_part_of(stack->frames[i].function, function))
            return i;
    return -1;
}

static bool is_called_by_function(const struct pt_stack *stack, pt_i64 index)
{
    for (pt_u32 i = (pt_u32)index + 1; i < stack->n; i++)
        if (stack->frames[i].flags & PT_FRAME_OF_PYTHON && !(stack->frames[i].flags & PT_FRAME_SERVES))
            return strcmp(stack->frames[i].function, "<module>") != 0;
    return false;
}

/* Not if it runs the program and reads on the way. */
static bool only_reads(const struct pt_profile *profile, pt_i64 stage, const struct reader *reader)
{
    double all_s = 0, with_s = 0, called_s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage || stack->part != PT_STACK_ANY_PART)
            continue;
        const pt_i64 index = index_of(stack, reader->function);
        all_s += stack->cost[PT_STACK_STEPS_S];
        with_s += index < 0 ? 0 : stack->cost[PT_STACK_STEPS_S];
        called_s += index >= 0 && is_called_by_function(stack, index) ? stack->cost[PT_STACK_STEPS_S] : 0;
    }
    return reader->own_s >= (1 - MOST_FOR_OTHERS) * with_s &&
           (with_s < WHOLE_PROGRAM * all_s || called_s >= with_s / 2);
}

bool pt_rule_parsed_again(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const double python_s = pt_finding_number(finding, &profile->metrics, "time.python_s");
    if (stage < 0 || !(python_s > 0))
        return false;
    const struct reader reader = costliest_reader(profile, stage);
    if (!reader.again.path || reader.own_s < LEAST_SHARE * python_s ||
        reader.again.read_bytes < SLOWEST_PARSER_BYTES_PER_S * reader.own_s || !only_reads(profile, stage, &reader))
        return false;
    finding->in_function = reader.function;
    finding->gain_upper_s = WITH_WHAT_FOLLOWS * reader.again.share * fmin(reader.own_s, python_s);
    pt_finding_add_evidence(finding, "file", pt_text(reader.again.path));
    pt_finding_add_evidence(finding, "open_calls", pt_integer(reader.again.opens));
    pt_finding_add_evidence(finding, "parsing_s", pt_real(reader.own_s));
    pt_finding_add_metrics(finding, &profile->metrics, "read_again_bytes:io.read_again.bytes");
    return true;
}
