/* SPDX-License-Identifier: MIT
 *
 * Owns: names of the frames of a CPU profile. Threads: one. Never: gives a frame no name.
 */
#include "cpu_names.h"

#include <stdlib.h>
#include <string.h>

#include "profile/stages.h"
#include "util/auto.h"
#include "util/mem.h"

static void weigh(struct pt_cpu_view *view)
{
    const struct pt_cpu_data *data = view->data;
    const bool user_only = data->header.flags & PT_CPU_USER_ONLY;
    PT_AUTO(pt_freep) double *samples = pt_calloc(data->n_threads, sizeof *samples);
    view->sample_s = pt_calloc(data->n_threads, sizeof *view->sample_s);
    for (size_t i = 0; i < data->n_counts; i++)
        samples[data->counts[i].thread] += (double)data->counts[i].samples;
    const double period_s = (double)data->header.period_ns / 1e9;
    for (size_t i = 0; i < data->n_threads; i++) {
        const double on_s = (double)data->times[i].on_cpu_ns / 1e9;
        view->sample_s[i] = samples[i] > 0 && on_s > 0 && !user_only ? on_s / samples[i] : period_s;
    }
}

/* ---- what runs ---- */

static void find_modules(struct pt_cpu_view *view)
{
    view->code_of = pt_calloc(view->data->n_modules, sizeof *view->code_of);
    view->code_of[PT_CPU_MODULE_KERNEL] = PT_CODE_KERNEL;
    view->code_of[PT_CPU_MODULE_CUT] = PT_CODE_CUT;
    for (size_t i = PT_CPU_MODULE__FIRST; i < view->data->n_modules; i++)
        view->code_of[i] = pt_code_of_file(view->data->modules[i].path);
}

/* A parent's number is less than its child's. */
static void find_python(struct pt_cpu_view *view)
{
    const struct pt_cpu_data *data = view->data;
    view->runs_python = pt_calloc(data->n_nodes + 1, sizeof *view->runs_python);
    for (size_t i = 1; i < data->n_nodes; i++) {
        const enum pt_code_kind code = view->code_of[data->nodes[i].module];
        view->runs_python[i] = pt_code_serves(code) ? view->runs_python[data->nodes[i].parent] : code == PT_CODE_PYTHON;
    }
}

/* ---- names ---- */

static const char *name_of(struct pt_cpu_view *view, const struct pt_cpu_node *node, const struct pt_frame *frame,
                           const char *path)
{
    if (node->module == PT_CPU_MODULE_KERNEL)
        return "[kernel]";
    if (node->module == PT_CPU_MODULE_CUT)
        return "[cut]";
    if (frame && frame->function)
        return frame->function;
    const char *base = pt_base_name(path);
    PT_AUTO(pt_freep) char *text = *base == '[' ? pt_strdup(base) : pt_asprintf("[%s]", *base ? base : "unknown");
    return pt_intern_text(&view->texts, text);
}

static pt_u32 function_of(struct pt_cpu_view *view, const struct pt_cpu_node *node, const struct pt_frame *frame)
{
    const char *path = view->data->modules[node->module].path;
    const char *name = name_of(view, node, frame, path);
    PT_AUTO(pt_freep) char *key = pt_asprintf("%u %s", node->module, name);
    pt_u64 *id = pt_map_at(&view->by_name, (uintptr_t)pt_intern_text(&view->texts, key));
    if (!*id) {
        *id = view->functions.n;
        pt_vec_push(&view->functions, ((struct pt_cpu_function){.name = name,
                                                                .file = frame ? frame->file : NULL,
                                                                .module = *path ? path : NULL,
                                                                .line = frame ? frame->line : 0,
                                                                .code = view->code_of[node->module]}));
    }
    return (pt_u32)*id;
}

/* ---- frames ---- */

static pt_u32 frame_of(struct pt_cpu_view *view, pt_u32 parent, pt_u32 function)
{
    pt_u64 *number = pt_map_at(&view->by_call, (pt_u64)parent << 32 | function);
    if (!*number) {
        *number = view->frames.n;
        const struct pt_cpu_function *f = &view->functions.items[function];
        const bool is_in_allocator =
            view->frames.items[parent].is_in_allocator || pt_code_is_allocator(f->code, f->file, f->name);
        pt_vec_push(&view->frames, ((struct pt_cpu_frame){parent, function, is_in_allocator}));
    }
    return (pt_u32)*number;
}

/* The innermost of the functions at a node; its callers are in place already. */
static pt_u32 frame_at(struct pt_cpu_view *view, const struct pt_cpu_node *node)
{
    const struct pt_cpu_file *module = &view->data->modules[node->module];
    const struct pt_frame *inlined = NULL;
    pt_u32 n = 0, frame = view->frame_of[node->parent];
    if (node->module >= PT_CPU_MODULE__FIRST && module->path[0] == '/')
        inlined =
            pt_symbolize_file(view->symbols, module->path, module->build_id, module->build_id_bytes, node->address, &n);
    if (!n)
        return frame_of(view, frame, function_of(view, node, NULL));
    while (n--)
        frame = frame_of(view, frame, function_of(view, node, &inlined[n]));
    return frame;
}

void pt_cpu_view_of(struct pt_cpu_view *view, struct pt_cpu_data *data)
{
    *view = (struct pt_cpu_view){.data = data};
    view->symbols = pt_symbols_open();
    pt_vec_push(&view->functions, (struct pt_cpu_function){.name = ""});
    pt_vec_push(&view->frames, (struct pt_cpu_frame){0});
    weigh(view);
    find_modules(view);
    find_python(view);
    view->frame_of = pt_calloc(view->data->n_nodes, sizeof *view->frame_of);
    for (size_t i = 1; i < view->data->n_nodes; i++)
        view->frame_of[i] = frame_at(view, &view->data->nodes[i]);
}

void pt_cpu_view_close(struct pt_cpu_view *view)
{
    if (view->symbols)
        pt_symbols_close(view->symbols);
    free(view->functions.items);
    free(view->frames.items);
    free(view->frame_of);
    free(view->sample_s);
    free(view->code_of);
    free(view->runs_python);
    pt_map_fini(&view->by_name);
    pt_map_fini(&view->by_call);
    pt_intern_fini(&view->texts);
    *view = (struct pt_cpu_view){0};
}
