/* SPDX-License-Identifier: MIT
 *
 * The heap: live bytes and their peak, growth, churn, by process and call site. Counts and bytes come from the exact
 * totals; the rest from every call (`--heap full`) or from weighted samples.
 *
 * Threads: one. State: a slot per live (or live and sampled) block, a site per stack, a mark per path. Never: trusts
 * the order of events of different threads: an allocation's time is interpolated, so a release may arrive before the
 * allocation it belongs to.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/block_map.h"
#include "facts/python.h"
#include "util/id_map.h"
#include "util/text/path.h"
#include "level.h"
#include "results.h"
#include "sites.h"

/* Times are interpolated between clock readings, 16 calls apart: beyond this distance the order is believed. */
#define ORDER_WINDOW_NS 1000000000ll

struct heap {
    struct pt_profile *profile;
    struct pt_heap_processes processes;
    struct pt_heap_sites sites;
    struct pt_map places; /* of a thread's next sample in Python: struct pt_thread * -> index, plus 1 */
    struct {
        PT_VEC(struct place {
            pt_i64 at_ns;
            pt_u32 stack;
        });
    } pending;
    struct pt_id_map code_files; /* process, string id -> whether it is a file of Python's code, plus 1 */
};

static void begin(void *state, struct pt_profile *profile)
{
    struct heap *heap = state;
    heap->profile = profile;
    heap->processes.items = pt_calloc(profile->session->n_processes, sizeof *heap->processes.items);
}

static void add_churn(struct pt_heap_churn *churn, pt_u64 size_bytes, double allocs, double bytes)
{
    /* Measured with glibc 2.36 on a virtual machine: 9 to 20 ns up to 1,032 bytes, which its cache of each thread
     * serves, 15 to 80 ns up to 256 KiB; traced, the larger the more, 147 ns for 1 MiB. Twice that for slower ones. */
    const double pair_s = size_bytes <= 1032 ? 40e-9 : size_bytes <= 256u << 10 ? 100e-9 : 300e-9;
    /* Above the largest dynamic threshold of glibc every block is a mapping of its own, faulted in page by page. */
    const double page_s = 250e-9, mapping_s = size_bytes > (32u << 20) ? bytes / 4096 * page_s : 0;
    churn->allocs += allocs;
    churn->bytes += bytes;
    churn->mapping_s += mapping_s;
    churn->cost_s += allocs * pair_s + mapping_s;
}

static void note_peak(struct pt_heap_process *p)
{
    const double bytes = p->level.live_bytes + p->arenas.live_bytes;
    if (bytes <= p->most_bytes)
        return;
    p->n_peaks++;
    p->most_bytes = bytes;
    pt_peak_phase_note(&p->phase);
}

/* ---- full mode: every call ---- */

static void full_release(struct pt_heap_process *p, const struct pt_event *e, struct pt_heap_block *block)
{
    if (e->start_ns - block->at_ns <= PT_CHURN_NS)
        add_churn(&p->churn, block->size_bytes, 1, (double)block->size_bytes);
    pt_heap_level_add(&p->level, e->start_ns, -(double)block->size_bytes, 0);
    pt_block_remove(&p->blocks, block);
}

static void full_alloc(struct pt_heap_process *p, const struct pt_event *e, pt_u64 addr, pt_u64 size_bytes)
{
    struct pt_heap_block *block = pt_block_insert(&p->blocks, addr);
    if (!block) {
        p->not_followed++;
        return;
    }
    const bool is_recent = e->start_ns - block->at_ns <= ORDER_WINDOW_NS;
    const bool is_other_thread = block->owner != e->thread->index;
    pt_u16 pending_frees = 0;
    p->seen++;
    if (block->pending && is_other_thread && is_recent) {
        add_churn(&p->churn, size_bytes, 1, (double)size_bytes);
        pt_block_remove(&p->blocks, block);
        return;
    }
    if (!block->pending && block->at_ns) { /* live: the release of the block before has not come yet */
        pt_heap_level_add(&p->level, e->start_ns, -(double)block->size_bytes, 0);
        pending_frees = is_other_thread ? (pt_u16)(block->pending_frees + 1) : 0;
    }
    *block = (struct pt_heap_block){
        .addr = addr, .size_bytes = size_bytes, .owner = e->thread->index, .pending_frees = pending_frees};
    block->at_ns = e->start_ns ? e->start_ns : 1;
    pt_heap_level_add(&p->level, e->start_ns, (double)size_bytes, 0);
    note_peak(p);
}

