/* SPDX-License-Identifier: MIT
 *
 * Owns: the call tree that a flame graph shows. Threads: one. Never: gives a child more than its caller has; depends on
 * the order of samples for the order of siblings.
 *
 * What would bury the program's own functions is one row: frames of the Python interpreter that follow each other (the
 * last one stays when it is what ran), a function that calls itself, and, where the tree would be too deep, chains of
 * functions that each call one other only.
 */
#include "flame.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/text/path.h"

enum { MOST_SPOTS = 400, MOST_DEPTH = 24, INTERPRETER = 0 };

static const double LEAST_SHARE = 0.003, CHAIN_SHARE = 0.98;

/* A place in the tree. The first is the stage. */
struct spot {
    const char *name, *module, *kind;
    pt_u32 parent, function, first, next; /* first child, next sibling; 0 = none */
    pt_u32 threads;                       /* of a group of threads */
    double total_s, self_s;
    pt_u64 samples;
    bool is_too_deep;
};

struct flame {
    struct pt_metrics *metrics;
    struct pt_cpu_view *view;
    struct {
        PT_VEC(struct spot);
    } spots;
    struct pt_map by_comm, by_call, by_frame; /* comm -> group, (spot, function) -> spot, (group, frame) -> spot */
    struct pt_map by_thread;
    struct {
        PT_VEC(pt_u32);
    } pending;
    double least_s;
    pt_u32 depth; /* of the tree without the folding of chains */
    bool folds_chains;
    double deeper_s;
    pt_u32 shown; /* in the rows: of a chain all its places */
};

/* ---- growing the tree ---- */

static const char *kind_of(const struct pt_cpu_function *function)
{
    if (function->code == PT_CODE_KERNEL)
        return "kernel";
    if (function->code == PT_CODE_PYTHON || function->code == PT_CODE_SCRIPT)
        return "python";
    return (function->module && function->module[0] == '/') || function->code == PT_CODE_JIT ? "native" : "other";
}

static pt_u32 add_spot(struct flame *f, struct spot spot)
{
    const pt_u32 number = (pt_u32)f->spots.n;
    spot.next = number ? f->spots.items[spot.parent].first : 0;
    if (number)
        f->spots.items[spot.parent].first = number;
    pt_vec_push(&f->spots, spot);
    return number;
}

static pt_u32 child_of(struct flame *f, pt_u32 parent, pt_u32 function)
{
    pt_u64 *number = pt_map_at(&f->by_call, (pt_u64)parent << 32 | function);
    if (!*number) {
        const struct pt_cpu_function *what = &f->view->functions.items[function];
        struct spot spot = {.name = what->name,
                            .module = what->code == PT_CODE_SCRIPT ? what->file : what->module,
                            .parent = parent,
                            .function = function};
        spot.kind = kind_of(what);
        if (function == INTERPRETER) {
            spot.name = "Python interpreter";
            spot.kind = "python";
        }
        *number = add_spot(f, spot);
    }
    return (pt_u32)*number;
}

/* Threads of one name are one: workers differ in their number only. */
static pt_u32 group_of(struct flame *f, pt_u32 thread)
{
    const char *comm = f->view->data->threads[thread].comm;
    const char *text = pt_intern_bytes(&f->view->texts, comm, strnlen(comm, PT_CPU_COMM_BYTES));
    pt_u64 *number = pt_map_at(&f->by_comm, (uintptr_t)text);
    if (!*number)
        *number = add_spot(f, (struct spot){.name = *text ? text : "(unknown thread)", .kind = "thread"});
    const pt_u32 group = (pt_u32)*number;
    pt_u64 *seen = pt_map_at(&f->by_thread, thread);
    f->spots.items[group].threads += !*seen;
    *seen = 1;
    return group;
}

static bool is_python(const struct flame *f, pt_u32 function)
{
    return f->view->functions.items[function].code == PT_CODE_PYTHON;
}

/* Where what a frame calls hangs. */
static pt_u32 spot_of(struct flame *f, pt_u32 group, pt_u32 frame)
{
    const struct pt_cpu_frame *frames = f->view->frames.items;
    const pt_u64 *known = NULL;
    f->pending.n = 0;
    for (; frame && !(known = pt_map_find(&f->by_frame, (pt_u64)group << 32 | frame)); frame = frames[frame].parent)
        pt_vec_push(&f->pending, frame);
    pt_u32 at = known ? (pt_u32)*known : group;
    while (f->pending.n) {
        const pt_u32 next = f->pending.items[--f->pending.n];
        const pt_u32 function = is_python(f, frames[next].function) ? (pt_u32)INTERPRETER : pt_cpu_shown(f->view, next);
        if (at == group || f->spots.items[at].function != function)
            at = child_of(f, at, function);
        *pt_map_at(&f->by_frame, (pt_u64)group << 32 | next) = at;
    }
    return at;
}

