/* SPDX-License-Identifier: MIT
 *
 * Owns: the place of a finding: of all places in its stacks the one that costs most. Threads: one. Never: guesses: what
 * no sample and no stack names is unknown, with the reason.
 */
#include "place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"
#include "finding_stacks.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/text/path.h"

static struct pt_place unknown(const char *reason)
{
    return (struct pt_place){.reason = reason};
}

/* Without any stack: what was missing to take them. */
static const char *why_no_stack(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const char *no_profile = pt_profile_why_no_cpu_profile(profile, (pt_u32)finding->stage);
    const struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)finding->stage);
    const pt_u32 of_heap =
        1u << PT_PLACE_ALLOCATED | 1u << PT_PLACE_GROWTH | 1u << PT_PLACE_HELD | 1u << PT_PLACE_CHURN;
    const pt_u32 of_cpu = 1u << PT_PLACE_NOWHERE | 1u << PT_PLACE_CPU | 1u << PT_PLACE_STEPS | 1u << PT_PLACE_FORWARD |
                          1u << PT_PLACE_PREPARING | 1u << PT_PLACE_TRAINING | 1u << PT_PLACE_IMPORTING |
                          1u << PT_PLACE_BESIDE | 1u << PT_PLACE_BEHIND | 1u << PT_PLACE_FETCH | 1u << PT_PLACE_FAULT |
                          1u << PT_PLACE_FORK;
    if (finding->place_kind == PT_PLACE_IMPORT)
        return "no stack of Python was taken in these imports";
    if (of_heap >> finding->place_kind & 1)
        return "no stack was taken of these allocations";
    if (of_cpu >> finding->place_kind & 1)
        return pt_metrics_find_table(metrics, scope, "cpu.stacks") ? "no CPU sample lies there" : no_profile;
    if (pt_metrics_find_table(metrics, scope, "cpu.off_stacks"))
        return "no stack was taken of these waits";
    const struct pt_value off = pt_metrics_get(metrics, scope, "cpu.off_s");
    const bool is_refused = off.type == PT_VALUE_UNKNOWN && pt_metrics_has(metrics, scope, "cpu.off_s");
    return is_refused ? off.reason : no_profile;
}

/* ---- places ---- */

struct spot {
    const struct pt_stack_frame *named, *program; /* NULL = it has none */
    double cost, most;                            /* most: of one of its lines, which `named` is */
};

struct spots {
    PT_VEC(struct spot);
    struct pt_map
        by_name; /* the address of the name and its file, which is one for each, else of the file's -> index, plus 1 */
    struct {
        PT_VEC(double);
    } lines;               /* what each line of a function costs: of many stacks, which go on elsewhere */
    struct pt_map by_line; /* of name and line -> index, plus 1 */
};

/* What the line costs with this stack. */
static double add_to_line(struct spots *spots, pt_u64 key, const struct pt_finding_stack *stack,
                          const struct pt_stack_frame *named)
{
    pt_u64 *slot = pt_map_at(&spots->by_line, pt_hash_pair(key, named ? named->line : 0));
    if (!*slot) {
        pt_vec_push(&spots->lines, 0.0);
        *slot = spots->lines.n;
    }
    return spots->lines.items[*slot - 1] += stack->cost;
}

/* A library's threads and the start of a worker have no line of the program: such a place is told where it costs this
 * much more than the program's own. */
#define LIBRARY_COSTS_MORE 4
#define ALL_PERCENT 99.5
#define ABOUT_ALL 0.8 /* of its function */

static double weight(const struct spot *spot)
{
    const struct pt_stack_frame *named = spot->named;
    const bool is_library = named && pt_python_is_library_frame(named);
    return is_library ? spot->cost / LIBRARY_COSTS_MORE : spot->cost;
}

