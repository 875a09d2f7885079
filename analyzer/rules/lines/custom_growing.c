/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about lines whose arrays are larger each time: all that came before is copied, or worked through,
 * again. Threads: one. Never: takes sizes that come at random, or a list that Python lets grow, for that.
 */
#include <math.h>

#include "rules/custom.h"
#include "rules/general.h"
#include "growing.h"

/* Of the bytes that the line allocates: what is done with an array makes others, of the same size or smaller. */
#define LEAST_GROWING 0.4
#define MOSTLY 0.5
/* What it makes pushes the rest out of the caches; measured: up to a sixth of its own time, of copies a tenth. */
#define WITH_WHAT_FOLLOWS 1.15
#define COPIES_WITH_WHAT_FOLLOWS 1.1

enum {
    ALLOCATED,
    GROWING,
    UPS,
    DOWNS,
    JOINING,
    COPYING,
    STEPS,
    BESIDE,
    TEXT_GROWING,
    TEXT_UPS,
    TEXT_DOWNS,
    TEXT_COPYING
};
enum { FEWEST_UPS = 3 }; /* eight times the first size, or so many sizes that double */

/* A list, a dictionary and a text of Python grow in place, or nearly: what they hold was made by somebody else. But a
 * text that an object holds, or that two names have, is copied by each +=. */
static bool is_of_interpreter(const struct pt_stack *stack)
{
    for (pt_u32 i = 0; i < stack->n; i++) {
        const pt_u32 flags = stack->frames[i].flags;
        if (!(flags & (PT_FRAME_OF_PYTHON | PT_FRAME_SERVES)))
            return flags & PT_FRAME_IS_PYTHON;
    }
    return false;
}

static const struct pt_code_pattern moves[] = {{NULL, "memmove"}, {NULL, "memcpy"}, {NULL, NULL}};

/* NumPy before 1.25 calls all of its functions through one, and distributions strip the names of those. */
static bool joins(const struct pt_stack *stack)
{
    static const struct pt_code_pattern named[] = {{NULL, "oncat"},      {NULL, "::cat::"},        {NULL, "cat_out"},
                                                   {NULL, "cat_serial"}, {"numpy/lib/", "append"}, {NULL, NULL}};
    static const struct pt_code_pattern any_of_numpy[] = {{"__array_function__", ""}, {NULL, NULL}};
    return pt_line_calls(stack, named) || (pt_line_calls(stack, any_of_numpy) && pt_line_calls(stack, moves));
}

static void add_to_line(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    static const struct pt_code_pattern frees[] = {{NULL, "munmap"}, {NULL, "dealloc"}, {NULL, NULL}};
    sums[ALLOCATED] += stack->cost[PT_STACK_ALLOCATED_BYTES];
    const bool is_text = is_of_interpreter(stack);
    sums[is_text ? TEXT_GROWING : GROWING] += stack->cost[PT_STACK_GROWING_BYTES];
    sums[is_text ? TEXT_UPS : UPS] += stack->cost[PT_STACK_SIZE_UPS];
    sums[is_text ? TEXT_DOWNS : DOWNS] += stack->cost[PT_STACK_SIZE_DOWNS];
    sums[BESIDE] += stack->cost[PT_STACK_BESIDE_S];
    const double steps_s = stack->cost[PT_STACK_STEPS_S];
    sums[STEPS] += steps_s;
    const bool is_join = steps_s > 0 && joins(stack);
    sums[JOINING] += is_join ? steps_s : 0;
    sums[TEXT_COPYING] += steps_s > 0 && pt_line_calls(stack, moves) ? steps_s : 0;
    sums[COPYING] += is_join || (steps_s > 0 && pt_line_calls(stack, frees)) ? steps_s : 0;
}

static bool grows(const struct pt_own_line *line)
{
    return line->sums[UPS] >= FEWEST_UPS && 3 * line->sums[DOWNS] <= line->sums[UPS] &&
           line->sums[GROWING] >= LEAST_GROWING * line->sums[ALLOCATED];
}

/* Where joining is the smaller part of a line, it is told as what is done with all. What it made is given back there,
 * too. */
static bool mostly_copies(const struct pt_own_line *line)
{
    return line->sums[JOINING] > 0 && line->sums[COPYING] >= MOSTLY * line->sums[STEPS];
}

/* The line that costs most, and what all of them cost: an array is mostly used in several. */
static struct pt_own_line costliest(const struct pt_profile *profile, pt_i64 stage, bool of_copies, double *ret_s)
{
    struct pt_own_lines lines;
    struct pt_own_line most = {0};
    double most_s = 0;
    *ret_s = 0;
    pt_own_lines(profile, stage, add_to_line, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        const struct pt_own_line *line = &lines.items[i];
        const double s = of_copies ? line->sums[COPYING] : line->sums[BESIDE];
        if (!grows(line) || (of_copies && !mostly_copies(line)))
            continue;
        *ret_s += s;
        if (mostly_copies(line) != of_copies || !(s > most_s))
            continue;
        most_s = s;
        most = *line;
    }
    pt_own_lines_free(&lines);
    return most;
}

