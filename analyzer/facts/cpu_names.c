/* SPDX-License-Identifier: MIT
 *
 * Owns: names of the frames of a CPU profile. Threads: one. Never: gives a frame no name.
 */
#include "cpu_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/whole.h"
#include "util/text/path.h"

/* Fewer samples than this say nothing about one thread. */
#define FEW_SAMPLES 10

/* Threads of a name with few samples. */
struct pool {
    double on_s, samples;
};

static struct pool *pool_of(struct pt_cpu_view *view, struct pt_map *by_comm, struct pool *pools, size_t thread)
{
    const char *comm = view->data->threads[thread].comm;
    const char *name = pt_intern_bytes(&view->texts, comm, strnlen(comm, PT_CPU_COMM_BYTES));
    pt_u64 *number = pt_map_at(by_comm, (uintptr_t)name);
    *number = *number ? *number : by_comm->n;
    return &pools[*number];
}

static void share_short_ones(struct pt_cpu_view *view, const double *samples)
{
    const struct pt_cpu_data *data = view->data;
    PT_AUTO(pt_freep) struct pool *pools = pt_calloc(data->n_threads + 1, sizeof *pools);
    struct pt_map by_comm = {0};
    const double period_s = (double)data->header.period_ns / 1e9;
    view->unsampled_s = 0;
    for (size_t i = 1; i < data->n_threads; i++)
        if (samples[i] < FEW_SAMPLES) {
            struct pool *pool = pool_of(view, &by_comm, pools, i);
            pool->on_s += (double)data->times[i].on_cpu_ns / 1e9;
            pool->samples += samples[i];
        }
    for (size_t i = 1; i < data->n_threads; i++) {
        const struct pool *pool = samples[i] < FEW_SAMPLES ? pool_of(view, &by_comm, pools, i) : NULL;
        if (!pool)
            continue;
        view->shared_s[i] = pool->samples > 0 ? fmin(pool->on_s / pool->samples, period_s) : period_s;
        view->unsampled_s += (double)data->times[i].on_cpu_ns / 1e9 - samples[i] * view->shared_s[i];
    }
    pt_map_fini(&by_comm);
}

void pt_cpu_view_weigh(struct pt_cpu_view *view)
{
    const struct pt_cpu_data *data = view->data;
    const bool user_only = data->header.flags & PT_CPU_USER_ONLY;
    PT_AUTO(pt_freep) double *samples = pt_calloc(data->n_threads, sizeof *samples);
    for (size_t i = 0; i < data->n_counts; i++)
        samples[data->counts[i].thread] += (double)data->counts[i].samples;
    const double period_s = (double)data->header.period_ns / 1e9;
    for (size_t i = 0; i < data->n_threads; i++) {
        const double on_s = (double)data->times[i].on_cpu_ns / 1e9;
        view->sample_s[i] = samples[i] > 0 && on_s > 0 && !user_only ? on_s / samples[i] : period_s;
        view->shared_s[i] = view->sample_s[i];
    }
    if (!user_only)
        share_short_ones(view, samples);
}

/* ---- what runs ---- */

static void find_modules(struct pt_cpu_view *view)
{
    view->code_of = pt_calloc(view->data->n_modules, sizeof *view->code_of);
    view->code_of[PT_CPU_MODULE_KERNEL] = PT_CODE_KERNEL;
    view->code_of[PT_CPU_MODULE_CUT] = PT_CODE_CUT;
    for (size_t i = PT_CPU_MODULE__FIRST; i < view->data->n_modules; i++)
        view->code_of[i] = i == view->data->python_module ? PT_CODE_SCRIPT
                           : *view->data->modules[i].path ? pt_code_of_file(view->data->modules[i].path)
                                                          : PT_CODE_JIT;
}

/* A parent's number is less than its child's. */
static void find_python(struct pt_cpu_view *view)
{
    const struct pt_cpu_data *data = view->data;
    view->runs_python = pt_calloc(data->n_nodes + 1, sizeof *view->runs_python);
    for (size_t i = 1; i < data->n_nodes; i++) {
        const enum pt_code_kind code = view->code_of[data->nodes[i].module];
        view->runs_python[i] = pt_code_serves(code) ? view->runs_python[data->nodes[i].parent]
                                                    : code == PT_CODE_PYTHON || code == PT_CODE_SCRIPT;
    }
}

/* ---- names ---- */