static struct spot heaviest(const struct pt_finding_stacks *stacks)
{
    struct spots spots = {0};
    size_t best = 0;
    for (size_t i = 0; i < stacks->n; i++) {
        const struct pt_finding_stack *stack = &stacks->items[i];
        const struct pt_stack_frame *named = pt_named_frame(stack);
        const struct pt_stack_frame *program = pt_program_frame(stack);
        const char *key = named                              ? named->function
                          : !program                         ? ""
                          : program->flags & PT_FRAME_IS_JIT ? program->function /* such memory is in no file */
                                                             : program->module;
        /* There is a <module> and an __init__ in many files. */
        const char *file = named && named->file ? named->file : "";
        const pt_u64 of_place = (uintptr_t)key ^ (pt_u64)(uintptr_t)file << 16;
        pt_u64 *slot = pt_map_at(&spots.by_name, of_place);
        if (!*slot) {
            pt_vec_push(&spots, ((struct spot){named, program, 0, 0}));
            *slot = spots.n;
        }
        spots.items[*slot - 1].cost += stack->cost;
        const double of_line = add_to_line(&spots, of_place, stack, named);
        if (of_line > spots.items[*slot - 1].most) {
            spots.items[*slot - 1].most = of_line;
            spots.items[*slot - 1].named = named;
        }
        if (weight(&spots.items[*slot - 1]) > weight(&spots.items[best]))
            best = *slot - 1;
    }
    const struct spot spot = spots.items[best];
    free(spots.items);
    free(spots.lines.items);
    pt_map_fini(&spots.by_name);
    pt_map_fini(&spots.by_line);
    return spot;
}

/* ---- what a library does for a line ---- */

/* `trainer.fit(model)`, and the `for` line of a loader with packages' data sets and transforms, are all that a whole
 * training has of its program's own: each of its findings pointed there. */

#define LEAST_OF_LINE 0.5   /* with less, another function may do more of it */
#define WHOLE_PROGRAM 0.9   /* of the finding: with less, a function of the program says what it does */
enum { LEAST_DEPTH = 3 };   /* functions from the line inwards: what it calls itself, its reader knows */
enum { LONGEST_NAME = 30 }; /* with the class: lines of a terminal are short, and the file tells */

struct work {
    const struct pt_stack_frame *frame; /* where most of its time came from */
    double cost, most;
    pt_u32 index; /* in its first stack */
    size_t stack; /* the last one that it was in, plus 1 */
};

struct works {
    PT_VEC(struct work);
    struct pt_map by_function; /* -> index, plus 1 */
};

/* They pass on what others do: PyTorch's loader, how its modules call each other, and how native code goes back. */
static bool hands_on(const struct pt_stack_frame *frame)
{
    static const char *const files[] = {"/torch/utils/data/_utils/worker.py", "/torch/utils/data/_utils/fetch.py",
                                        "/torch/utils/data/dataloader.py", "/torch/nn/modules/module.py",
                                        "/torch/autograd/"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strstr(frame->file, files[i]))
            return true;
    return *frame->function == '<'; /* a part of a function without a name */
}

static bool is_of_package(const struct pt_stack_frame *frame)
{
    const struct pt_python_program unknown_program = {0};
    return pt_python_is_library_frame(frame) && *frame->file == '/' &&
           pt_python_owner_of(&unknown_program, frame->function, frame->file, frame->line) == PT_OWNER_PACKAGE;
}

static void add_work(struct works *works, const struct pt_finding_stack *stack, size_t number, pt_u32 index)
{
    const struct pt_stack_frame *frame = &stack->frames[index];
    pt_u64 *slot = pt_map_at(&works->by_function, pt_hash_pair((uintptr_t)frame->function, (uintptr_t)frame->file));
    if (!*slot) {
        pt_vec_push(works, ((struct work){.frame = frame, .index = index}));
        *slot = works->n;
    }
    struct work *work = &works->items[*slot - 1];
    if (work->stack == number) /* it calls itself */
        return;
    work->stack = number;
    work->cost += stack->cost;
    work->frame = stack->cost > work->most ? frame : work->frame;
    work->most = fmax(work->most, stack->cost);
}

/* The frames of Python below the program's own one. A process that was forked for the work has those of whoever forked
 * it around its own: there nothing that the line calls is known to its reader. */