static void add_count(struct flame *f, const struct pt_cpu_count *count)
{
    const double s = (double)count->samples * f->view->shared_s[count->thread];
    const pt_u32 leaf = f->view->frame_of[count->node];
    const pt_u32 function = leaf ? f->view->frames.items[leaf].function : 0;
    pt_u32 at = spot_of(f, group_of(f, count->thread), leaf);
    if (leaf && is_python(f, function))
        at = child_of(f, at, function);
    f->spots.items[at].self_s += s;
    for (;; at = f->spots.items[at].parent) {
        f->spots.items[at].total_s += s;
        f->spots.items[at].samples += count->samples;
        if (!at)
            break;
    }
}

/* ---- cutting it down ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* A caller has at least what any of its children has: so what is large enough hangs together. */
static void choose(struct flame *f)
{
    f->least_s = LEAST_SHARE * f->spots.items[0].total_s;
    if (f->spots.n <= MOST_SPOTS)
        return;
    PT_AUTO(pt_freep) double *sizes = pt_calloc(f->spots.n, sizeof *sizes);
    for (size_t i = 0; i < f->spots.n; i++)
        sizes[i] = f->spots.items[i].total_s;
    qsort(sizes, f->spots.n, sizeof *sizes, by_size);
    if (sizes[MOST_SPOTS] >= f->least_s)
        f->least_s = sizes[MOST_SPOTS] * (1 + 1e-12);
}

static bool is_shown(const struct flame *f, pt_u32 spot)
{
    return f->spots.items[spot].total_s > 0 && f->spots.items[spot].total_s >= f->least_s;
}

static pt_u32 depth_of(const struct flame *f)
{
    PT_AUTO(pt_freep) pt_u32 *depths = pt_calloc(f->spots.n, sizeof *depths);
    pt_u32 deepest = 0;
    for (pt_u32 i = 1; i < f->spots.n; i++) {
        depths[i] = depths[f->spots.items[i].parent] + 1;
        if (is_shown(f, i) && depths[i] > deepest)
            deepest = depths[i];
    }
    return deepest;
}

struct child {
    pt_u32 spot;
    const struct spot *what;
};

static int by_rank(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    if (x->what->total_s != y->what->total_s)
        return x->what->total_s < y->what->total_s ? 1 : -1;
    const int order = strcmp(x->what->name, y->what->name);
    return order ? order : x->spot < y->spot ? -1 : 1;
}

/* The largest first. */
static pt_u32 children_of(const struct flame *f, pt_u32 spot, struct child **ret)
{
    pt_u32 n = 0;
    for (pt_u32 i = f->spots.items[spot].first; i; i = f->spots.items[i].next)
        n += is_shown(f, i);
    *ret = pt_calloc((size_t)n + 1, sizeof **ret);
    n = 0;
    for (pt_u32 i = f->spots.items[spot].first; i; i = f->spots.items[i].next)
        if (is_shown(f, i))
            (*ret)[n++] = (struct child){i, &f->spots.items[i]};
    qsort(*ret, n, sizeof **ret, by_rank);
    return n;
}

/* The end of a chain of functions that each call one other only; `spot` itself when there is none. */
static pt_u32 chain_end(const struct flame *f, pt_u32 spot, pt_u32 *ret_frames)
{
    const struct spot *top = &f->spots.items[spot];
    *ret_frames = 1;
    while (f->folds_chains && top->parent && !strcmp(top->kind, "native")) {
        PT_AUTO(pt_freep) struct child *children = NULL;
        const pt_u32 n = children_of(f, spot, &children);
        if (n != 1 || children[0].what->total_s < CHAIN_SHARE * top->total_s ||
            strcmp(children[0].what->kind, "native"))
            break;
        spot = children[0].spot;
        ++*ret_frames;
    }
    return spot;
}

/* ---- the table ---- */