/* The innermost caller that has code made is the one that made it. */
static const char *jit_name(struct pt_cpu_view *view, const struct pt_cpu_node *node)
{
    enum { FAR_OUT = 40 };
    pt_u32 frame = view->frame_of[node->parent];
    for (int i = 0; frame && i < FAR_OUT; frame = view->frames.items[frame].parent, i++) {
        const struct pt_cpu_function *caller = pt_cpu_function_of(view, frame);
        if (caller->code == PT_CODE_JIT && !caller->has_name)
            return caller->name;
        const char *generator = pt_code_jit_of(caller->module, caller->has_name ? caller->name : NULL);
        if (generator) {
            PT_AUTO(pt_freep) char *text = pt_asprintf("JIT code (%s)", generator);
            return pt_intern_text(&view->texts, text);
        }
    }
    return "JIT code";
}

static const char *name_of(struct pt_cpu_view *view, const struct pt_cpu_node *node, const struct pt_frame *frame,
                           const char *path)
{
    if (node->module == PT_CPU_MODULE_KERNEL)
        return "[kernel]";
    if (node->module == PT_CPU_MODULE_CUT)
        return "[cut]";
    if (frame && frame->function)
        return frame->function;
    if (view->code_of[node->module] == PT_CODE_JIT)
        return jit_name(view, node);
    const char *base = pt_base_name(path), *near = frame ? frame->near : NULL;
    PT_AUTO(pt_freep)
    char *text = *base == '[' ? pt_strdup(base)
                 : near       ? pt_asprintf("[%s near %.*s]", base, pt_code_plain_length(near), near)
                              : pt_asprintf("[%s]", *base ? base : "unknown");
    return pt_intern_text(&view->texts, text);
}

/* ---- lines ---- */

/* A function has many lines, and is called from many. Shown is the one of the node that most time was spent in or
 * below: any other would be chance. */
struct heaviest {
    double *ns;                          /* by node, with all that it called: samples and waits that have a stack */
    pt_u32 *lines;                       /* by node: of its innermost function */
    struct pt_map of_function, of_frame; /* ns of the node whose line it has, as an integer, plus 1 */
};

static void heaviest_begin(struct heaviest *heaviest, const struct pt_cpu_data *data)
{
    *heaviest = (struct heaviest){.ns = pt_calloc(data->n_nodes + 1, sizeof *heaviest->ns),
                                  .lines = pt_calloc(data->n_nodes + 1, sizeof *heaviest->lines)};
    for (size_t i = 0; i < data->n_counts; i++)
        heaviest->ns[data->counts[i].node] += (double)data->counts[i].samples * (double)data->header.period_ns;
    for (size_t i = 0; i < data->n_waits; i++)
        heaviest->ns[data->waits[i].node] += (double)data->waits[i].duration_ns;
    for (size_t i = data->n_nodes; i-- > 1;)
        heaviest->ns[data->nodes[i].parent] += heaviest->ns[i];
}

static void heaviest_end(struct heaviest *heaviest)
{
    free(heaviest->ns);
    free(heaviest->lines);
    pt_map_fini(&heaviest->of_function);
    pt_map_fini(&heaviest->of_frame);
}

static bool is_heaviest(struct pt_map *most, pt_u64 id, double ns)
{
    pt_u64 *slot = pt_map_at(most, id);
    const pt_u64 own = pt_whole(ns) + 1;
    const bool is = own > *slot;
    *slot = is ? own : *slot;
    return is;
}

/* Of a file, frames of one name are one; of code made at run time, whose functions are often called "anonymous", only
 * those of one place. */
static pt_u64 key_of(struct pt_cpu_view *view, const struct pt_cpu_node *node, const struct pt_frame *frame,
                     const char *name)
{
    const char *text = pt_intern_text(&view->texts, name);
    if (view->code_of[node->module] != PT_CODE_JIT || !frame)
        return pt_hash_pair((uintptr_t)text, node->module);
    PT_AUTO(pt_freep)
    char *place = pt_asprintf("%s:%u", frame->file ? frame->file : "", frame->line);
    return pt_hash_pair((uintptr_t)text, (uintptr_t)pt_intern_text(&view->texts, place));
}

static pt_u32 function_of(struct pt_cpu_view *view, const struct pt_cpu_node *node, const struct pt_frame *frame,
                          struct heaviest *heaviest)
{
    const char *path = view->data->modules[node->module].path;
    const char *name = name_of(view, node, frame, path);
    pt_u64 *id = pt_map_at(&view->by_name, key_of(view, node, frame, name));
    const bool has_name = frame && frame->function;
    if (!*id) {
        *id = view->functions.n;
        pt_vec_push(&view->functions, ((struct pt_cpu_function){.name = name,
                                                                .file = has_name ? frame->file : NULL,
                                                                .module = *path ? path : NULL,
                                                                .line = has_name ? frame->line : 0,
                                                                .has_name = has_name,
                                                                .code = view->code_of[node->module]}));
    }
    const double ns = heaviest->ns[node - view->data->nodes];
    if (has_name && is_heaviest(&heaviest->of_function, *id, ns)) {
        view->functions.items[*id].file = frame->file;
        view->functions.items[*id].line = frame->line;
    }
    return (pt_u32)*id;
}

