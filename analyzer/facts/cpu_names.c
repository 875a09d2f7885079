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
#include "python.h"

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

/* copying and allocating are what the caller does: libc, and ourselves around it */
static bool is_servant(const char *path)
{
    static const char *const names[] = {"libc.so", "libc-", "libm.so", "libm-", "libpthread", "libproftrace"};
    const char *base = pt_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(base, names[i], strlen(names[i])))
            return true;
    return false;
}

/* A parent's number is less than its child's. */
static void find_python(struct pt_cpu_view *view)
{
    const struct pt_cpu_data *data = view->data;
    view->runs_python = pt_calloc(data->n_nodes + 1, sizeof *view->runs_python);
    for (size_t i = 1; i < data->n_nodes; i++) {
        const char *path = data->modules[data->nodes[i].module].path;
        view->runs_python[i] = is_servant(path) ? view->runs_python[data->nodes[i].parent] : pt_is_python_file(path);
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
                                                                .line = frame ? frame->line : 0}));
    }
    return (pt_u32)*id;
}

/* ---- frames ---- */

static pt_u32 frame_of(struct pt_cpu_view *view, pt_u32 parent, pt_u32 function)
{
    pt_u64 *number = pt_map_at(&view->by_call, (pt_u64)parent << 32 | function);
    if (!*number) {
        *number = view->frames.n;
        pt_vec_push(&view->frames, ((struct pt_cpu_frame){parent, function}));
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
    free(view->runs_python);
    pt_map_fini(&view->by_name);
    pt_map_fini(&view->by_call);
    pt_intern_fini(&view->texts);
    *view = (struct pt_cpu_view){0};
}

pt_u32 pt_cpu_view_program_frame(const struct pt_cpu_view *view, pt_u32 frame)
{
    for (pt_u32 at = frame; at; at = view->frames.items[at].parent) {
        const struct pt_cpu_function *function = &view->functions.items[view->frames.items[at].function];
        const char *base = function->module ? pt_base_name(function->module) : "";
        if (strcmp(function->name, "[kernel]") != 0 && strncmp(base, "libc.", 5) != 0 &&
            strncmp(base, "libproftrace.", 13) != 0)
            return at;
    }
    return frame;
}

pt_u32 pt_cpu_view_function(const struct pt_cpu_view *view, pt_u32 node)
{
    pt_u32 frame = view->frame_of[node];
    while (frame && view->frames.items[frame].parent &&
           !strcmp(view->functions.items[view->frames.items[frame].function].name, "[kernel]"))
        frame = view->frames.items[frame].parent;
    return view->frames.items[frame].function;
}

/* The kernel was entered from code that makes no system calls, as only libc does: a page was missing. */
bool pt_cpu_view_is_page_fault(const struct pt_cpu_view *view, pt_u32 node)
{
    static const char *const callers[] = {"libc.so", "libc-", "libpthread", "ld-linux", "libproftrace", "["};
    const struct pt_cpu_function *from = &view->functions.items[pt_cpu_view_function(view, node)];
    const char *module = from->module ? pt_base_name(from->module) : "[";
    if (view->data->nodes[node].module != PT_CPU_MODULE_KERNEL || !strcmp(from->name, "[kernel]"))
        return false;
    if (!strncmp(from->name, "__mem", 5) || !strncmp(from->name, "mem", 3))
        return true;
    for (size_t i = 0; i < sizeof callers / sizeof *callers; i++)
        if (!strncmp(module, callers[i], strlen(callers[i])))
            return false;
    return true;
}

bool pt_cpu_is_python(const char *module)
{
    return pt_is_python_file(module);
}

bool pt_cpu_view_is_python(const struct pt_cpu_view *view, pt_u32 node)
{
    return pt_cpu_is_python(view->data->modules[view->data->nodes[node].module].path);
}