static void full_free(struct pt_heap_process *p, const struct pt_event *e, pt_u64 addr)
{
    if (!addr)
        return;
    struct pt_heap_block *block = pt_block_find(&p->blocks, addr);
    if (!block) {
        if (e->process->n_threads < 2)
            return; /* allocated before the trace began, or before the fork */
        block = pt_block_insert(&p->blocks, addr);
        if (!block)
            return; /* most likely of a block that is not followed */
        block->pending = 1;
    }
    if (block->pending) {
        block->owner = e->thread->index;
        block->at_ns = e->start_ns;
        return;
    }
    if (block->pending_frees && block->owner != e->thread->index && e->start_ns - block->at_ns <= ORDER_WINDOW_NS) {
        block->pending_frees--;
        return;
    }
    full_release(p, e, block);
}

static void full_event(struct pt_heap_process *p, const struct pt_event *e)
{
    const pt_u64 addr = e->words[0];
    switch (e->desc->kind) {
    case PT_KIND_heap_malloc:
    case PT_KIND_heap_calloc:
    case PT_KIND_heap_realloc:
    case PT_KIND_heap_memalign:
        if (addr)
            full_alloc(p, e, addr, e->words[1]);
        break;
    case PT_KIND_heap_free:
    case PT_KIND_heap_realloc_free:
        full_free(p, e, addr);
        break;
    default:
        break;
    }
}

/* ---- places in Python ---- */

/* A place belongs to the event that follows at once: others of the thread do not come here. */
#define AT_ONCE_NS 20000

static void note_place(struct heap *heap, const struct pt_event *e)
{
    pt_u64 *slot = pt_map_at(&heap->places, (uintptr_t)e->thread);
    if (!*slot) {
        pt_vec_push(&heap->pending, ((struct place){0}));
        *slot = heap->pending.n;
    }
    heap->pending.items[*slot - 1] = (struct place){e->start_ns, e->aux};
}

static pt_u32 place_of(const struct heap *heap, const struct pt_event *e)
{
    const pt_u64 *slot = pt_map_find(&heap->places, (uintptr_t)e->thread);
    const struct place *place = slot ? &heap->pending.items[*slot - 1] : NULL;
    return place && e->start_ns - place->at_ns <= AT_ONCE_NS ? place->stack : 0;
}

/* ---- samples ---- */

static void move_to(struct pt_heap_process *p, pt_i64 at_ns)
{
    if (at_ns >= p->level.bucket_end_ns)
        pt_heap_level_next_bucket(&p->level, at_ns);
}

static struct pt_heap_site *whole_class(struct heap *heap, const struct pt_event *e, pt_u64 size_bytes)
{
    const struct pt_heap_site wanted = {.process = e->process,
                                        .stack = PT_SITE_OF_CLASS,
                                        .python = PT_SITE_OF_CLASS,
                                        .stage = PT_SITE_OF_CLASS,
                                        .size_class = (pt_u32)pt_heap_class_of(size_bytes)};
    const pt_u32 index = pt_heap_site_of(&heap->sites, &wanted); /* may move the items */
    return &heap->sites.items[index];
}

/* What malloc gave: its level, its churn. Objects of Python lie in arenas, which have a level of their own. */
static void malloc_forget(struct heap *heap, struct pt_heap_process *p, const struct pt_event *e,
                          const struct pt_heap_block *block, struct pt_sample_weight w, bool is_short)
{
    if (e->process->heap_mode != PT_HEAP_FULL) {
        if (is_short)
            add_churn(&p->churn, block->size_bytes, w.allocs, w.bytes);
        pt_heap_level_add(&p->level, e->start_ns, -w.bytes, -w.variance);
    }
    if (p->is_thinned)
        pt_heap_site_add(whole_class(heap, e, block->size_bytes), p->level.bucket, -w.allocs, -w.bytes);
    pt_heap_remap_free(&p->remap, block->addr, block->size_bytes, w.bytes);
}

/* ---- of call sites: a sample stands for those whose stacks were not taken, too ---- */

static struct pt_sample_weight scaled(struct pt_sample_weight w, pt_u32 one_in)
{
    return (struct pt_sample_weight){.allocs = w.allocs * one_in, .bytes = w.bytes * one_in};
}

static pt_u32 site_sampled(struct heap *heap, const struct pt_heap_site *wanted, struct pt_sample_weight w)
{
    const pt_u32 index = pt_heap_site_of(&heap->sites, wanted);
    struct pt_heap_site *site = &heap->sites.items[index];
    pt_heap_trend_add(&heap->sites, site);
    site->samples++;
    site->allocs += w.allocs;
    site->bytes += w.bytes;
    return index;
}

static void site_live(struct pt_heap_site *site, const struct pt_heap_process *p, struct pt_sample_weight w)
{
    pt_heap_site_at_peak(site, p->n_peaks);
    pt_heap_site_add(site, p->level.bucket, w.allocs, w.bytes);
}