static void find_tracer(struct pt_cpu_view *view)
{
    for (size_t i = PT_CPU_MODULE__FIRST; i < view->data->n_modules && !view->tracer; i++) {
        if (view->code_of[i] != PT_CODE_TRACER)
            continue;
        view->tracer = (pt_u32)view->functions.n;
        pt_vec_push(&view->functions,
                    ((struct pt_cpu_function){
                        .name = "proftrace", .module = view->data->modules[i].path, .code = PT_CODE_TRACER}));
    }
}

static const struct pt_cpu_frame *outermost(const struct pt_cpu_view *view, pt_u32 frame)
{
    const pt_u32 own = pt_cpu_shown(view, frame);
    const struct pt_cpu_frame *frames = view->frames.items;
    while (frames[frame].parent && own == view->tracer && pt_cpu_shown(view, frames[frame].parent) == own)
        frame = frames[frame].parent;
    return &frames[frame];
}

pt_u32 pt_cpu_shown_caller(const struct pt_cpu_view *view, pt_u32 frame)
{
    return outermost(view, frame)->parent;
}

pt_u32 pt_cpu_shown_called_at(const struct pt_cpu_view *view, pt_u32 frame)
{
    return outermost(view, frame)->called_at;
}

/* ---- frames ---- */

static bool is_cupti(const struct pt_cpu_function *function)
{
    static const char name[] = "libcupti.so";
    return function->module && !strncmp(pt_base_name(function->module), name, sizeof name - 1);
}

/* Code without names that calls code without names of the same file is one frame: nobody can tell them apart. */
static pt_u32 frame_of(struct pt_cpu_view *view, pt_u32 parent, pt_u32 function, pt_u32 called_at, double ns,
                       struct pt_map *most)
{
    if (parent && view->frames.items[parent].function == function && !view->functions.items[function].has_name)
        return parent;
    pt_u64 *number = pt_map_at(&view->by_call, (pt_u64)parent << 32 | function);
    if (!*number) {
        *number = view->frames.n;
        const struct pt_cpu_function *f = &view->functions.items[function];
        const bool is_in_allocator =
            view->frames.items[parent].is_in_allocator || pt_code_is_allocator(f->code, f->file, f->name);
        const bool is_in_cupti = view->frames.items[parent].is_in_cupti || is_cupti(f);
        pt_vec_push(&view->frames, ((struct pt_cpu_frame){.parent = parent,
                                                          .function = function,
                                                          .is_in_allocator = is_in_allocator,
                                                          .is_in_cupti = is_in_cupti}));
    }
    if (called_at && is_heaviest(most, *number, ns))
        view->frames.items[*number].called_at = called_at;
    return (pt_u32)*number;
}

/* ---- Python ---- */

/* A function of one name begins at one line of one file. */
static pt_u32 script_of(struct pt_cpu_view *view, const struct pt_cpu_python_name *name)
{
    PT_AUTO(pt_freep) char *key = pt_asprintf("%u:%s\n%s", name->first_line, name->function, name->file);
    pt_u64 *id = pt_map_at(&view->by_name, (uintptr_t)pt_intern_text(&view->texts, key));
    if (!*id) {
        *id = view->functions.n;
        pt_vec_push(&view->functions, ((struct pt_cpu_function){.name = name->function,
                                                                .file = name->file,
                                                                .line = name->first_line,
                                                                .has_name = true,
                                                                .code = PT_CODE_SCRIPT}));
    }
    return (pt_u32)*id;
}

/* Each line of a function is a frame of its own. */
static pt_u32 script_frame(struct pt_cpu_view *view, const struct pt_cpu_node *node)
{
    const pt_u32 of_names = 1u << 31, parent = view->frame_of[node->parent];
    pt_u64 *number = pt_map_at(&view->by_call, (pt_u64)parent << 32 | of_names | (pt_u32)node->address);
    if (!*number) {
        const struct pt_cpu_python_name *name = &view->data->python_names[node->address];
        *number = view->frames.n;
        pt_vec_push(&view->frames,
                    ((struct pt_cpu_frame){.parent = parent, .function = script_of(view, name), .line = name->line}));
    }
    return (pt_u32)*number;
}

/* ---- names of code made at run time ---- */

enum { NOBODY = 0, SEVERAL = UINT32_MAX };

static void add_owner(pt_u32 *owner, pt_u32 process)
{
    *owner = *owner == NOBODY || *owner == process ? process : process == NOBODY ? *owner : (pt_u32)SEVERAL;
}