struct frame_row {
    pt_u32 depth, frames;
    const char *function, *kind;
    struct pt_value module;
    double total_s, self_s;
    pt_u64 samples;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct frame_row, depth, NUMBER, "Depth"),
    PT_COLUMN(struct frame_row, function, TEXT, "Function"),
    PT_COLUMN(struct frame_row, kind, TEXT, "Kind"),
    PT_COLUMN(struct frame_row, module, TEXT, "Module"),
    PT_COLUMN(struct frame_row, frames, COUNT, "Frames"),
    PT_COLUMN(struct frame_row, total_s, SECONDS, "Total time"),
    PT_COLUMN(struct frame_row, self_s, SECONDS, "Self time"),
    PT_COLUMN(struct frame_row, samples, COUNT, "Samples"),
};
static const struct pt_table_kind by_frame = {PT_VIEW_cpu_flame, PT_COLUMNS(columns)};

static void add_row(struct flame *f, struct pt_table *table, pt_u32 spot, pt_u32 last, pt_u32 depth, pt_u32 frames)
{
    const struct spot *top = &f->spots.items[spot], *end = &f->spots.items[last];
    const struct pt_cpu_function *script = &f->view->functions.items[end->function];
    const char *name = script->code == PT_CODE_SCRIPT
                           ? pt_metrics_format(f->metrics, "%s (%s)", end->name, pt_telling_name(script->file))
                           : pt_metrics_text(f->metrics, end->name);
    if (frames > 1)
        name = pt_metrics_format(f->metrics, "%s \xe2\x80\xa6 %s", top->name, end->name);
    if (top->threads > 1)
        name = pt_metrics_format(f->metrics, "%s (%u threads)", top->name, top->threads);
    pt_table_add(
        table, &(struct frame_row){
                   .depth = depth,
                   .function = name,
                   .kind = top->kind,
                   .module = end->module ? pt_text(pt_metrics_text(f->metrics, end->module)) : pt_unknown("in no file"),
                   .frames = frames,
                   .total_s = top->total_s,
                   .self_s = end->self_s,
                   .samples = top->samples,
               });
    f->shown += frames;
}

static void add_rows(struct flame *f, struct pt_table *table, pt_u32 spot, pt_u32 depth)
{
    PT_AUTO(pt_freep) struct child *children = NULL;
    pt_u32 frames;
    if (depth >= MOST_DEPTH) {
        f->deeper_s += f->spots.items[spot].total_s;
        f->spots.items[spot].is_too_deep = true;
        return;
    }
    const pt_u32 last = chain_end(f, spot, &frames);
    add_row(f, table, spot, last, depth, frames);
    const pt_u32 n = children_of(f, last, &children);
    for (pt_u32 i = 0; i < n; i++)
        add_rows(f, table, children[i].spot, depth + 1);
}

/* With all that they call, of whatever size: their time is told by itself. */
static pt_u32 count_too_deep(struct flame *f)
{
    pt_u32 n = 0;
    for (size_t i = 0; i < f->spots.n; i++) { /* callers come first */
        struct spot *spot = &f->spots.items[i];
        spot->is_too_deep |= f->spots.items[spot->parent].is_too_deep;
        n += spot->is_too_deep;
    }
    return n;
}

static void add_table(struct flame *f, struct pt_scope scope)
{
    struct pt_table *table = pt_metrics_add_table(f->metrics, scope, &by_frame);
    choose(f);
    f->folds_chains = depth_of(f) >= MOST_DEPTH;
    add_rows(f, table, 0, 0);
    const size_t told = (size_t)f->shown + count_too_deep(f);
    table->rows_left_out = f->spots.n > told ? f->spots.n - told : 0;
    pt_metrics_set(f->metrics, scope, "cpu.flame.deeper_s", pt_real(f->deeper_s));
}

void pt_cpu_flame(struct pt_metrics *metrics, struct pt_scope scope, struct pt_cpu_view *view)
{
    struct flame f = {.metrics = metrics, .view = view};
    add_spot(&f, (struct spot){.name = "all", .kind = "thread"});
    for (size_t i = 0; i < view->data->n_counts; i++)
        add_count(&f, &view->data->counts[i]);
    if (f.spots.items[0].total_s > 0)
        add_table(&f, scope);
    if (view->data->note)
        pt_metrics_set(metrics, scope, "cpu.flame.note", pt_text(pt_metrics_text(metrics, view->data->note)));
    free(f.spots.items);
    free(f.pending.items);
    pt_map_fini(&f.by_comm);
    pt_map_fini(&f.by_call);
    pt_map_fini(&f.by_frame);
    pt_map_fini(&f.by_thread);
}
