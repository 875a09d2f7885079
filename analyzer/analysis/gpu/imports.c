/* SPDX-License-Identifier: MIT
 *
 * When each thread imported modules, by the phases that the library sees in Python.
 *
 * Threads: one. State: up to PT_GPU_MOST_IMPORTS imports per thread; later ones are not known. Never: nests: the
 * library tells of the outermost import only.
 */
#include "imports.h"

#include "proftrace/phases.h"
#include "decode/phase_names.h"

static void begin_import(struct pt_gpu *gpu, struct pt_gpu_thread *thread, const struct pt_event *e)
{
    if (thread->imports.n >= PT_GPU_MOST_IMPORTS)
        return;
    pt_vec_push(&thread->imports,
                ((struct pt_gpu_import){e->start_ns, INT64_MAX, pt_gpu_string(gpu, e->process, e->aux, false)}));
    thread->import_depth = thread->depth;
}

void pt_gpu_imports_event(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, e->thread);
    if (e->desc->kind == PT_KIND_phase_begin && pt_phase_of_tag(e->tag) == PT_PHASE_import && !thread->import_depth)
        begin_import(gpu, thread, e);
    if (thread->import_depth <= thread->depth)
        return;
    thread->imports.items[thread->imports.n - 1].end_ns = e->start_ns;
    thread->import_depth = 0;
}

void pt_gpu_imports_hole(struct pt_gpu_thread *thread, const struct pt_hole *hole)
{
    if (thread->import_depth)
        thread->imports.items[thread->imports.n - 1].end_ns = hole->from_ns;
    thread->import_depth = 0;
}

bool pt_gpu_imports_last(const struct pt_gpu *gpu, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns,
                         struct pt_gpu_imported *ret)
{
    const struct pt_gpu_thread *own = pt_gpu_thread_of(gpu, thread);
    /* An import that spans an empty stretch would be found there again and again. */
    for (size_t i = end_ns > start_ns ? own->imports.n : 0; i-- > 0 && own->imports.items[i].end_ns > start_ns;) {
        const struct pt_gpu_import *import = &own->imports.items[i];
        if (import->start_ns >= end_ns)
            continue;
        *ret = (struct pt_gpu_imported){import->start_ns > start_ns ? import->start_ns : start_ns,
                                        import->end_ns < end_ns ? import->end_ns : end_ns, import->module};
        return true;
    }
    return false;
}