static void site_forget(struct pt_heap_site *site, const struct pt_heap_process *p, struct pt_sample_weight w,
                        bool is_short)
{
    pt_heap_site_at_peak(site, p->n_peaks);
    pt_heap_site_add(site, p->level.bucket, -w.allocs, -w.bytes);
    if (is_short) {
        site->churn_allocs += w.allocs;
        site->churn_bytes += w.bytes;
    }
}

static void sample_forget(struct heap *heap, struct pt_heap_process *p, const struct pt_event *e,
                          struct pt_heap_block *block, bool is_released)
{
    const struct pt_sample_weight w = pt_sample_weigh(block->size_bytes, e->process->heap_sample_bytes);
    const bool is_short = is_released && e->start_ns - block->at_ns <= PT_CHURN_NS;
    move_to(p, e->start_ns);
    if (block->one_in)
        site_forget(&heap->sites.items[block->owner], p, scaled(w, block->one_in), is_short);
    if (!block->one_in || heap->sites.items[block->owner].size_class != PT_SITE_OF_OBJECTS)
        malloc_forget(heap, p, e, block, w, is_short);
    pt_block_remove(&p->samples, block);
}

/* A sample that stands for so many of a site; 0 = for none, because nobody looked where it was made. False = there is
 * no room to follow its block. */
static bool sample_live(struct heap *heap, struct pt_heap_process *p, const struct pt_event *e,
                        const struct pt_heap_site *wanted, pt_u32 one_in)
{
    const pt_u64 addr = e->words[0], size_bytes = e->words[1];
    struct pt_heap_block *old = pt_block_find(&p->samples, addr);
    if (old)
        sample_forget(heap, p, e, old, false);
    const struct pt_sample_weight w = pt_sample_weigh(size_bytes, e->process->heap_sample_bytes);
    const pt_u32 index = one_in ? site_sampled(heap, wanted, scaled(w, one_in)) : 0;
    struct pt_heap_block *block = pt_block_insert(&p->samples, addr);
    if (!block) {
        p->not_followed++;
        return false;
    }
    block->size_bytes = size_bytes;
    block->at_ns = e->start_ns;
    block->owner = index;
    block->one_in = one_in;
    move_to(p, e->start_ns);
    if (one_in)
        site_live(&heap->sites.items[index], p, scaled(w, one_in));
    return true;
}

static pt_u32 one_in_of(const struct pt_event *e)
{
    return e->tag > 0 ? (pt_u32)e->tag : 0;
}

static void sample_alloc(struct heap *heap, struct pt_heap_process *p, const struct pt_event *e)
{
    const struct pt_ev_heap_sample *sample = pt_event_as(e, heap_sample); /* of a thinned one, too */
    const pt_u32 one_in = e->desc->kind == PT_KIND_heap_sample ? 1 : one_in_of(e);
    if (!sample->addr)
        return;
    const struct pt_sample_weight w = pt_sample_weigh(sample->size_bytes, e->process->heap_sample_bytes);
    const pt_u32 size_class = (pt_u32)pt_heap_class_of(sample->size_bytes);
    const struct pt_heap_site wanted = {.process = e->process,
                                        .stack = e->aux,
                                        .python = place_of(heap, e),
                                        .stage = pt_profile_stage_of(heap->profile, e->process),
                                        .size_class = size_class,
                                        .at_ns = e->start_ns};
    p->samples_seen++;
    p->sampled_allocs += w.allocs;
    p->sampled_bytes += w.bytes;
    p->all_of_class[size_class] += w.allocs;
    p->sampled_of_class[size_class] += w.allocs * one_in;
    if (!sample_live(heap, p, e, &wanted, one_in))
        return;
    if (p->is_thinned)
        pt_heap_site_add(whole_class(heap, e, sample->size_bytes), p->level.bucket, w.allocs, w.bytes);
    pt_heap_remap_alloc(&p->remap, e->thread->index, sample->addr, sample->size_bytes, w.bytes);
    if (e->process->heap_mode != PT_HEAP_FULL)
        pt_heap_level_add(&p->level, e->start_ns, w.bytes, w.variance);
    note_peak(p);
}

static void object_alloc(struct heap *heap, struct pt_heap_process *p, const struct pt_event *e)
{
    const struct pt_heap_site wanted = {.process = e->process,
                                        .python = e->aux,
                                        .stage = pt_profile_stage_of(heap->profile, e->process),
                                        .size_class = PT_SITE_OF_OBJECTS,
                                        .at_ns = e->start_ns};
    if (e->words[0])
        sample_live(heap, p, e, &wanted, one_in_of(e) ? one_in_of(e) : 1);
}

