/* SPDX-License-Identifier: MIT
 *
 * Owns: which row of a table a sample belongs to. Threads: one. Never: invents a name: what has none stands under the
 * nearest caller that has one, where that says what the code is for.
 */
#include "function_rows.h"

#include <stdlib.h>
#include <string.h>

#include "facts/cpu_code.h"
#include "util/auto.h"

void pt_function_rows_open(struct pt_function_rows *rows, struct pt_cpu_view *view)
{
    *rows = (struct pt_function_rows){.view = view};
    pt_vec_push(rows, (struct pt_function_row){.name = ""});
}

void pt_function_rows_close(struct pt_function_rows *rows)
{
    free(rows->items);
    pt_map_fini(&rows->by_function);
    pt_map_fini(&rows->by_name);
    pt_map_fini(&rows->of_frame);
    *rows = (struct pt_function_rows){0};
}

static const struct pt_cpu_function *function_at(const struct pt_function_rows *rows, pt_u32 frame)
{
    return &rows->view->functions.items[rows->view->frames.items[frame].function];
}

static pt_u32 row_of_function(struct pt_function_rows *rows, pt_u32 function)
{
    pt_u64 *row = pt_map_at(&rows->by_function, function);
    if (!*row) {
        const struct pt_cpu_function *what = &rows->view->functions.items[function];
        *row = rows->n;
        pt_vec_push(rows, ((struct pt_function_row){what->name, what->module, function}));
    }
    return (pt_u32)*row;
}

/* How long a function's name is without its parameters, which would hide what stands behind it. */
static int plain_length(const char *name)
{
    const char *end = strrchr(name, ')'), *at = end;
    int depth = 0;
    do
        depth += at ? (*at == ')') - (*at == '(') : 0;
    while (at && depth && at-- > name);
    const bool is_whole = at && at > name && (!end[1] || end[1] == ' ') && at[-1] != ' ' && at[-1] != ':' &&
                          !(at - name >= 8 && !strncmp(at - 8, "operator", 8));
    return (int)(is_whole ? at - name : (ptrdiff_t)strlen(name));
}

/* "caller > callee" */
static pt_u32 row_under(struct pt_function_rows *rows, const char *caller, const char *callee, const char *module)
{
    PT_AUTO(pt_freep) char *text = pt_asprintf("%.*s > %s", plain_length(caller), caller, callee);
    const char *name = pt_intern_text(&rows->view->texts, text);
    PT_AUTO(pt_freep) char *key = pt_asprintf("%s\n%s", text, module ? module : "");
    pt_u64 *row = pt_map_at(&rows->by_name, (uintptr_t)pt_intern_text(&rows->view->texts, key));
    if (!*row) {
        *row = rows->n;
        pt_vec_push(rows, ((struct pt_function_row){name, module, 0}));
    }
    return (pt_u32)*row;
}

/* ---- code without names ---- */

/* A function of the same file says what it runs for; of others only what is neither everybody's caller (libc starts
 * threads, the interpreter calls everything) nor everybody's servant. */
static bool says_what_for(const struct pt_cpu_function *caller, const struct pt_cpu_function *unnamed)
{
    if (!caller->has_name || caller->code == PT_CODE_CUT)
        return false;
    return caller->module == unnamed->module ||
           (!pt_code_serves(caller->code) && caller->code != PT_CODE_PYTHON && caller->code != PT_CODE_LOADER);
}

static pt_u32 find_row_of_frame(struct pt_function_rows *rows, pt_u32 frame)
{
    const struct pt_cpu_function *own = function_at(rows, frame);
    const pt_u32 function = rows->view->frames.items[frame].function;
    if (own->code == PT_CODE_TRACER)
        return 0;
    if (own->has_name || !own->module || own->code == PT_CODE_JIT)
        return row_of_function(rows, function);
    pt_u32 caller = rows->view->frames.items[frame].parent;
    while (caller && !function_at(rows, caller)->has_name && function_at(rows, caller)->code != PT_CODE_CUT)
        caller = rows->view->frames.items[caller].parent;
    if (!caller || !says_what_for(function_at(rows, caller), own))
        return row_of_function(rows, function);
    return row_under(rows, function_at(rows, caller)->name, own->name, own->module);
}

pt_u32 pt_function_row_of_frame(struct pt_function_rows *rows, pt_u32 frame)
{
    pt_u64 *row = pt_map_at(&rows->of_frame, frame);
    if (!*row)
        *row = (pt_u64)find_row_of_frame(rows, frame) + 1;
    return (pt_u32)(*row - 1);
}

/* ---- the innermost ---- */

pt_u32 pt_function_row_of_sample(struct pt_function_rows *rows, pt_u32 node, pt_u32 *ret_caller)
{
    struct pt_cpu_view *view = rows->view;
    const pt_u32 frame = view->frame_of[node];
    *ret_caller = frame ? view->frames.items[frame].parent : 0;
    if (pt_cpu_is_tracing(view, node)) {
        *ret_caller = pt_cpu_program_frame(view, frame);
        return row_of_function(rows, view->tracer);
    }
    if (!frame || function_at(rows, frame)->code != PT_CODE_KERNEL || !*ret_caller)
        return frame ? pt_function_row_of_frame(rows, frame) : 0;
    if (pt_cpu_is_page_fault(view, node))
        return row_under(rows, "page faults", "[kernel]", NULL);
    const struct pt_cpu_function *caller = function_at(rows, *ret_caller);
    if (caller->code == PT_CODE_CUT || caller->code == PT_CODE_TRACER)
        return row_of_function(rows, view->frames.items[frame].function);
    const pt_u32 row = pt_function_row_of_frame(rows, *ret_caller);
    const char *name = rows->items[row].name;
    return row_under(rows, caller->code == PT_CODE_LIBC ? pt_code_name_in_libc(name) : name, "[kernel]", NULL);
}
