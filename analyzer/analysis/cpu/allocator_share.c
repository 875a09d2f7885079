/* SPDX-License-Identifier: MIT
 *
 * Owns: the samples that lie in an allocator: in one of its functions, or in what these call, the kernel's work for it
 * and ours around it among that. Threads: one. Never: counts the first touch of new memory, which is the program's.
 */
#include "allocator_share.h"

#include <math.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"

/* Of 95 % of runs, with some room. */
#define SPREAD 2.0

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

/* glibc's inner functions have names only where it brings debugging symbols; then what called them is here, too. */
static bool is_allocator(const struct pt_cpu_function *function)
{
    static const char *const names[] = {"malloc",
                                        "free",
                                        "cfree",
                                        "calloc",
                                        "realloc",
                                        "reallocarray",
                                        "memalign",
                                        "aligned_alloc",
                                        "posix_memalign",
                                        "valloc",
                                        "__libc_malloc",
                                        "__libc_free",
                                        "__libc_calloc",
                                        "__libc_realloc",
                                        "__libc_memalign",
                                        "__GI___libc_malloc",
                                        "__GI___libc_free",
                                        "__GI___libc_realloc",
                                        "_int_malloc",
                                        "_int_free",
                                        "_int_realloc",
                                        "_int_memalign",
                                        "malloc_consolidate",
                                        "sysmalloc",
                                        "systrim",
                                        NULL};
    const char *base = function->module ? pt_base_name(function->module) : "";
    /* Our hooks hand over to their slow paths, so that no frame is called malloc; those have no name when stripped. */
    if (!strncmp(base, "libproftrace.", 13) &&
        (*function->name == '[' || (function->file && !strncmp(pt_base_name(function->file), "heap", 4))))
        return true;
    static const char *const libraries[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};
    if (is_one_of(function->name, names) || !strncmp(function->name, "operator new", 12) ||
        !strncmp(function->name, "operator delete", 15))
        return true;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (!strncmp(base, libraries[i], strlen(libraries[i])))
            return true;
    return false;
}

/* What recording takes is in the bound, as a run without these calls is recorded faster, but it is not the program's.
 */
static bool is_recorder(const struct pt_cpu_view *view, pt_u32 frame)
{
    for (; frame; frame = view->frames.items[frame].parent) {
        const struct pt_cpu_function *function = &view->functions.items[view->frames.items[frame].function];
        if (function->module)
            return !strncmp(pt_base_name(function->module), "libproftrace.", 13);
    }
    return false;
}

static void set(struct pt_profile *profile, pt_u32 stage, struct pt_value own, struct pt_value most)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_metrics_set(&profile->metrics, scope, "cpu.allocator_s", own);
    pt_metrics_set(&profile->metrics, scope, "cpu.allocator_most_s", most);
}

void pt_allocator(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view)
{
    const struct pt_cpu_data *data = view->data;
    PT_AUTO(pt_freep) bool *is_within = pt_calloc(view->frames.n, sizeof *is_within);
    double all_s = 0, variance = 0, own_s = 0;
    if (!data->totals.samples || data->header.flags & PT_CPU_USER_ONLY) {
        const struct pt_value none =
            pt_unknown(data->totals.samples ? "the kernel's share could not be sampled" : "no CPU samples were taken");
        set(profile, stage, none, none);
        return;
    }
    for (size_t i = 1; i < view->frames.n; i++)
        is_within[i] = is_within[view->frames.items[i].parent] ||
                       is_allocator(&view->functions.items[view->frames.items[i].function]);
    for (size_t i = 0; i < data->n_counts; i++) {
        const struct pt_cpu_count *count = &data->counts[i];
        const pt_u32 frame = view->frame_of[count->node];
        const double one_s = view->sample_s[count->thread], s = (double)count->samples * one_s;
        if (!is_within[frame])
            continue;
        all_s += s;
        variance += s * one_s;
        own_s += is_recorder(view, frame) ? 0 : s;
    }
    set(profile, stage, pt_real(own_s), pt_real(all_s + SPREAD * sqrt(variance)));
}