static void sample_gone(struct heap *heap, struct pt_heap_process *p, const struct pt_event *e)
{
    const bool is_released = e->desc->kind != PT_KIND_heap_sample_lost;
    struct pt_heap_block *block = pt_block_find(&p->samples, e->words[0]);
    if (!block)
        return; /* inherited through fork */
    if (!is_released && (!block->one_in || heap->sites.items[block->owner].size_class != PT_SITE_OF_OBJECTS)) {
        p->lost_bytes += pt_sample_weigh(block->size_bytes, e->process->heap_sample_bytes).bytes;
    }
    sample_forget(heap, p, e, block, is_released);
}

/* ---- Python's objects ---- */

/* CPython takes memory for its small objects in arenas: mappings of 1 MiB since 3.10, of 256 KiB before. */
static bool may_be_arena(const struct pt_event *e)
{
    const struct pt_ev_map_anon *map = pt_event_as(e, map_anon);
    return map->addr && (map->length_bytes == 1 << 20 || map->length_bytes == 256 << 10);
}

static void arena(struct pt_heap_process *p, const struct pt_event *e)
{
    const int sign = e->desc->kind == PT_KIND_map_anon ? 1 : -1;
    const struct pt_ev_map_anon *map = pt_event_as(e, map_anon);
    p->has_arenas = p->has_arenas || pt_process_has_python(e->process);
    if (!p->has_arenas)
        return;
    p->arena_bytes += sign > 0 ? (double)map->length_bytes : 0;
    pt_heap_level_add(&p->arenas, e->start_ns, sign * (double)map->length_bytes, 0);
    note_peak(p);
}

static bool is_code(const char *path)
{
    return pt_ends_with(path, ".pyc") || pt_ends_with(path, ".py");
}

/* A file of Python's code is opened where it is imported. */
static bool is_import(struct heap *heap, const struct pt_event *e)
{
    const pt_u32 id = pt_event_as(e, io_open)->path;
    const pt_u64 known = pt_id_map_get(&heap->code_files, e->process->index, id);
    if (known)
        return known == 2;
    const char *path = pt_process_string(e->process, id);
    if (path) /* an event can name ids that do not exist */
        *pt_id_map_at(&heap->code_files, e->process->index, id) = is_code(path) ? 2 : 1;
    return path && is_code(path);
}

static void imported(struct pt_heap_process *p, const struct pt_event *e)
{
    move_to(p, e->start_ns);
    p->imports[p->level.bucket] += p->imports[p->level.bucket] < UINT16_MAX;
}

static bool concerns(struct heap *heap, const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_io_open)
        return is_import(heap, e);
    if (e->desc->kind == PT_KIND_map_anon || e->desc->kind == PT_KIND_map_remove)
        return may_be_arena(e);
    return e->desc->category != PT_CATEGORY_USER || pt_peak_phase_concerns(e);
}

static bool wants(const void *state, pt_u32 kind)
{
    (void)state;
    return pt_event_descs[kind].category != PT_CATEGORY_IO || kind == PT_KIND_io_open;
}

static void event(void *state, const struct pt_event *e)
{
    struct heap *heap = state;
    if (!concerns(heap, e))
        return;
    struct pt_heap_process *p = pt_heap_process_of(&heap->processes, e->process);
    switch (e->desc->kind) {
    case PT_KIND_heap_sample:
    case PT_KIND_heap_sample_thinned:
        sample_alloc(heap, p, e);
        break;
    case PT_KIND_python_memory:
        object_alloc(heap, p, e);
        break;
    case PT_KIND_heap_sample_free:
    case PT_KIND_python_memory_free:
    case PT_KIND_heap_sample_lost:
        sample_gone(heap, p, e);
        break;
    case PT_KIND_python_place:
        note_place(heap, e);
        break;
    case PT_KIND_io_open:
        imported(p, e);
        break;
    case PT_KIND_phase_begin:
    case PT_KIND_phase_end:
        pt_peak_phase_event(&p->phase, e);
        break;
    case PT_KIND_map_anon:
    case PT_KIND_map_remove:
        arena(p, e);
        break;
    default:
        full_event(p, e);
        break;
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct heap *heap = state;
    pt_heap_results(profile, &heap->processes, &heap->sites);
    pt_heap_processes_fini(&heap->processes, profile->session->n_processes);
    free(heap->pending.items);
    pt_map_fini(&heap->places);
    pt_id_map_fini(&heap->code_files);
    pt_heap_sites_fini(&heap->sites);
}

const struct pt_analysis pt_analysis_heap = {
    .name = "heap",
    .summary = "heap: live peak, growth, churn, by process and call site",
    .categories = PT_CATEGORY_HEAP | PT_CATEGORY_MAP | PT_CATEGORY_IO | PT_CATEGORY_PYTHON | PT_CATEGORY_USER,
    .state_size = sizeof(struct heap),
    .begin = begin,
    .wants = wants,
    .event = event,
    .finish = finish,
};
