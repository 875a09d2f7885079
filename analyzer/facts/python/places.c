/* SPDX-License-Identifier: MIT
 *
 * Owns: the time in calls by place in Python. Threads: one while there are events, then any that only asks. Never:
 * gives a place to another event than the next one of its thread.
 */
#include "places.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "facts/workers.h"
#include "util/mem.h"
#include "frames.h"

enum { MOST_SUMS = 200000 };
static const char no_place[] = "no place in Python was recorded for it";

void pt_python_places_open(struct pt_python_places *places, pt_u32 n_threads)
{
    *places = (struct pt_python_places){.pending = pt_calloc(n_threads + 1, sizeof *places->pending)};
}

void pt_python_places_close(struct pt_python_places *places)
{
    free(places->pending);
    free(places->sums.items);
    pt_map_fini(&places->by_key);
    pt_map_fini(&places->by_subject);
}

void pt_python_places_note(struct pt_python_places *places, const struct pt_event *event, pt_u32 thread)
{
    const pt_u64 stands_for_ns = pt_event_as(event, python_place)->stands_for_ns;
    if (stands_for_ns) /* else it is that of a sampled allocation, or of a phase, and no call's */
        places->pending[thread] = (struct pt_pending_place){event->aux, stands_for_ns};
}

/* ---- sums ---- */

static pt_u64 mix(pt_u64 hash, pt_u64 word)
{
    const unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0xd6e8feb86659fd93ull;
    return (pt_u64)product ^ (pt_u64)(product >> 64);
}

static pt_u64 subject_hash(enum pt_place_subject subject, pt_u64 a, pt_u64 b)
{
    return mix(mix((pt_u64)subject + 1, a), b);
}

static bool is_about(const struct pt_place_sum *sum, enum pt_place_subject subject, pt_u64 a, pt_u64 b)
{
    return sum->subject == subject && sum->a == a && sum->b == b;
}

/* The sum of a subject and stack; NULL = there is no room, or another has its hash. */
static struct pt_place_sum *sum_of(struct pt_python_places *places, const struct pt_place_sum *key)
{
    const pt_u64 hash = mix(mix(subject_hash(key->subject, key->a, key->b), key->process->index), key->stack);
    if (places->sums.n >= MOST_SUMS && !pt_map_find(&places->by_key, hash))
        return NULL;
    pt_u64 *slot = pt_map_at(&places->by_key, hash);
    if (!*slot) {
        struct pt_place_sum none = *key;
        none.s = none.main_s = none.worker_s = 0;
        pt_vec_push(&places->sums, none);
        *slot = places->sums.n;
    }
    struct pt_place_sum *sum = &places->sums.items[*slot - 1];
    const bool is_same =
        is_about(sum, key->subject, key->a, key->b) && sum->process == key->process && sum->stack == key->stack;
    return is_same ? sum : NULL;
}

static void add(struct pt_python_places *places, const struct pt_place_sum *one)
{
    struct pt_place_sum *sum = sum_of(places, one);
    if (!sum)
        return;
    sum->s += one->s;
    sum->main_s += one->main_s;
    sum->worker_s += one->worker_s;
    pt_u64 *heaviest = pt_map_at(&places->by_subject, subject_hash(sum->subject, sum->a, sum->b));
    if (!*heaviest || places->sums.items[*heaviest - 1].s < sum->s)
        *heaviest = (pt_u64)(sum - places->sums.items) + 1;
}

/* ---- what a call is about ---- */

static const char *path_of(const struct pt_event *event)
{
    const pt_u32 category = event->desc->category;
    pt_u32 path = 0;
    if (category == PT_CATEGORY_IO || category == PT_CATEGORY_META) /* { i32 result, u32 path, ... } */
        memcpy(&path, event->payload + offsetof(struct pt_ev_io_close, path), sizeof path);
    else if (event->desc->kind == PT_KIND_stdio_read || event->desc->kind == PT_KIND_stdio_write)
        path = pt_event_as(event, stdio_read)->path;
    return path ? pt_process_absolute_path(event->process, path, 0) : NULL;
}

