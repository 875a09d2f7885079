/* SPDX-License-Identifier: MIT
 *
 * Owns: which row of a table a sample belongs to. Threads: one. Never: invents a name: what has none stands under the
 * nearest caller that has one, where that says what the code is for.
 */
#include "function_rows.h"

#include <stdlib.h>

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

/* "caller > callee" */
static pt_u32 row_under(struct pt_function_rows *rows, const char *caller, const char *callee, const char *module)
{
    PT_AUTO(pt_freep) char *text = pt_asprintf("%.*s > %s", pt_code_plain_length(caller), caller, callee);
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

/* The nearest caller that says it. What only calls what it was given is passed over where another one does. */
static const struct pt_cpu_function *caller_with_name(const struct pt_function_rows *rows, pt_u32 frame)
{
    const struct pt_cpu_function *own = pt_cpu_function_of(rows->view, frame), *carrier = NULL;
    for (pt_u32 at = rows->view->frames.items[frame].parent; at; at = rows->view->frames.items[at].parent) {
        const struct pt_cpu_function *caller = pt_cpu_function_of(rows->view, at);
        if (!caller->has_name && caller->code != PT_CODE_CUT)
            continue;
        const enum pt_code_hint hint = caller->has_name
                                           ? pt_code_hint_of(caller->name, caller->code, caller->module == own->module)
                                           : PT_CODE_SAYS_NOTHING;
        if (hint != PT_CODE_CARRIES)
            return hint == PT_CODE_SAYS ? caller : carrier;
        carrier = carrier ? carrier : caller;
    }
    return carrier;
}

static pt_u32 find_row_of_frame(struct pt_function_rows *rows, pt_u32 frame)
{
    const struct pt_cpu_function *own = pt_cpu_function_of(rows->view, frame);
    if (own->code == PT_CODE_TRACER)
        return 0;
    const bool needs_name = !own->has_name && own->module && own->code != PT_CODE_JIT;
    const struct pt_cpu_function *caller = needs_name ? caller_with_name(rows, frame) : NULL;
    return caller ? row_under(rows, caller->name, own->name, own->module)
                  : row_of_function(rows, rows->view->frames.items[frame].function);
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
        *ret_caller = pt_cpu_program_frame(view, frame, NULL);
        return row_of_function(rows, view->tracer);
    }
    if (!frame || pt_cpu_function_of(rows->view, frame)->code != PT_CODE_KERNEL || !*ret_caller)
        return frame ? pt_function_row_of_frame(rows, frame) : 0;
    if (pt_cpu_is_page_fault(view, node))
        return row_under(rows, "page faults", "[kernel]", NULL);
    const struct pt_cpu_function *caller = pt_cpu_function_of(rows->view, *ret_caller);
    if (caller->code == PT_CODE_CUT || caller->code == PT_CODE_TRACER)
        return row_of_function(rows, view->frames.items[frame].function);
    const pt_u32 row = pt_function_row_of_frame(rows, *ret_caller);
    const char *name = rows->items[row].name;
    return row_under(rows, caller->code == PT_CODE_LIBC ? pt_code_name_in_libc(name) : name, "[kernel]", NULL);
}