/* By node the main thread of the process whose stacks it is in: an address means something in that process only. */
static pt_u32 *find_owners(const struct pt_cpu_data *data)
{
    pt_u32 *owners = pt_calloc(data->n_nodes + 1, sizeof *owners);
    PT_AUTO(pt_freep) pt_u32 *processes = pt_calloc(data->n_threads + 1, sizeof *processes);
    struct pt_map newest = {0}; /* pid -> main thread: a thread is of the process that began last before it */
    for (pt_u32 i = 1; i < data->n_threads; i++) {
        pt_u64 *main_thread = pt_map_at(&newest, data->threads[i].pid);
        *main_thread = data->threads[i].tid == data->threads[i].pid ? i : *main_thread;
        processes[i] = (pt_u32)*main_thread;
    }
    pt_map_fini(&newest);
    for (size_t i = 0; i < data->n_counts; i++)
        add_owner(&owners[data->counts[i].node], processes[data->counts[i].thread]);
    for (size_t i = 0; i < data->n_waits; i++)
        add_owner(&owners[data->waits[i].node], processes[data->waits[i].thread]);
    for (size_t i = data->n_nodes; i-- > 1;)
        add_owner(&owners[data->nodes[i].parent], owners[i]);
    return owners;
}

static bool find_jit_name(const struct pt_cpu_data *data, const struct pt_cpu_node *node, pt_u32 owner,
                          struct pt_frame *ret_frame)
{
    const struct pt_jit_map *map = owner != NOBODY && owner != (pt_u32)SEVERAL && !*data->modules[node->module].path
                                       ? data->jit_maps[owner]
                                       : NULL;
    const struct pt_jit_function *found = map ? pt_jit_map_find(map, node->address) : NULL;
    if (found)
        *ret_frame = (struct pt_frame){.function = found->name, .file = found->file, .line = found->line};
    return found != NULL;
}

/* The innermost of the functions at a node; its callers are in place already. `owners`: NULL = no process has names of
 * its own. */
static pt_u32 frame_at(struct pt_cpu_view *view, const struct pt_cpu_node *node, const pt_u32 *owners,
                       struct heaviest *heaviest)
{
    const struct pt_cpu_file *module = &view->data->modules[node->module];
    const size_t number = (size_t)(node - view->data->nodes);
    const double ns = heaviest->ns[number];
    const struct pt_frame *inlined = NULL;
    if (node->module == view->data->python_module && node->module)
        return script_frame(view, node);
    pt_u32 n = 0, frame = view->frame_of[node->parent], called_at = heaviest->lines[node->parent];
    if (node->module >= PT_CPU_MODULE__FIRST && module->path[0] == '/')
        inlined =
            pt_symbolize_file(view->symbols, module->path, module->build_id, module->build_id_bytes, node->address, &n);
    struct pt_frame made;
    if (owners && view->code_of[node->module] == PT_CODE_JIT &&
        find_jit_name(view->data, node, owners[number], &made)) {
        inlined = &made;
        n = 1;
    }
    if (!n)
        return frame_of(view, frame, function_of(view, node, NULL, heaviest), called_at, ns, &heaviest->of_frame);
    heaviest->lines[number] = inlined[0].line;
    for (; n--; called_at = inlined[n].line)
        frame =
            frame_of(view, frame, function_of(view, node, &inlined[n], heaviest), called_at, ns, &heaviest->of_frame);
    return frame;
}

void pt_cpu_view_of(struct pt_cpu_view *view, struct pt_cpu_data *data, struct pt_symbols *symbols)
{
    *view = (struct pt_cpu_view){.data = data, .symbols = symbols};
    pt_vec_push(&view->functions, (struct pt_cpu_function){.name = ""});
    pt_vec_push(&view->frames, (struct pt_cpu_frame){0});
    view->sample_s = pt_calloc(data->n_threads, sizeof *view->sample_s);
    view->shared_s = pt_calloc(data->n_threads, sizeof *view->shared_s);
    pt_cpu_view_weigh(view);
    find_modules(view);
    find_python(view);
    find_tracer(view);
    view->frame_of = pt_calloc(view->data->n_nodes, sizeof *view->frame_of);
    PT_AUTO(pt_freep) pt_u32 *owners = data->jit_maps ? find_owners(data) : NULL;
    struct heaviest heaviest;
    heaviest_begin(&heaviest, data);
    for (size_t i = 1; i < view->data->n_nodes; i++)
        view->frame_of[i] = frame_at(view, &view->data->nodes[i], owners, &heaviest);
    heaviest_end(&heaviest);
}

void pt_cpu_view_close(struct pt_cpu_view *view)
{
    free(view->functions.items);
    free(view->frames.items);
    free(view->frame_of);
    free(view->sample_s);
    free(view->shared_s);
    free(view->code_of);
    free(view->runs_python);
    pt_map_fini(&view->by_name);
    pt_map_fini(&view->by_call);
    pt_intern_fini(&view->texts);
    *view = (struct pt_cpu_view){0};
}