static void add_works(struct works *works, const struct pt_finding_stack *stack, size_t number,
                      const struct pt_stack_frame *named, bool is_whole)
{
    pt_u32 n = (pt_u32)(named - stack->frames), depth = 0;
    const pt_u32 start = pt_start_of_worker(stack->frames, n);
    const bool is_of_worker = start < n;
    if (!is_of_worker && !is_whole)
        return;
    n = start;
    for (pt_u32 i = 0; i < n; i++)
        depth += (stack->frames[i].flags & PT_FRAME_OF_PYTHON) != 0;
    for (pt_u32 i = 0; i < n && (is_of_worker || depth >= LEAST_DEPTH); i++) {
        if (!(stack->frames[i].flags & PT_FRAME_OF_PYTHON))
            continue;
        if (is_of_package(&stack->frames[i]) && !hands_on(&stack->frames[i]))
            add_work(works, stack, number, i);
        depth--;
    }
}

/* Of the functions of packages that have most of the line's cost the innermost: the others only lead there. NULL =
 * there is none. */
static struct work work_of_line(const struct spot *spot, const struct pt_finding_stacks *stacks)
{
    struct works works = {0};
    struct work best = {0};
    const struct pt_stack_frame *line = spot->named;
    const bool is_whole = !strcmp(line->function, "<module>") || spot->cost >= WHOLE_PROGRAM * stacks->cost;
    for (size_t i = 0; i < stacks->n && !pt_python_is_library_frame(line); i++) {
        const struct pt_stack_frame *named = pt_named_frame(&stacks->items[i]);
        if (named && named->function == line->function && named->file == line->file && named->line == line->line)
            add_works(&works, &stacks->items[i], i + 1, named, is_whole);
    }
    for (size_t i = 0; i < works.n; i++) {
        const struct work *work = &works.items[i];
        const bool is_inner = work->cost < best.cost || (work->cost == best.cost && work->index < best.index);
        if (work->cost >= LEAST_OF_LINE * spot->most && (!best.frame || is_inner))
            best = *work;
    }
    free(works.items);
    pt_map_fini(&works.by_function);
    return best;
}

/* ---- in words ---- */

/* "read_all (load.c:12), 80 % of the waiting" */
static const char *with_share(struct pt_metrics *metrics, const char *text, const struct spot *spot,
                              const struct pt_finding_stacks *stacks)
{
    const double percent = 100 * spot->cost / stacks->cost;
    const char *what = stacks->is_of_rest ? "the rest" : stacks->what;
    return percent >= ALL_PERCENT || stacks->is_of_line
               ? text
               : pt_metrics_format(metrics, "%s, %.0f %% of %s", text, percent, what);
}

/* A share beside a line is the line's; what the whole function has more is said with its name. */
static const char *with_share_of_line(struct pt_metrics *metrics, const char *text, const struct spot *spot,
                                      const struct pt_finding_stacks *stacks)
{
    const double percent = 100 * spot->cost / stacks->cost, of_line_percent = 100 * spot->most / stacks->cost;
    if (of_line_percent >= ABOUT_ALL * percent || stacks->is_of_line)
        return with_share(metrics, text, spot, stacks);
    return pt_metrics_format(metrics, "%s, %.0f %% of %s (the function: %.0f %%)", text, of_line_percent,
                             stacks->is_of_rest ? "the rest" : stacks->what, percent);
}

/* "libjpeg.so.62"; of an extension of Python its package: "PIL/_imaging". */
static const char *file_label(struct pt_metrics *metrics, const char *path)
{
    const char *base = pt_base_name(path), *end = strstr(base, ".cpython-"), *from = base;
    end = end ? end : strstr(base, ".abi3.so");
    if (!end)
        return base;
    for (from -= from > path; from > path && from[-1] != '/';)
        from--;
    return pt_metrics_format(metrics, "%.*s", (int)(end - from), from);
}