static bool has_lock(const struct pt_event *event)
{
    return event->desc->kind == PT_KIND_lock_mutex || event->desc->kind == PT_KIND_lock_rwlock ||
           event->desc->kind == PT_KIND_lock_cond || event->desc->kind == PT_KIND_lock_sem ||
           event->desc->kind == PT_KIND_lock_barrier;
}

/* Conditions have their address first; of the others it stands behind the result. */
static pt_u64 lock_of(const struct pt_event *event)
{
    return event->desc->kind == PT_KIND_lock_cond ? event->words[0] : event->words[1];
}

void pt_python_places_call(struct pt_python_places *places, struct pt_profile *profile, const struct pt_event *event,
                           pt_u32 thread, enum pt_time_part part, bool is_critical)
{
    const struct pt_pending_place place = places->pending[thread];
    if (!place.stack)
        return;
    places->pending[thread] = (struct pt_pending_place){0};
    if (pt_is_of_multiprocessing(event->process))
        return;
    const double s = (double)place.stands_for_ns / 1e9;
    const bool is_main = pt_is_main_thread(event), is_worker = pt_is_worker(event->process);
    const pt_u32 stage = pt_profile_stage_of(profile, event->process);
    struct pt_place_sum sum = {.subject = PT_PLACE_OF_PART,
                               .a = stage,
                               .b = part,
                               .process = event->process,
                               .stack = place.stack,
                               .s = s,
                               .main_s = is_critical && !is_worker ? s : 0,
                               .worker_s = is_main && is_worker ? s : 0};
    add(places, &sum);
    sum.subject = PT_PLACE_OF_THREAD;
    sum.a = thread;
    add(places, &sum);
    if (part == PT_PART_child_wait) {
        sum.subject = PT_PLACE_OF_COMMANDS;
        sum.a = event->process->index;
        sum.b = 0;
        add(places, &sum);
    }
    const char *path = path_of(event);
    if (path) {
        sum.subject = PT_PLACE_OF_FILE;
        sum.a = stage;
        sum.b = (uintptr_t)path;
        add(places, &sum);
    }
    if (has_lock(event)) {
        sum.subject = PT_PLACE_OF_LOCK;
        sum.a = event->process->index;
        sum.b = lock_of(event);
        add(places, &sum);
    }
}

struct pt_value pt_python_place_of_stack(struct pt_profile *profile, const struct pt_process *process, pt_u32 stack)
{
    struct pt_stack_frame frames[PT_STACK_FRAMES];
    const pt_u32 n = pt_python_stack(process, stack, &profile->stacks.texts, frames);
    const struct pt_stack_frame *own = pt_python_own_frame(frames, n);
    return own ? pt_text(pt_python_place_text(&profile->metrics, own->file, own->line, own->function))
               : pt_unknown(no_place);
}

const struct pt_place_sum *pt_python_heaviest_place(const struct pt_python_places *places,
                                                    enum pt_place_subject subject, pt_u64 a, pt_u64 b)
{
    const pt_u64 *heaviest = pt_map_find(&places->by_subject, subject_hash(subject, a, b));
    const struct pt_place_sum *sum = heaviest ? &places->sums.items[*heaviest - 1] : NULL;
    return sum && is_about(sum, subject, a, b) ? sum : NULL;
}

struct pt_value pt_python_place_of(const struct pt_python_places *places, struct pt_profile *profile,
                                   enum pt_place_subject subject, pt_u64 a, pt_u64 b)
{
    const struct pt_place_sum *sum = pt_python_heaviest_place(places, subject, a, b);
    return sum ? pt_python_place_of_stack(profile, sum->process, sum->stack) : pt_unknown(no_place);
}