/* Of the interpreter's own: parts that are made of one another go, too. */
static struct pt_own_line growing_text(const struct pt_profile *profile, pt_i64 stage)
{
    struct pt_own_lines lines;
    struct pt_own_line most = {0};
    pt_own_lines(profile, stage, add_to_line, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        const double *sums = lines.items[i].sums;
        if (sums[TEXT_UPS] >= FEWEST_UPS && 3 * sums[TEXT_DOWNS] <= sums[TEXT_UPS] &&
            sums[TEXT_GROWING] >= LEAST_GROWING * sums[ALLOCATED] && sums[TEXT_COPYING] >= MOSTLY * sums[STEPS] &&
            sums[TEXT_COPYING] > most.sums[TEXT_COPYING])
            most = lines.items[i];
    }
    pt_own_lines_free(&lines);
    return most;
}

double pt_growing_bytes(const struct pt_profile *profile, pt_i64 stage)
{
    double s;
    return fmax(costliest(profile, stage, true, &s).sums[ALLOCATED], growing_text(profile, stage).sums[ALLOCATED]);
}

/* Where samples become longer with time, sorted by their lengths, what a model makes of them grows, too: then a loss
 * that takes longer works through nothing twice. */
static bool samples_grow(const struct pt_profile *profile, pt_i64 stage)
{
    static const struct pt_code_pattern modules[] = {{"/torch/nn/modules/module.py", "_call_impl"}, {NULL, NULL}};
    double allocated = 0, growing = 0;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage || !(stack->cost[PT_STACK_ALLOCATED_BYTES] > 0) ||
            !pt_line_calls(stack, modules))
            continue;
        allocated += stack->cost[PT_STACK_ALLOCATED_BYTES];
        growing += stack->cost[PT_STACK_GROWING_BYTES];
    }
    return growing > 0 && growing >= LEAST_GROWING * allocated;
}

static bool complain(struct pt_profile *profile, pt_i64 stage, bool of_copies, struct pt_finding *finding)
{
    if (stage < 0)
        return false;
    double s;
    const struct pt_own_line line = costliest(profile, stage, of_copies, &s);
    if (!line.file || !(s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->with_what_follows = of_copies ? COPIES_WITH_WHAT_FOLLOWS : WITH_WHAT_FOLLOWS;
    finding->gain_upper_s = s * finding->with_what_follows;
    pt_finding_is_of_line(finding, &line);
    pt_finding_add_evidence(finding, of_copies ? "copying_s" : "in_lines_s", pt_real(s));
    pt_finding_add_evidence(finding, "allocated_there_bytes", pt_integer((pt_u64)line.sums[ALLOCATED]));
    pt_finding_add_evidence(finding, "larger_each_time_bytes", pt_integer((pt_u64)line.sums[GROWING]));
    pt_finding_add_metrics(finding, &profile->metrics, "rss_max_bytes:rss.max_bytes steps:steps.count");
    return true;
}

/* What is taken and given back for them by the kernel stands in no line. */
static bool complain_of_text(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct pt_own_line line = stage >= 0 ? growing_text(profile, stage) : (struct pt_own_line){0};
    if (!line.file || !(line.sums[TEXT_COPYING] >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->title = "A text is made anew, larger each time: all that came before is copied";
    finding->remedy = "collect its parts in a list, and join them once: \"\".join(parts), or io.StringIO";
    finding->advice = "x += y copies all of x, unless x is a local name and nobody else holds it: append the parts to "
                      "a list and call "
                      "\"\".join(parts) at the end, or write them into io.StringIO, a file, a bytearray.";
    finding->with_what_follows = WITH_WHAT_FOLLOWS;
    finding->gain_upper_s = line.sums[STEPS] * WITH_WHAT_FOLLOWS;
    pt_finding_is_of_line(finding, &line);
    pt_finding_add_evidence(finding, "copying_s", pt_real(line.sums[TEXT_COPYING]));
    pt_finding_add_evidence(finding, "allocated_there_bytes", pt_integer((pt_u64)line.sums[ALLOCATED]));
    pt_finding_add_evidence(finding, "larger_each_time_bytes", pt_integer((pt_u64)line.sums[TEXT_GROWING]));
    pt_finding_add_metrics(finding, &profile->metrics, "rss_max_bytes:rss.max_bytes");
    return true;
}

bool pt_rule_growing_copies(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    return complain(profile, stage, true, finding) || complain_of_text(profile, stage, finding);
}

bool pt_rule_growing_work(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    return !samples_grow(profile, stage) && complain(profile, stage, false, finding);
}