/* "train.py:27 <module> > data_collator.py:812 torch_call, 71 % of the CPU time": a share is of what stands last. */
static const char *with_work(struct pt_metrics *metrics, const char *text, const struct work *work,
                             const struct pt_finding_stacks *stacks)
{
    const struct spot spot = {.cost = work->cost};
    const char *function = work->frame->function;
    const int length = (int)pt_python_named_length(function);
    const char *dot = length > LONGEST_NAME ? memrchr(function, '.', (size_t)length) : NULL;
    const char *name = dot ? dot + 1 : function;
    const char *at = pt_metrics_format(metrics, "%s > %s:%u %.*s", text, pt_telling_name(work->frame->file),
                                       work->frame->line, length - (int)(name - function), name);
    return with_share(metrics, at, &spot, stacks);
}

static struct pt_place python_place(struct pt_metrics *metrics, const struct spot *spot,
                                    const struct pt_finding_stacks *stacks)
{
    const struct pt_stack_frame *frame = spot->named;
    const struct work work = work_of_line(spot, stacks);
    const char *at = pt_python_place_text(metrics, frame->file, frame->line, frame->function);
    return (struct pt_place){
        .function = frame->function,
        .file = frame->file,
        .line = frame->line,
        .language = "python",
        .text = work.frame ? with_work(metrics, at, &work, stacks) : with_share_of_line(metrics, at, spot, stacks),
    };
}

static struct pt_place named_place(struct pt_metrics *metrics, const struct spot *spot,
                                   const struct pt_finding_stacks *stacks)
{
    const struct pt_stack_frame *frame = spot->named;
    const char *at = frame->file     ? pt_metrics_format(metrics, " (%s:%u)", pt_base_name(frame->file), frame->line)
                     : frame->module ? pt_metrics_format(metrics, " (%s)", file_label(metrics, frame->module))
                                     : "";
    return (struct pt_place){
        .function = frame->function,
        .file = frame->file,
        .line = frame->file ? frame->line : 0,
        .module = frame->module,
        .language = "native",
        .text = with_share(metrics, pt_metrics_format(metrics, "%s%s", frame->function, at), spot, stacks),
    };
}

/* Of the file alone is known which it is. */
static struct pt_place nameless_place(struct pt_metrics *metrics, const struct spot *spot,
                                      const struct pt_finding_stacks *stacks)
{
    const struct pt_stack_frame *frame = spot->program;
    const bool is_python = frame->flags & PT_FRAME_IS_PYTHON;
    const bool is_jit = frame->flags & PT_FRAME_IS_JIT;
    const char *file = is_jit ? frame->function : file_label(metrics, frame->module);
    return (struct pt_place){
        .module = frame->module,
        .language = is_python ? "python" : "native",
        .text =
            with_share(metrics, is_python ? pt_metrics_format(metrics, "Python code (%s)", file) : file, spot, stacks),
        .reason = is_python ? "Python code: the trace does not tell its functions"
                  : is_jit  ? "code that was made at run time, without names"
                            : "its file has no symbols for it",
    };
}

/* What a rule knows of it: where the program was while a GPU was idle. */
static struct pt_place place_of_rule(const struct pt_finding *finding)
{
    struct pt_place place = unknown("it lies in no single place of the code");
    for (pt_u32 i = 0; i < finding->n_evidence; i++)
        if (!strcmp(finding->evidence[i].key, "where") && finding->evidence[i].value.type == PT_VALUE_TEXT)
            place.text = finding->evidence[i].value.text;
    return place;
}

struct pt_place pt_place_of(struct pt_profile *profile, const struct pt_finding *finding)
{
    if (finding->stage < 0)
        return unknown("it is about the run as a whole");
    struct pt_finding_stacks stacks;
    pt_finding_stacks(profile, finding, &stacks);
    if (!stacks.what)
        return place_of_rule(finding);
    if (!stacks.n)
        return unknown(why_no_stack(profile, finding));
    const struct spot spot = heaviest(&stacks);
    const bool is_python = spot.named && spot.named->flags & PT_FRAME_OF_PYTHON;
    const struct pt_place place = is_python      ? python_place(&profile->metrics, &spot, &stacks)
                                  : spot.named   ? named_place(&profile->metrics, &spot, &stacks)
                                  : spot.program ? nameless_place(&profile->metrics, &spot, &stacks)
                                                 : unknown("its stacks hold no frame of the program");
    pt_finding_stacks_free(&stacks);
    return place;
}
